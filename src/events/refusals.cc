#include "events/refusals.h"

#include <map>
#include <utility>

#include "base/result.h"
#include "mpi/call_meaning.h"
#include "refrain/calls.h"

namespace refrain::events {

bool is_about_mpis_own(const Signature& call) {
  const mpi::CallInfo* const info = mpi::find_call(call.call);
  if (info == nullptr || call.failed() || !mpi::meaning_of(call.call).does_any(mpi::kDoesLocal))
    return false;
  // Behind the first one there may be others that count on some ranks only.
  for (size_t i = 0; i < info->params.size() && i < call.args.size(); ++i) {
    const mpi::ParamInfo& param = info->params[i];
    const bool is_object = param.kind == mpi::ParamKind::kComm ||
                           param.kind == mpi::ParamKind::kWin ||
                           param.kind == mpi::ParamKind::kFile;
    if (is_object)
      return !param.is_array && param.direction == mpi::Direction::kIn &&
             call.args[i].value.is_null();
  }
  return false;
}

std::string why_never_made(CallId call) {
  if (mpi::find_call(call) == nullptr) return "this version does not know it";
  const mpi::CallMeaning& meaning = mpi::meaning_of(call);
  return meaning.reissue == mpi::Reissue::kRefused ? std::string(meaning.refused) : std::string();
}

std::vector<Refusal> refusals(const Trace& trace,
                              const std::function<std::string(CallId)>& why_not) {
  std::map<CallId, Refusal> found;
  std::map<CallId, std::string> known;
  for (GroupId group = 0; group < trace.group_count(); ++group) {
    const Rank rank = trace.group_rank(group, 0);
    const uint64_t ranks = trace.group_size(group);
    for (const Trace::Occurrence& seen : trace.occurrences(group)) {
      const CallId call = trace.call_of(seen.signature);
      const auto [why, is_new] = known.try_emplace(call);
      if (is_new) why->second = why_not(call);
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
  std::vector<Refusal> out;
  for (auto& [call, refusal] : found) out.push_back(std::move(refusal));
  return out;
}

Status check_clusters(const Trace& trace) {
  if (const auto clusters = trace.clustering(); clusters && !clusters->is_replayable)
    return base::unsupported("its calls cannot be made again: " + std::string(clusters->why_not),
                             trace.name());
  return base::Done{};
}

}  // namespace refrain::events
