// analysis::Iterations as text, JSON or CSV.
#pragma once

#include <string>

#include "analysis/iterations/iterations.h"
#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::report {

struct IterationsView {
  const Trace& trace;
  const analysis::Iterations& iterations;
  reader::Symbols& symbols;  // names the call sites
  bool behaviours = false;
  size_t top = 20;  // rows of each table of the text, and loops; 0: all
};

// Loops, what is remarkable in each of them, and its iterations, the slowest first; or behaviours,
// patterns of them, and a map of ranks and iterations.
std::string iterations_text(const IterationsView& view);
// {"loops": [{..., "rows": [...]}], "behaviours": {...} where asked for}.
std::string iterations_json(const IterationsView& view);
// A line for each iteration, with a header; or one for each segment of a behaviour.
std::string iterations_csv(const IterationsView& view);

// "MPI_Waitall heat.c:41 in exchange": what a loop or a behaviour is known by; may be empty.
std::string busiest_call_text(const Trace& trace, reader::Symbols& symbols, CallId call,
                              DefinitionId path);

}  // namespace refrain::report
