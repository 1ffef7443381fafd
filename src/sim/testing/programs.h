// Programs of ranks that never ran, with calls as they are recorded, for tests and benchmarks of
// the simulator. (The patterns of format/testing have made-up numbers of functions: only what
// merges them can read them.)
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "format/trace_data.h"

namespace refrain::sim::testing {

// A machine file: nodes with one range of sizes between them.
inline constexpr const char* kSwitchMachine = R"(version = 1
[distance.switch]
eager_limit = 65536
[[distance.switch.range]]
L = 1500
o_send = 300
o_recv = 300
g = 50
G = 0.1
)";

using Dims = std::vector<int64_t>;  // of a mesh of ranks, the last one fastest

// Like LU (NAS): in each step, `planes` waves of MPI_Recv and MPI_Send from the first corner of a
// mesh of two dimensions to the last, and as many back; then an allreduce. 8 calls a plane,
// fewer at borders: as in LU, a rank without a neighbour makes no call.
format::RankRecord lu(uint64_t rank, const Dims& dims, uint64_t steps, uint64_t planes);
// Exchanges with the neighbours of a mesh (MPI_Irecv, MPI_Isend, MPI_Waitall), an allreduce every
// tenth step. With `around`, borders have neighbours on the other side.
format::RankRecord halo(uint64_t rank, const Dims& dims, uint64_t steps, bool around,
                        int64_t count);
// Each rank sends to the next one and receives from the one before.
format::RankRecord ring(uint64_t rank, const Dims& dims, uint64_t steps, int64_t count);

// Merged as MPI_Finalize does it.
base::Result<format::TraceData> merged(uint64_t ranks,
                                       const std::function<format::RankRecord(uint64_t)>& program);

}  // namespace refrain::sim::testing
