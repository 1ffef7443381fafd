// What a number is worth in a trace in which a few ranks stand for all: which share of the ranks it
// stands for without having been theirs, and how wrong it can be.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "refrain/trace.h"

namespace refrain::report {

// What numbers are made of.
enum class MadeOf : uint8_t {
  kSums,   // calls, bytes and times over all ranks, and totals of ranks
  kCalls,  // calls and bytes by who talks to whom, or to which object
  kTimes,  // times of single calls, which members have of their leads
};

// Adds "stood_for", the share of ranks that another one stands for, and "error": of calls, bytes
// and times the relative error, 0 or "unknown"; of single ranks "radius" refers to that of the
// rank's cluster, which `refrain info` has. Nothing to other traces.
void add_stood_for(nlohmann::ordered_json& out, const Trace& trace, MadeOf what);

// One line with its end, for texts; empty for other traces.
std::string stood_for_line(const Trace& trace, MadeOf what);

// How many ranks another one stands for, and that as a note for comparisons; empty where none.
uint64_t ranks_stood_for(const Trace& trace);
std::string stood_for_note(const Trace& trace);

// Clusters of `info`: leads, members, sums and radii. Null for other traces.
nlohmann::ordered_json clustering_json(const Trace& trace);
// The same as lines.
std::string clustering_text(const Trace& trace);

}  // namespace refrain::report
