#include "sim/machine/machine.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace refrain::sim {
namespace {

constexpr const char* kPlain = R"(version = 1
[distance.switch]
eager_limit = 1000
[[distance.switch.range]]
L = 1000
o_send = 100
o_recv = 200
g = 50
G = 0.5
)";

std::string error_of(const std::string& text) {
  const auto machine = parse_machine(text, "m.toml");
  if (machine.ok()) return "";
  EXPECT_EQ(machine.error().code, base::ErrorCode::kUsage);
  return machine.error().to_string();
}

TEST(Machine, PlainOneIsForAllDistancesAndRanks) {
  const auto machine = parse_machine(kPlain, "m.toml");
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  for (const Protocol& protocol : machine->distances) {
    EXPECT_EQ(protocol.eager_limit, 1000U);
    EXPECT_EQ(protocol.acknowledged_above, UINT64_MAX);
    ASSERT_EQ(protocol.ranges.size(), 1U);
    EXPECT_EQ(protocol.range_of(1U << 30).latency.value, 1000);
    EXPECT_EQ(protocol.range_of(0).gap_per_byte.value, 0.5);
  }
  const auto places = machine->places_for(100);
  ASSERT_TRUE(places.ok());
  EXPECT_EQ((*places)[99], 99U);
}

TEST(Machine, IntervalsRangesAndDistances) {
  const auto machine = parse_machine(R"(version = 1
[distance.core]
eager_limit = 10
[[distance.core.range]]
up_to = 100
L = {value = 5, low = 4, high = 7}
o_send = 1
o_recv = 1
g = 1
G = 1
[[distance.core.range]]
L = 9
o_send = 1
o_recv = 1
g = 1
G = 1
[distance.switch]
eager_limit = 20
overlap = 0.25
[[distance.switch.range]]
L = 6
o_send = 1
o_recv = 1
g = 1
G = 1
[topology]
kind = "torus"
dimensions = [2, 3]
cores = 2
link_bandwidth = 1e9
[mapping]
order = "round_robin"
[[node_kind]]
first = 1
count = 2
speed = 2.0
[collectives]
preset = "openmpi"
new_communicator = "bcast"
[[collectives.rule]]
call = "MPI_Bcast"
algorithm = "chain"
up_to = 4096
segment = 512
[files]
open = 1000
bandwidth = 1e9
)",
                                     "m.toml");
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  const Protocol& core = machine->distances[0];
  EXPECT_EQ(core.range_of(100).latency.high, 7);
  EXPECT_EQ(core.range_of(101).latency.value, 9);
  EXPECT_EQ(machine->distances[1].eager_limit, 20U);
  EXPECT_EQ(machine->distances[2].overlap.value, 0.25);
  EXPECT_EQ(machine->places(), 12U);
  const auto places = machine->places_for(12);
  ASSERT_TRUE(places.ok());
  EXPECT_EQ((*places)[7], 1U);
  EXPECT_EQ(machine->speed_of(0), 1);
  EXPECT_EQ(machine->speed_of(2), 2);
  EXPECT_EQ(machine->speed_of(3), 1);
  EXPECT_EQ(machine->collectives.rules[0].segment, 512U);
  EXPECT_EQ(machine->collectives.new_communicator, "bcast");
  EXPECT_EQ(
      machine->places_for(13).error().to_string(),
      "m.toml:31:1: the machine has places for 12 ranks, and the run has 13: more nodes, cores "
      "or entries of the mapping are needed");
}

TEST(Machine, SomeEagerMessagesAreAcknowledged) {
  std::string text = kPlain;
  text.replace(text.find("eager_limit"), 0, "acknowledged_above = 200\n");
  const auto machine = parse_machine(text, "m.toml");
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  for (const auto& [bytes, is] : {std::pair(uint64_t{200}, false),
                                  {uint64_t{201}, true},
                                  {uint64_t{1000}, true},
                                  {uint64_t{1001}, false}})
    EXPECT_EQ(machine->distances[2].is_acknowledged(bytes), is) << bytes;
  text.replace(text.find("= 200"), 5, "= -1");
  EXPECT_NE(error_of(text).find("m.toml:3:22: 'acknowledged_above'"), std::string::npos)
      << error_of(text);
}

TEST(Machine, ARankToItself) {
  const std::string plain = kPlain;
  EXPECT_FALSE(parse_machine(plain, "m.toml")->self.has_value());
  const std::string self =
      "[self]\nunexpected_copy = 5\n[[self.range]]\nup_to = 100\no_send = 3\no_recv = 4\n";
  const std::string last = "[[self.range]]\no_send = 30\no_recv = 40\ncpu_per_byte = 0.5\n";
  const auto machine = parse_machine(plain + self + last, "m.toml");
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  ASSERT_TRUE(machine->self.has_value());
  EXPECT_EQ(machine->self->unexpected_copy.value, 5);
  EXPECT_EQ(machine->self->range_of(100).receive.value, 4);
  EXPECT_EQ(machine->self->range_of(101).cpu_per_byte.value, 0.5);
  EXPECT_EQ(machine->self->range_of(101).latency.value, 0);
  EXPECT_EQ(
      error_of(plain + self),
      "m.toml:10:1: the last range of a distance has no up_to: it is for all larger messages");
  EXPECT_EQ(error_of(plain + "[self]\nL = 1\n" + last),
            "m.toml:11:1: unknown key 'L'; docs/simulate.md lists the keys of a machine file");
  EXPECT_EQ(error_of(plain + "[self]\n"), "m.toml:10:1: 'range' is missing here");
  EXPECT_EQ(error_of(plain + "[[self.range]]\no_send = 3\n"),
            "m.toml:10:1: 'o_recv' is missing here");
}

TEST(Machine, ErrorsSayLineAndColumn) {
  const std::string plain = kPlain;
  EXPECT_EQ(
      error_of(plain + "[topolgy]\nkind = 1\n"),
      "m.toml:10:2: unknown key 'topolgy'; docs/simulate.md lists the keys of a machine file");
  EXPECT_EQ(error_of(plain + "\"a\\nb\" = 1\n"),
            "m.toml:10:1: unknown key 'a b'; docs/simulate.md lists the keys of a machine file");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = plain;
    text.replace(text.find(from), from.size(), to);
    return error_of(text);
  };
  EXPECT_EQ(with("L = 1000", "L = nan"),
            "m.toml:5:5: 'L' has to be a number from 0 and not above 1e+12");
  EXPECT_EQ(with("G = 0.5", "G = -0.5"),
            "m.toml:9:5: 'G' has to be a number from 0 and not above 1e+06");
  EXPECT_EQ(with("g = 50\n", ""), "m.toml:4:1: 'g' is missing here");
  EXPECT_EQ(with("eager_limit = 1000\n", ""), "m.toml:2:1: 'eager_limit' is missing here");
  EXPECT_EQ(with("L = 1000", "up_to = 5\nL = 1000"),
            "m.toml:2:1: the last range of a distance has no up_to: it is for all larger messages");
  EXPECT_EQ(with("L = 1000", "L = {value = 2, low = 3}"),
            "m.toml:5:5: 'L' has to be an interval with low <= value <= high");
  EXPECT_NE(with("version = 1", "version = 2").find("m.toml:1:11: 'version'"), std::string::npos);
  EXPECT_NE(with("version = 1", "version = ").find("m.toml:1:"), std::string::npos);
  const auto rule = [&](const std::string& call, const std::string& algorithm) {
    return error_of(plain + "[[collectives.rule]]\ncall = \"" + call + "\"\nalgorithm = \"" +
                    algorithm + "\"\n");
  };
  EXPECT_EQ(rule("MPI_Alltoall", "pairwise"), "");
  EXPECT_EQ(rule("MPI_Alltoall", "ring"),
            "m.toml:12:13: the algorithms of MPI_Alltoall are bruck, pairwise, linear, analytic");
  EXPECT_EQ(rule("MPI_Send", "ring"),
            "m.toml:11:8: 'call' has to be one of the blocking collectives of docs/simulate.md");
  EXPECT_EQ(error_of("version = 1\n"), "m.toml:1:1: 'distance' is missing here");
}

}  // namespace
}  // namespace refrain::sim
