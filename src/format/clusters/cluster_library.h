// What the recorder asks librefrain-cluster.so, which it loads in MPI_Finalize of a run with
// `record --cluster`: what calls say of their rank. The recorder writes calls and cannot read them;
// what reads them stays out of the program until then. Both talk through bytes.
//
//   recorder --dlopen, beside its own file--> librefrain-cluster.so: kClusterLibraryEntry
//
// The bytes are those of one build only: another one is refused. Threads: any, at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "format/clusters/cluster_sums.h"

namespace refrain::format {

enum class ClusterQuestion : uint32_t {
  // RankTimes, and behind them serialise() of the rank's record -> a ClusterMember. Both structs as
  // they lie in memory.
  kMember = 1,
  // The path of a trace with clusters by exact endpoints, whose members have their own calls
  // -> the bytes of the trace with clusters by lead endpoints: they have those of their leads.
  kLeadEndpoints = 2,
};

// A rank's totals, as the file of all ranks has them: it is not as exact as a rank's record, and
// other numbers would give other clusters than those of the file.
struct RankTimes {
  uint64_t in_mpi_ns = 0, outside_ns = 0;
};

// Takes the answer, or, of a question that failed, why it did: text.
using ClusterTake = void (*)(void* context, const char* bytes, size_t size);

// 0: answered. `build` is kClusterBuild of whoever asks. Never throws.
using ClusterLibraryEntry = int (*)(uint64_t build, uint32_t question, uint64_t rank,
                                    const char* bytes, size_t size, ClusterTake take,
                                    void* context);
inline constexpr const char* kClusterLibraryEntry = "refrain_cluster_library";
inline constexpr const char* kClusterLibraryFile = "librefrain-cluster.so";

// Changes with what the two have in common, as far as a number can say.
inline constexpr uint64_t kClusterBuild = uint64_t{1} << 32 | sizeof(ClusterMember);

}  // namespace refrain::format
