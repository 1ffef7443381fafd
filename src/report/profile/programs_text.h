// Several programs of one run (MPMD), and jobs that it started with MPI_Comm_spawn.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/profile/profile.h"
#include "format/merge/programs.h"
#include "refrain/trace.h"

namespace refrain::report {

// In the order of their first ranks; the only one of a run has all ranks of the trace.
std::vector<format::RankProgram> programs_of(const Trace& trace);

// "rank 0", "ranks 0-3, 8".
std::string ranks_phrase(const base::RunList& ranks);

// Lines "  program ..." and "  command ..." of `refrain info`, of every program; then of spawned
// jobs.
std::string programs_lines(const Trace& trace);
std::string spawned_lines(const Trace& trace);
// Lists `programs`, and `spawned` where there is any.
void add_programs(nlohmann::ordered_json& out, const Trace& trace);

// A table with a line for each program; empty where there is one only.
std::string programs_table(const Trace& trace, const analysis::Profile& profile);

}  // namespace refrain::report
