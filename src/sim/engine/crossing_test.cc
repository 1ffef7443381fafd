// Messages that meet one of their receiver's own.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/engine/testing/script.h"

namespace refrain::sim {
namespace {

using testing::copied;
using testing::kL;
using testing::kReceive;
using testing::kSend;
using testing::plain_machine;
using testing::receive;
using testing::Script;
using testing::ScriptCall;
using testing::ScriptTimes;
using testing::send;
using testing::simulate;
using testing::stream;

// Both ranks send and receive at once; one of them does it after the other's message has come; one
// way only.
TEST(Engine, MessagesThatCrossTakeLonger) {
  const Machine machine = plain_machine("", "crossing = 70\ncrossing_per_byte = 0.3");
  const auto exchange = [](uint32_t me, uint64_t bytes, uint64_t computes) {
    ScriptCall call;
    call.computes = computes;
    call.posts = {{false, 1 - me, 0, 0, bytes, false}, {true, me, 1 - me, 1, bytes, false}};
    call.waits = {0, 1};
    return call;
  };
  for (const uint64_t bytes : {uint64_t{100}, uint64_t{10000}}) {
    const bool waits = bytes > 1000;
    const Time begun =
        std::max(kSend + (waits ? 2 * kL : Time{0}), kSend + copied(bytes)) + kL + stream(bytes);
    const Time crossing = 70 + static_cast<Time>(bytes * 3 / 10);
    const Time received = kReceive + copied(bytes);
    Script script;
    script.ranks = {{exchange(0, bytes, 0)}, {exchange(1, bytes, 0)}};
    ScriptTimes times = simulate(machine, script);
    EXPECT_EQ(times.calls[0][0].end, begun + crossing + received) << bytes;
    EXPECT_EQ(times.calls[1][0].end, begun + crossing + received) << bytes;
    script.ranks = {{send(0, 1, bytes), receive(1)}, {receive(0), send(1, 0, bytes)}};
    times = simulate(machine, script);
    EXPECT_EQ(times.calls[0][1].end, 2 * (begun + received)) << bytes;
  }
  // On links of 1 byte in a ns, one for each direction.
  Machine linked = machine;
  linked.topology.link_bandwidth = {1e9, 1e9, 1e9};
  Script both;
  both.ranks = {{exchange(0, 100, 0)}, {exchange(1, 100, 0)}};
  EXPECT_EQ(simulate(linked, both, nullptr, true).calls[0][0].end,
            kSend + copied(100) + kL + 100 + 70 + 30 + kReceive + copied(100));
  // The message of rank 0 is there before that of rank 1 leaves.
  Script script;
  script.ranks = {{exchange(0, 100, 0)}, {exchange(1, 100, 5000)}};
  const Time one = kSend + copied(100) + kL + stream(100) + kReceive + copied(100);
  EXPECT_EQ(simulate(machine, script).calls[0][0].end, 5000 + one);
}

}  // namespace
}  // namespace refrain::sim
