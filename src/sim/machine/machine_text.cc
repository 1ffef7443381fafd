#include "sim/machine/machine_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace refrain::sim {
namespace {

std::string number(double value) {
  char out[40];
  std::snprintf(out, sizeof out, "%.9g", value);
  return out;
}

std::string parameter(const Parameter& p) {
  // Numbers are rounded: the interval still has to hold its value.
  return "{ value = " + number(p.value) + ", low = " + number(std::min(p.low, p.value)) +
         ", high = " + number(std::max(p.high, p.value)) + " }";
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' || c == 127 ? '?' : c;
  }
  return out + "\"";
}

std::string limit(const SizeRange& range) {
  return range.up_to == UINT64_MAX ? "" : "up_to = " + std::to_string(range.up_to) + "\n";
}

std::string copies(const Protocol& p) {
  return "unexpected_copy = " + parameter(p.unexpected_copy) +
         "\nunexpected_copy_per_byte = " + parameter(p.unexpected_copy_per_byte) + "\n";
}

std::string self_text(const Protocol& p) {
  std::string out = "\n[self]\n" + copies(p);
  for (const SizeRange& r : p.ranges)
    out += "[[self.range]]\n" + limit(r) + "o_send = " + parameter(r.send) +
           "\no_recv = " + parameter(r.receive) + "\ncpu_per_byte = " + parameter(r.cpu_per_byte) +
           "\n";
  return out;
}

}  // namespace

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

std::string machine_text(const Machine& machine, const std::vector<Distance>& distances,
                         const std::string& origin) {
  std::string out =
      "# " + one_line(origin) + "\n# Intervals of 95 %. docs/simulate.md describes each key.\n";
  out += "version = 1\nname = " + quoted(machine.name) + "\n";
  for (const Distance distance : distances) {
    const Protocol& p = machine.distances[static_cast<size_t>(distance)];
    const std::string table = "distance." + std::string(name_of(distance));
    out += "\n[" + table +
           "]\neager_limit = " + std::to_string(std::min<uint64_t>(p.eager_limit, INT64_MAX)) +
           (p.has_acknowledged() ? "\nacknowledged_above = " + std::to_string(p.acknowledged_above)
                                 : std::string()) +
           "\noverlap = " + parameter(p.overlap) + "\n" + copies(p);
    for (const SizeRange& r : p.ranges) {
      out += "[[" + table + ".range]]\n";
      out += limit(r) + "L = " + parameter(r.latency) + "\no_send = " + parameter(r.send) +
             "\no_recv = " + parameter(r.receive) + "\ng = " + parameter(r.gap) +
             "\nG = " + parameter(r.gap_per_byte) +
             "\ncpu_per_byte = " + parameter(r.cpu_per_byte) +
             "\nhandshake = " + parameter(r.handshake) + "\ncrossing = " + parameter(r.crossing) +
             "\ncrossing_per_byte = " + parameter(r.crossing_per_byte) + "\n";
    }
  }
  if (machine.self) out += self_text(*machine.self);
  return out;
}

}  // namespace refrain::sim
