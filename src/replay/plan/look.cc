#include "replay/plan/look.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/result.h"
#include "events/buffers/attached.h"
#include "events/pairing/pair_anew.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "mpi/call_name.h"
#include "refrain/calls.h"
#include "replay/plan/started.h"
#include "replay/plan/unbuffered.h"
#include "replay/prefix/prefix.h"
#include "text/escape.h"

namespace refrain::replay::plan {
namespace {

bool contains(const std::vector<CallId>& calls, CallId call) {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

// Why not; empty: it can be.
std::string why_not(CallId call, const LookOptions& options) {
  if (contains(options.skipped, call)) return "";
  const mpi::CallInfo* const info = mpi::find_call(call);
  if (std::string why = events::why_never_made(call); !why.empty() || info == nullptr) return why;
  if (info->group == mpi::CallGroup::kMark || !options.is_there) return "";
  const bool is_begin = call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread;
  const bool is_local = mpi::meaning_of(call).reissue == mpi::Reissue::kLocal;
  if (is_begin || is_local || options.is_there(call)) return "";
  return "this MPI has no such function";
}

// Memory of dynamic windows whose place in the recorded run is not in the trace.
void add_untold(const Trace& trace, Refusals& refusals) {
  Refusal untold;
  for (GroupId group = 0; group < trace.group_count(); ++group)
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      if (trace.call_of(seen.signature) != mpi::kMPI_Win_attach ||
          events::has_address(trace, group, seen.signature))
        continue;
      const Rank rank = trace.group_rank(group, 0);
      if (untold.calls == 0 || rank < untold.rank) {
        untold.rank = rank;
        untold.site = RankReader(trace, rank).signature(seen.signature).site;
      }
      untold.calls += seen.calls * trace.group_size(group);
    }
  if (untold.calls == 0) return;
  untold.call = mpi::kMPI_Win_attach;
  untold.why = "no call of MPI_Get_address tells where this memory was";
  const auto behind = std::find_if(refusals.begin(), refusals.end(),
                                   [&](const Refusal& other) { return other.call >= untold.call; });
  refusals.insert(behind, std::move(untold));
}

// Looked at by every rank of a replay, which all have to come to the same answer.
bool waits_for_ever(const Trace& trace) {
  UnbufferedOptions options;
  options.most_calls = 2000000;
  return run_unbuffered(trace, options).waiting_ranks > 0;
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

Status check_ends(const Trace& trace) { return events::check_clusters(trace); }

Status pair_messages(Trace& trace, std::FILE* said) {
  const auto clusters = trace.clustering();
  if (!clusters || !clusters->has_lead_endpoints) return base::Done{};
  events::PairedAnew counts;
  auto paired = events::paired_trace(trace, counts);
  if (!paired.ok()) return paired.error();
  if (counts.is_changed() && waits_for_ever(*paired))
    for (const auto how : {events::Pairing::kByPlace, events::Pairing::kByOrder}) {
      events::PairedAnew others;
      auto other = events::paired_trace(trace, others, how);
      if (!other.ok() || waits_for_ever(*other)) continue;
      paired = std::move(other);
      counts = std::move(others);
      break;
    }
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
  const bool is_early = ends_early(trace);
  // A trace that ends early is replayed up to there, which is before any call that ends the job.
  Refusals out = events::refusals(trace, [&](CallId call) {
    if (call == mpi::kMPI_Abort && is_early) return std::string();
    std::string why = why_not(call, options);
    const bool is_made = why.empty() && !contains(options.skipped, call);
    return is_made && starts_job(call) ? why_not_started(trace, options) : why;
  });
  if (!contains(options.skipped, mpi::kMPI_Win_attach)) add_untold(trace, out);
  return out;
}

std::string refusal_lines(const Trace& trace, const Refusals& refusals) {
  std::string out;
  for (const Refusal& refusal : refusals) {
    const std::string name = mpi::call_name(refusal.call);
    out += "refrain: " + text::printable(trace.name()) + ": cannot replay " + name + " (rank " +
           std::to_string(refusal.rank) + ", " + std::to_string(refusal.calls) +
           (refusal.calls == 1 ? " call" : " calls") + place_of(trace, refusal.site) +
           "): " + refusal.why + "; --skip " + name + " leaves it out\n";
  }
  return out;
}

}  // namespace refrain::replay::plan
