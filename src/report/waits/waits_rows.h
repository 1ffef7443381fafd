// What the formats of `refrain waits` share: names of call paths, and severities added up.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/waits/waits_report.h"

namespace refrain::report {

struct WaitPath {
  DefinitionId path = kNoDefinition;
  CallId call = 0;
  uint64_t ns = 0, count = 0;
  std::map<Rank, uint64_t> ranks;  // ns
};

struct WaitPattern {
  analysis::waits::Pattern pattern{};
  uint64_t ns = 0, own_ns = 0, count = 0;  // own: without the patterns that it contains
  std::vector<WaitPath> paths;             // by time, the longest first; with what it contains
  std::map<Rank, uint64_t> ranks;
};

// Whether the view shows it.
bool is_shown(const WaitsView& view, analysis::waits::Pattern pattern, Rank rank);
// Every pattern that the view shows, also those without waits, containers before what they contain.
std::vector<WaitPattern> wait_patterns(const WaitsView& view);

// What was counted, and what makes the numbers less sure.
nlohmann::ordered_json counts_json(const analysis::waits::Counts& counts);

// "MPI_Barrier", or "begin" where there is no call before.
std::string call_or_edge(CallId call);

}  // namespace refrain::report
