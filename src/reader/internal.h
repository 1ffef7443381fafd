// Access to a Trace for other folders, beyond its public functions: the tables of the file, and
// traces constructed in memory. Not installed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "format/time/spec.h"
#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::reader {

// Valid as long as any copy of the trace.
const format::TraceData& data_of(const Trace& trace);

// The trace that these tables are. Checks every index, as Trace::open() does.
base::Result<Trace> trace_of(format::TraceData data, std::string name, uint64_t file_bytes);

// How exact times of single calls are. Reads the index of the times. Without times:
// TimeMode::kStats.
base::Result<format::TimeSpec> time_spec_of(const Trace& trace);

}  // namespace refrain::reader
