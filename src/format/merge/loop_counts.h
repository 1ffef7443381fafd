// Ranks that differ only in the lengths of their loops. They are one group during the merge and in
// the file. In a TraceData they are consecutive groups, so that all ranks of a group have the same
// number of calls. The idea of a last pass over grammars that are nearly equal: Pilgrim, section
// 3.5.2.
#pragma once

#include <vector>

#include "format/merge/merge.h"
#include "format/trace_data.h"

namespace refrain::format {

// Groups of `trace` are split where their ranks have other grammars; locations[g] are those of
// group g, whose ranks and signatures are there already.
void split_by_grammar(const std::vector<std::vector<PartialLocation>>& locations, TraceData& trace);

// Grammars that differ in counts only stand in a row.
void order_grammars(TraceData& trace);

}  // namespace refrain::format
