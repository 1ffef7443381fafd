// The output of `refrain stats`: what the bytes of a trace file are used for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "refrain/trace.h"

namespace refrain::report {

struct SectionBytes {
  std::string name;
  uint64_t raw_bytes = 0;
  double stored_bytes = 0;  // a share where several sections were compressed together
};

struct TraceStats {
  uint64_t file_bytes = 0;
  uint64_t calls = 0;
  uint64_t signatures = 0, signature_bytes = 0;  // of their shapes
  uint64_t expressions = 0;                      // slot values as functions of the rank
  uint64_t tables = 0, table_values = 0, table_runs = 0;
  uint64_t grammars = 0, rules = 0, symbols = 0;
  uint64_t groups = 0, definitions = 0;
  // A list of all calls with their parameters would take at least this: each signature's bytes as
  // often as it occurs, a slot counted as one byte.
  double plain_list_bytes = 0;
  std::vector<SectionBytes> sections;
  // Of the time between calls: gaps_text.h. Empty: nothing is known of it.
  std::string gaps_json, gaps_text;
};

// Everything but the sections. O(size of the trace's tables).
TraceStats count_stats(const Trace& trace);

std::string stats_json(const TraceStats& stats);
std::string stats_text(const TraceStats& stats);

}  // namespace refrain::report
