// What the recorder did is no computation of the simulated program.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "reader/test_trace.h"
#include "sim/run/simulate.h"
#include "sim/testing/programs.h"

namespace refrain::sim {
namespace {

// Two ranks make 101 calls of 10 ns, 1000 ns apart.
Trace made(uint64_t own_ns) {
  reader::TraceBuilder builder(2);
  reader::ShapeWriter init("MPI_Init"), ask("MPI_Comm_size"), end("MPI_Finalize");
  std::vector<uint32_t> calls{builder.signature(init.none().none().none())};
  calls.resize(100, builder.signature(ask.none().object(builder.world()).integer(2)));
  calls.push_back(builder.signature(end.none()));
  builder.group({0, 1}, calls);
  std::vector<std::pair<uint64_t, uint64_t>> times;
  for (uint64_t i = 0; i < calls.size(); ++i) times.emplace_back(i * 1010, i * 1010 + 10);
  for (const size_t rank : {0, 1}) {
    builder.times(rank, times);
    builder.data().totals[rank].own_ns = own_ns;
  }
  return builder.open();
}

TEST(Simulate, LeavesOutTheSmallWorkOfTheRecorder) {
  const auto machine = parse_machine(testing::kSwitchMachine, "m.toml");
  ASSERT_TRUE(machine.ok());
  const auto plain = simulate(made(0), *machine, {});
  const auto recorded = simulate(made(101 * 600), *machine, {});
  ASSERT_TRUE(plain.ok() && recorded.ok());
  EXPECT_EQ(plain->predicted_ns, 100 * 1000 + 99 * 10);
  // Also what it did behind MPI_Init: it was between that and the next call.
  EXPECT_EQ(recorded->predicted_ns, plain->predicted_ns - 101 * 600);
}

}  // namespace
}  // namespace refrain::sim
