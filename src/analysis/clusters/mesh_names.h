// Clusters as places in a mesh of ranks: "interior of 8 x 8", "top edge of 8 x 8".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/clusters/clusters.h"
#include "refrain/trace.h"

namespace refrain::analysis::clusters {

// The mesh, of one to three dimensions, in which most clusters have such a name, ranks in the order
// of its rows: one that the program made (MPI_Cart_create), or one in which all clusters have a
// name. Empty where fewer than two clusters have one.
std::vector<uint64_t> mesh_of(const Trace& trace, const std::vector<format::Cluster>& clusters);

// Where the ranks are in that mesh, "top edge"; empty where they are no such place.
std::string mesh_place(const std::vector<uint64_t>& dims, const base::RunList& members);
// The same with the mesh, "top edge of 8 x 8".
std::string mesh_name(const std::vector<uint64_t>& dims, const base::RunList& members);
// "8 x 8"
std::string mesh_size(const std::vector<uint64_t>& dims);

}  // namespace refrain::analysis::clusters
