// librefrain-cluster.so, which reads calls for the recorder: format/clusters/cluster_library.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "format/clusters/cluster_library.h"

namespace refrain::tracer {

// Looked for in the folder of this recorder, and loaded on first use. Fails where it is not there,
// is of another build, or cannot answer.
base::Result<std::string> ask_cluster_library(format::ClusterQuestion question, uint64_t rank,
                                              std::string_view bytes);

}  // namespace refrain::tracer
