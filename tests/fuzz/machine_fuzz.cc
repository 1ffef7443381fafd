// Any bytes as a machine file. It is refused in one line that names the file, or it is a machine in
// which every parameter can be used.
#include <cmath>
#include <string>

#include "sim/machine/machine.h"
#include "support.h"

namespace refrain::fuzz {
namespace {

void check(const sim::Parameter& p) {
  require(std::isfinite(p.value) && p.value >= 0, "a parameter is a number from 0");
  require(p.low <= p.value && p.value <= p.high, "an interval has its value inside");
}

void check(const sim::Machine& machine) {
  for (const sim::Protocol& protocol : machine.distances) {
    require(!protocol.ranges.empty(), "a distance has ranges");
    require(protocol.ranges.back().up_to == UINT64_MAX, "the last range has no end");
    check(protocol.overlap);
    check(protocol.unexpected_copy);
    check(protocol.unexpected_copy_per_byte);
    for (const sim::SizeRange& range : protocol.ranges) {
      for (const sim::Parameter& p : {range.latency, range.send, range.receive, range.gap,
                                      range.gap_per_byte, range.cpu_per_byte})
        check(p);
    }
    (void)protocol.range_of(UINT64_MAX);
  }
  const uint64_t ranks = machine.places() < 1000 ? machine.places() : 1000;
  const auto places = machine.places_for(ranks);
  require(places.ok() && places->size() == ranks, "places are there");
  for (const uint32_t node : *places) (void)sim::switch_of(machine.topology, node);
}

}  // namespace
}  // namespace refrain::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto machine = refrain::sim::parse_machine(refrain::fuzz::view_of(data, size), "m.toml");
  if (machine.ok()) {
    refrain::fuzz::check(*machine);
  } else {
    const std::string text = machine.error().to_string();
    refrain::fuzz::require(text.rfind("m.toml:", 0) == 0, "an error has a place");
    refrain::fuzz::require(text.find('\n') == std::string::npos, "an error is one line");
  }
  return 0;
}
