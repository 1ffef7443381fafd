// analysis::waits::WaitStates as text, JSON or CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/waits/wait_states.h"
#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::report {

struct WaitsView {
  const Trace& trace;
  const analysis::waits::WaitStates& waits;
  reader::Symbols& symbols;  // names the call sites
  // What is shown of the waits; efficiencies, critical path and counts are those of the run.
  std::optional<analysis::waits::Pattern> pattern;  // and what it contains; nothing: all
  Rank rank = -1;                                   // -1: all
  size_t top = 20;                                  // rows of each table of the text; 0: all
  analysis::Window window;                          // that the waits are of
};

// Efficiencies, patterns, call paths as a tree, ranks, what the waits go back to, critical path.
std::string waits_text(const WaitsView& view);
// One object with `patterns` (each with `pattern`, `seconds`, `percent`, `call_paths`, `ranks`),
// `delays`, `critical_path`, `efficiency`, `ranks`, `counts`, and `explained` where asked for.
std::string waits_json(const WaitsView& view);
// A line for each pattern, rank and call path, with a header.
std::string waits_csv(const WaitsView& view);
// The calls behind a number, the longest waits first.
std::string explained_text(const WaitsView& view);

// Call paths whose text, as the tables show it, contains `text`.
std::vector<DefinitionId> paths_with(const Trace& trace, reader::Symbols& symbols,
                                     const std::string& text);

}  // namespace refrain::report
