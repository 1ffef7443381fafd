// Counts calls of MPI functions that are not in the table of calls.
#pragma once

#include <cstdint>
#include <vector>

#include "format/trace_data.h"

namespace refrain::tracer {

class Process;

// What the generated wrappers of this MPI forward, and functions that no wrapper is made for on
// purpose (spec/mpi/exceptions); in forwarded_table.cc.
extern const char* const kForwardedNames[];
extern const uint32_t kForwardedCount;
extern const char* const kLeftAloneNames[];
extern const uint32_t kLeftAloneCount;

// Why such calls are lost, as a reason in the trace.
inline constexpr const char* kUnknownFunction = "unknown_function";

// A call of one, by its index in kForwardedNames.
void count_forwarded(Process& process, uint32_t function);

// How often each was called, for the record.
void add_forwarded(std::vector<format::LossRecord>& losses, int rank);

// Says on stderr which functions the trace lacks for this reason, if there are any.
void name_unknown_functions(const Process& p, const std::vector<format::LossRecord>& losses);

}  // namespace refrain::tracer
