#include "report/profile/programs_text.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {
namespace {

constexpr size_t kMostRankRuns = 8;  // of a list of ranks

std::string line(std::string_view key, const std::string& value) {
  return value.empty() ? "" : fmt::format("  {:<12} {}\n", key, text::printable(value));
}

std::string processes_text(const format::SpawnedJob& job) {
  return fmt::format("{} process{} of {}, started by rank {}", text::count_text(job.processes),
                     job.processes == 1 ? "" : "es", job.command, job.rank);
}

// Ranks that are in a trace, so that none of an odd text is asked for.
analysis::RankRow totals_of(const analysis::Profile& profile, const base::RunList& ranks) {
  analysis::RankRow out;
  for (const analysis::RankRow& row : profile.ranks) {
    if (ranks.find(row.rank) < 0) continue;
    out.calls += row.calls;
    out.in_mpi_ns += row.in_mpi_ns;
    out.outside_ns += row.outside_ns;
    out.bytes += row.bytes;
  }
  return out;
}

}  // namespace

std::vector<format::RankProgram> programs_of(const Trace& trace) {
  const RunInfo& info = trace.info();
  auto programs = format::parse_programs(info.text_of(format::kProgramsText));
  if (!programs.empty()) return programs;
  format::RankProgram only;
  only.program = info.text_of("program");
  only.command = info.text_of("command");
  if (info.rank_count > 0)
    only.ranks.append_run(0, info.rank_count > 1 ? 1 : 0, static_cast<uint64_t>(info.rank_count));
  programs.push_back(std::move(only));
  return programs;
}

std::string ranks_phrase(const base::RunList& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + text::rank_list_text(ranks, kMostRankRuns);
}

std::string programs_lines(const Trace& trace) {
  const auto programs = programs_of(trace);
  if (programs.size() == 1)
    return line("program", programs[0].program) + line("command", programs[0].command);
  std::string out;
  for (const format::RankProgram& p : programs)
    out += line("program", p.program + " on " + ranks_phrase(p.ranks)) + line("command", p.command);
  return out;
}

std::string spawned_lines(const Trace& trace) {
  std::string out;
  for (const format::SpawnedJob& job :
       format::parse_spawned(trace.info().text_of(format::kSpawnedText)))
    out += line("spawned",
                (job.trace.empty() ? "no trace known: " : job.trace + ": ") + processes_text(job));
  return out;
}

void add_programs(nlohmann::ordered_json& out, const Trace& trace) {
  auto programs = nlohmann::ordered_json::array();
  for (const format::RankProgram& p : programs_of(trace))
    programs.push_back({{"program", p.program},
                        {"command", p.command},
                        {"ranks", text::rank_list_text(p.ranks, SIZE_MAX)},
                        {"rank_count", p.ranks.size()}});
  out["programs"] = std::move(programs);
  const auto jobs = format::parse_spawned(trace.info().text_of(format::kSpawnedText));
  if (jobs.empty()) return;
  auto spawned = nlohmann::ordered_json::array();
  for (const format::SpawnedJob& job : jobs)
    spawned.push_back({{"trace", job.trace.empty() ? nlohmann::ordered_json()
                                                   : nlohmann::ordered_json(job.trace)},
                       {"processes", job.processes},
                       {"command", job.command},
                       {"rank", job.rank}});
  out["spawned"] = std::move(spawned);
}

std::string programs_table(const Trace& trace, const analysis::Profile& profile) {
  const auto programs = programs_of(trace);
  if (programs.size() < 2) return "";
  text::Table table({"<program", "<ranks", "calls", "in MPI", "outside MPI", "MPI", "bytes"});
  for (const format::RankProgram& p : programs) {
    const analysis::RankRow t = totals_of(profile, p.ranks);
    const auto in = static_cast<double>(t.in_mpi_ns), rest = static_cast<double>(t.outside_ns);
    table.add({text::printable(base::base_name(p.program)),
               text::rank_list_text(p.ranks, kMostRankRuns), text::count_text(t.calls),
               text::duration_text(t.in_mpi_ns), text::duration_text(t.outside_ns),
               text::percent_text(in, in + rest), text::bytes_text(t.bytes)});
  }
  return "\nPrograms\n" + table.text();
}

}  // namespace refrain::report
