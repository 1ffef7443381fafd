#include "replay/plan/look.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/result.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "refrain/calls.h"
#include "text/escape.h"

namespace refrain::replay::plan {
namespace {

// Why not; empty: it can be.
std::string why_not(CallId call, const LookOptions& options) {
  if (std::find(options.skipped.begin(), options.skipped.end(), call) != options.skipped.end())
    return "";
  const mpi::CallInfo* const info = mpi::find_call(call);
  if (std::string why = events::why_never_made(call); !why.empty() || info == nullptr) return why;
  if (info->group == mpi::CallGroup::kMark || !options.is_there) return "";
  const bool is_begin = call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread;
  const bool is_local = mpi::meaning_of(call).reissue == mpi::Reissue::kLocal;
  if (is_begin || is_local || options.is_there(call)) return "";
  return "this MPI has no such function";
}

// Calls of one thread wait for those of another in ways that no trace tells.
std::optional<Refusal> threads_of(const Trace& trace) {
  Refusal out;
  size_t most = 1;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    const std::vector<Location> threads = trace.group_locations(group);
    if (threads.size() <= 1) continue;
    if (out.calls == 0 || trace.group_rank(group, 0) < out.rank)
      out.rank = trace.group_rank(group, 0);
    most = std::max(most, threads.size());
    for (size_t i = 1; i < threads.size(); ++i)
      out.calls += threads[i].calls * trace.group_size(group);
  }
  if (most == 1) return std::nullopt;
  out.why = "a rank has calls of " + std::to_string(most) +
            " threads, and only one thread of a rank can be replayed";
  return out;
}

}  // namespace

std::string place_of(const Trace& trace, DefinitionId site) {
  const auto found = trace.site(site);
  if (!found || found->module.empty()) return "";
  const std::string module =
      text::printable(found->module.substr(found->module.find_last_of('/') + 1));
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%llx", static_cast<unsigned long long>(found->offset));
  return ", at " + module + offset;
}

Status check_ends(const Trace& trace) {
  if (auto good = events::check_clusters(trace); !good.ok()) return good;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    bool begins = false, ends = false;
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      const CallId call = trace.call_of(seen.signature);
      begins = begins || call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread;
      ends = ends || call == mpi::kMPI_Finalize;
    }
    if (begins && !ends)
      return base::Error{base::ErrorCode::kIncomplete,
                         "the calls of rank " + std::to_string(trace.group_rank(group, 0)) +
                             " end before MPI_Finalize: such a trace is not replayed",
                         trace.name()};
  }
  return base::Done{};
}

Refusals look(const Trace& trace, const LookOptions& options) {
  Refusals out;
  if (std::optional<Refusal> threads = threads_of(trace)) out.push_back(std::move(*threads));
  for (Refusal& refusal :
       events::refusals(trace, [&](CallId call) { return why_not(call, options); }))
    out.push_back(std::move(refusal));
  return out;
}

std::string refusal_lines(const Trace& trace, const Refusals& refusals) {
  std::string out;
  for (const Refusal& refusal : refusals) {
    const mpi::CallInfo* const info = mpi::find_call(refusal.call);
    const std::string name = refusal.call == 0 ? "threads"
                             : info != nullptr ? std::string(info->name)
                                               : "call#" + std::to_string(refusal.call);
    out += "refrain: " + trace.name() + ": cannot replay " + name + " (rank " +
           std::to_string(refusal.rank) + ", " + std::to_string(refusal.calls) +
           (refusal.calls == 1 ? " call" : " calls") + place_of(trace, refusal.site) +
           "): " + refusal.why +
           (refusal.call == 0 ? "\n" : "; --skip " + name + " leaves it out\n");
  }
  return out;
}

}  // namespace refrain::replay::plan
