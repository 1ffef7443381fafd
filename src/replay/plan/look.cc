#include "replay/plan/look.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "base/result.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "refrain/calls.h"
#include "replay/prefix/prefix.h"

namespace refrain::replay::plan {
namespace {

// Why not; empty: it can be.
std::string why_not(CallId call, const LookOptions& options) {
  const mpi::CallMeaning& meaning = mpi::meaning_of(call);
  if (meaning.reissue == mpi::Reissue::kRefused) return std::string(meaning.refused);
  const mpi::CallInfo* const info = mpi::find_call(call);
  if (info == nullptr || info->group == mpi::CallGroup::kMark || !options.is_there) return "";
  const bool is_begin = call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread;
  if (is_begin || meaning.reissue == mpi::Reissue::kLocal || options.is_there(call)) return "";
  return "this MPI has no such function";
}

std::string place_of(const Trace& trace, DefinitionId site) {
  const auto found = trace.site(site);
  if (!found || found->module.empty()) return "";
  const std::string module(found->module.substr(found->module.find_last_of('/') + 1));
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%llx", static_cast<unsigned long long>(found->offset));
  return ", at " + module + offset;
}

}  // namespace

Status check_ends(const Trace& trace) {
  if (const auto clusters = trace.clustering(); clusters && !clusters->is_replayable)
    return base::unsupported("its calls cannot be made again: " + std::string(clusters->why_not),
                             trace.name());
  return base::Done{};
}

Refusals look(const Trace& trace, const LookOptions& options) {
  std::map<CallId, Refusal> found;
  std::map<CallId, std::string> known;
  const bool is_early = ends_early(trace);
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    const Rank rank = trace.group_rank(group, 0);
    const uint64_t ranks = trace.group_size(group);
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      const CallId call = trace.call_of(seen.signature);
      if (std::find(options.skipped.begin(), options.skipped.end(), call) != options.skipped.end())
        continue;
      if (call == mpi::kMPI_Abort && is_early) continue;  // the replay ends before it
      const auto [why, is_new] = known.try_emplace(call);
      if (is_new) why->second = why_not(call, options);
      if (why->second.empty()) continue;
      Refusal& refusal = found[call];
      if (refusal.calls == 0 || rank < refusal.rank) {
        refusal.rank = rank;
        refusal.site = RankReader(trace, rank).signature(seen.signature).site;
      }
      refusal.call = call;
      refusal.calls += seen.calls * ranks;
      refusal.why = why->second;
    }
  }
  Refusals out;
  for (auto& [call, refusal] : found) out.push_back(std::move(refusal));
  return out;
}

std::string refusal_lines(const Trace& trace, const Refusals& refusals) {
  std::string out;
  for (const Refusal& refusal : refusals) {
    const mpi::CallInfo* const info = mpi::find_call(refusal.call);
    const std::string name =
        info != nullptr ? std::string(info->name) : "call#" + std::to_string(refusal.call);
    out += "refrain: " + trace.name() + ": cannot replay " + name + " (rank " +
           std::to_string(refusal.rank) + ", " + std::to_string(refusal.calls) +
           (refusal.calls == 1 ? " call" : " calls") + place_of(trace, refusal.site) +
           "): " + refusal.why + "; --skip " + name + " leaves it out\n";
  }
  return out;
}

}  // namespace refrain::replay::plan
