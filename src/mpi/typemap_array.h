// Parts of multi-dimensional arrays: MPI_Type_create_subarray and MPI_Type_create_darray.
#pragma once

#include <cstdint>
#include <span>

#include "mpi/typemap_node.h"

namespace refrain::mpi::typemap {

// `numbers` as MPI_Type_get_contents or MPI_Type_get_contents_c gives them, which differ in their
// order. Where both readings make sense, that which gives `size` bytes is taken. Orders and
// distributions are numbers of the MPI that was recorded: MPICH, Open MPI and the ABI of MPI 5
// have different ones, which tells them apart. False: no array.
bool make_subarray(std::span<const int64_t> numbers, const NodePtr& element, int64_t extent,
                   int64_t size, NodePtr& out);
bool make_darray(std::span<const int64_t> numbers, const NodePtr& element, int64_t extent,
                 int64_t size, NodePtr& out);

}  // namespace refrain::mpi::typemap
