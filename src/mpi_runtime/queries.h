// Queries about objects of the program to the MPI library.
//
// Laws: called only where MPI calls count as the recorder's own. The result is 0, false or empty if
// MPI does not answer.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// ---- the library ----
// MPI_Comm_spawn has started this world.
bool has_parent();
// The class of an error code.
int error_class(int rc);

// ---- communicators ----
int64_t local_size(MPI_Comm comm);
int64_t graph_nodes(MPI_Comm comm);
int64_t graph_edges(MPI_Comm comm);
int64_t graph_degree(MPI_Comm comm, int rank);

// ---- datatypes ----
// Whether the library that runs tells how a datatype was made in large counts.
bool has_large_contents();
int64_t envelope_integers(MPI_Datatype type);
int64_t envelope_addresses(MPI_Datatype type);
int64_t envelope_datatypes(MPI_Datatype type);
int64_t envelope_large_counts(MPI_Datatype type);
std::optional<uint64_t> size_of_type(MPI_Datatype type);

// ---- messages ----
std::optional<uint64_t> received_bytes(const MPI_Status& status);
// Of a request that is complete: in what MPI_Iprobe and MPI_Improbe find, MPICH 4.0.2 leaves it
// undefined.
bool is_cancelled(const MPI_Status& status);

}  // namespace refrain::mpi_runtime
