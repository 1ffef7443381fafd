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

// The name of the ranks in that mesh; empty where they are no such place.
std::string mesh_name(const std::vector<uint64_t>& dims, const base::RunList& members);

}  // namespace refrain::analysis::clusters
