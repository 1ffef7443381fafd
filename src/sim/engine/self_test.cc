// Messages of a rank to itself.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "sim/engine/testing/random_script.h"
#include "sim/engine/testing/script.h"

namespace refrain::sim {
namespace {

using testing::copied;
using testing::kL;
using testing::kReceive;
using testing::kSend;
using testing::plain_machine;
using testing::RandomScript;
using testing::receive;
using testing::Script;
using testing::ScriptCall;
using testing::ScriptTimes;
using testing::send;
using testing::simulate;
using testing::stream;

// Up to 1000 bytes 40 and 30 ns, above 90 and 80; 0.25 ns a byte, each side.
Machine with_self(Machine machine) {
  Protocol& self = machine.self.emplace();
  for (const auto& [up_to, send, receive] :
       {std::tuple(uint64_t{1000}, 40.0, 30.0), {UINT64_MAX, 90.0, 80.0}}) {
    SizeRange& range = self.ranges.emplace_back();
    range.up_to = up_to;
    range.send.value = send;
    range.receive.value = receive;
    range.cpu_per_byte.value = 0.25;
  }
  self.unexpected_copy.value = 7;
  self.unexpected_copy_per_byte.value = 0.5;
  return machine;
}

// Receive and send of a message to itself, in this order or the other one.
ScriptCall to_itself(uint64_t bytes, bool is_late = false, bool is_synchronous = false) {
  ScriptCall call;
  call.posts = {{false, 9, 0, 0, bytes}, {true, 9, 0, 1, bytes, is_synchronous}};
  if (is_late) std::swap(call.posts[0], call.posts[1]);
  call.waits = {0, 1};
  return call;
}

TEST(Self, TheProcessorCopies) {
  for (const bool has_contention : {false, true}) {
    Machine machine = with_self(plain_machine());
    if (has_contention) machine.topology.link_bandwidth = {1e9, 1e9, 1e9};
    for (const uint64_t bytes : {uint64_t{100}, uint64_t{40000}}) {
      const Time copies = static_cast<Time>(bytes) / 4;
      const Time both = (bytes > 1000 ? 90 + 80 : 40 + 30) + 2 * copies;
      Script script;
      script.ranks = {{to_itself(bytes)}};
      EXPECT_EQ(simulate(machine, script, nullptr, has_contention).calls[0][0].end, both) << bytes;
      // A synchronous one waits for its receive, which is there.
      script.ranks = {{to_itself(bytes, false, true)}};
      EXPECT_EQ(simulate(machine, script, nullptr, has_contention).calls[0][0].end, both) << bytes;
    }
    // Posted after it has come, which needs time.
    Script script;
    ScriptCall late;
    late.computes = 1;
    late.posts = {{false, 9, 0, 0, 100}};
    late.waits = {0};
    script.ranks = {{send(9, 0, 100), late}};
    EXPECT_EQ(simulate(machine, script, nullptr, has_contention).calls[0][1].end,
              40 + 25 + 1 + 30 + 25 + 7 + 50);
  }
}

// Two large messages keep the interface for longer than the copy takes, and it does not hold up a
// message that comes.
TEST(Self, NoInterfaceIsNeeded) {
  const Machine machine = with_self(plain_machine("", "crossing = 70"));
  ScriptCall call;
  call.posts = {{true, 0, 1, 0, 1000}, {true, 1, 1, 1, 1000}};
  Script script;
  script.ranks = {{call, to_itself(100)}, {receive(0), receive(1)}};
  const Time sent = 2 * (kSend + copied(1000));
  EXPECT_EQ(simulate(machine, script).calls[0][1].end, sent + 40 + 30 + 50);
  // Without the table it is a message like others.
  Machine plain = machine;
  plain.self.reset();
  EXPECT_GT(simulate(plain, script).calls[0][1].end, sent + kL);
  // The message of rank 1 meets none that is on its way.
  script.ranks = {{to_itself(1000), receive(0)}, {send(0, 0, 100)}};
  EXPECT_EQ(simulate(machine, script).calls[0][1].end,
            kSend + copied(100) + kL + stream(100) + kReceive + copied(100));
}

TEST(Self, RandomProgramsAreAsInTheReference) {
  const Machine machines[] = {
      with_self(plain_machine()), with_self(plain_machine("overlap = 0.375")),
      with_self(plain_machine("", "crossing = 70\ncrossing_per_byte = 0.3")),
      with_self(plain_machine("acknowledged_above = 63", "handshake = 300"))};
  int compared = 0;
  for (uint32_t seed = 0; seed < 800; ++seed) {
    const Machine& machine = machines[seed % std::size(machines)];
    const RandomScript random(seed, 2 + seed % 5, true);
    bool has_tie = false;
    const ScriptTimes wanted = reference(machine, random.script, has_tie);
    ASSERT_FALSE(wanted.is_stuck) << seed;
    if (has_tie) continue;
    ++compared;
    const ScriptTimes got = simulate(machine, random.script);
    ASSERT_FALSE(got.is_stuck) << seed;
    ASSERT_EQ(got.calls, wanted.calls) << seed;
  }
  EXPECT_GT(compared, 150);
}

}  // namespace
}  // namespace refrain::sim
