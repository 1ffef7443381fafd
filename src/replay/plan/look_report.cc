#include "replay/plan/look_report.h"

#include <nlohmann/json.hpp>

namespace refrain::replay::plan {

std::string look_text(const Trace& trace, const Refusals& refusals) {
  if (!refusals.empty()) return refusal_lines(trace, refusals);
  return trace.name() + ": " + std::to_string(trace.call_count()) + " calls of " +
         std::to_string(trace.rank_count()) + " ranks can be replayed\n";
}

std::string look_json(const Trace& trace, const Refusals& refusals) {
  nlohmann::ordered_json out;
  out["trace"] = trace.name();
  out["ranks"] = trace.rank_count();
  out["calls"] = trace.call_count();
  out["replayable"] = refusals.empty();
  auto& list = out["refused"] = nlohmann::ordered_json::array();
  for (const Refusal& refusal : refusals) {
    const mpi::CallInfo* const info = mpi::find_call(refusal.call);
    list.push_back({{"function", info != nullptr ? std::string(info->name) : ""},
                    {"rank", refusal.rank},
                    {"calls", refusal.calls},
                    {"site", trace.object_name(refusal.site)},
                    {"why", refusal.why}});
  }
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace refrain::replay::plan
