// Conclusions on waiting from statistics, for traces without times of single calls.
#pragma once

#include <string>

#include "analysis/profile/profile.h"
#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::report {

// Which option gives times; how the time in and outside of MPI spreads over ranks, who is probably
// waited for, and the call paths with most time in MPI (`top` of them; 0: all).
std::string untimed_text(const Trace& trace, const analysis::Profile& profile,
                         reader::Symbols& symbols, size_t top);
// The same as one object: `times` false, `record_with`, `mpi_share`, `load_balance`, `busiest`,
// `ranks`, `call_paths`.
std::string untimed_json(const Trace& trace, const analysis::Profile& profile,
                         reader::Symbols& symbols);

}  // namespace refrain::report
