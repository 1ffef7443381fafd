// Access to a Trace for other folders, beyond its public functions: the tables of the file, and
// traces constructed in memory. Not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "format/time/data.h"
#include "format/time/spec.h"
#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::reader {

// Valid as long as any copy of the trace.
const format::TraceData& data_of(const Trace& trace);

// The trace that these tables are. Checks every index, as Trace::open() does.
base::Result<Trace> trace_of(format::TraceData data, std::string name, uint64_t file_bytes);

// Takes some locations' times out of a trace: the index, and bytes of blocks, which stand in the
// order of its chunks, with representatives behind them. Fails where the trace has no times.
struct TimeParts {
  format::TimeIndex index;
  std::function<base::Result<std::string>(uint64_t offset, uint64_t count)> read;
};
base::Result<TimeParts> time_parts_of(const Trace& trace);

// The recorder's pieces of work between the calls of a location: those of the rank whose times it
// has. Null where none of it is known.
const format::OwnWork* own_work_of(const Trace& trace, Rank rank, uint32_t thread);
// The mean for a call of the rank, ns, of the recorder's own work that is no piece.
double small_work_a_call(const Trace& trace, Rank rank);

// How exact times of single calls are. Reads the index of the times. Without times:
// TimeMode::kStats.
base::Result<format::TimeSpec> time_spec_of(const Trace& trace);

}  // namespace refrain::reader
