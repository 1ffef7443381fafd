// The data of a Trace: the tables, and what is computed from them on opening.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/runs.h"
#include "format/trace_data.h"
#include "grammar/fold.h"
#include "reader/definition_table.h"
#include "reader/time_store.h"
#include "refrain/trace.h"

namespace refrain::reader {

struct TraceImpl {
  static constexpr uint32_t kNoGroup = UINT32_MAX;

  std::string name;
  format::TraceData data;
  RunInfo info;
  DefinitionTable definitions;                                   // looks into data
  base::RunList world;                                           // 0 .. ranks - 1
  std::vector<uint32_t> group_of_rank;                           // kNoGroup where a rank is missing
  std::vector<std::shared_ptr<const grammar::Lengths>> lengths;  // by grammar
  std::vector<CallId> call_of_signature;
  uint64_t call_count = 0;
  std::vector<uint32_t> time_rank;     // whose times a rank has; empty: its own
  std::vector<uint32_t> lead_of_rank;  // empty: no clusters
  std::shared_ptr<TimeStore> times;    // nullptr: the trace has none

  const format::Group* group(Rank rank) const;
};

// The way from a Trace to what it holds, and back.
struct Internal {
  static const TraceImpl& of(const Trace& trace) { return *trace.impl_; }
  static Trace trace(std::shared_ptr<const TraceImpl> impl) { return Trace(std::move(impl)); }
};

}  // namespace refrain::reader
