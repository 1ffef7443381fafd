#include "replay/plan/look.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "base/result.h"
#include "events/pairing/pair_anew.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "refrain/calls.h"

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

Status check_ends(const Trace& trace) {
  if (const auto clusters = trace.clustering(); clusters && !clusters->is_replayable)
    return base::unsupported("its calls cannot be made again: " + std::string(clusters->why_not),
                             trace.name());
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

Status pair_messages(Trace& trace, std::FILE* said) {
  const auto clusters = trace.clustering();
  if (!clusters || !clusters->has_lead_endpoints) return base::Done{};
  events::PairedAnew counts;
  auto paired = events::paired_trace(trace, counts);
  if (!paired.ok()) return paired.error();
  const std::string name = trace.name();
  trace = std::move(*paired);
  if (said == nullptr || !counts.is_changed()) return base::Done{};
  const auto n = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  std::fprintf(said,
               "refrain: %s: of the sends and receives that members have from their leads, %llu "
               "have another partner, %llu none, and %llu room for more\n",
               name.c_str(), n(counts.paired), n(counts.left_out), n(counts.widened));
  return base::Done{};
}

Refusals look(const Trace& trace, const LookOptions& options) {
  std::map<CallId, Refusal> found;
  std::map<CallId, std::string> known;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    const Rank rank = trace.group_rank(group, 0);
    const uint64_t ranks = trace.group_size(group);
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      const CallId call = trace.call_of(seen.signature);
      if (std::find(options.skipped.begin(), options.skipped.end(), call) != options.skipped.end())
        continue;
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
  if (std::optional<Refusal> threads = threads_of(trace)) out.push_back(std::move(*threads));
  for (auto& [call, refusal] : found) out.push_back(std::move(refusal));
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
