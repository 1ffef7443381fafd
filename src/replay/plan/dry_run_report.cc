// What a dry run found, as text and as JSON.

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "mpi/call_meaning.h"
#include "mpi/call_name.h"
#include "mpi/call_table.h"
#include "replay/plan/dry_run.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::replay::plan {
namespace {

using Json = nlohmann::ordered_json;

Json place_json(const Trace& trace, const CallPlace& place) {
  return {{"function", mpi::call_name(place.call)},
          {"rank", place.rank},
          {"seq", place.seq},
          {"site", trace.object_name(place.site)}};
}

Json order_json(const Trace& trace, const Unbuffered& order) {
  if (!order.why_not.empty()) return {{"not_looked_at", order.why_not}};
  Json out = {{"waiting_ranks", order.waiting_ranks},
              {"is_guess", order.is_guess},
              {"buffered_messages", order.sends},
              {"longest_buffered_bytes", order.longest_bytes},
              {"buffered_bytes", Json::object()},
              {"collectives_that_must_not_wait", order.collectives},
              {"disagreeing_collectives", order.disagreements},
              {"sends_without_receive", order.sends_left},
              {"receives_without_send", order.receives_left}};
  for (size_t rank = 0; rank < order.bytes.size(); ++rank)
    if (order.bytes[rank] > 0) out["buffered_bytes"][std::to_string(rank)] = order.bytes[rank];
  out["waiting"] = Json::array();
  for (const CallPlace& place : order.waiting) out["waiting"].push_back(place_json(trace, place));
  if (order.first) out["first_buffered"] = place_json(trace, *order.first);
  if (order.disagreements > 0)
    out["first_disagreement"] = {place_json(trace, order.one), place_json(trace, order.other)};
  return out;
}

Json messages_json(const Trace& trace, const MessageCounts& messages) {
  if (!messages.why_not.empty()) return {{"not_looked_at", messages.why_not}};
  Json out = {{"channels", messages.channels},
              {"sends_without_receive", messages.sends_left},
              {"receives_without_send", messages.receives_left},
              {"uneven", Json::array()}};
  for (const UnevenChannel& one : messages.uneven)
    out["uneven"].push_back({{"source", one.source},
                             {"dest", one.dest},
                             {"tag", one.tag},
                             {"sends", one.sent},
                             {"receives", one.received},
                             {"function", mpi::call_name(one.call)},
                             {"site", trace.object_name(one.site)}});
  return out;
}

Json refused_json(const Trace& trace, const DryRun& run) {
  Json out = Json::array();
  for (const Refusal& refusal : run.refused)
    out.push_back({{"function", mpi::call_name(refusal.call)},
                   {"rank", refusal.rank},
                   {"calls", refusal.calls},
                   {"site", trace.object_name(refusal.site)},
                   {"why", refusal.why}});
  if (!run.never_ends()) return out;
  for (const CallPlace& place : run.order.waiting)
    out.push_back({{"function", mpi::call_name(place.call)},
                   {"rank", place.rank},
                   {"calls", 1},
                   {"site", trace.object_name(place.site)},
                   {"why", "it waits for ever for calls that are not in the trace"}});
  return out;
}

}  // namespace

std::string dry_run_json(const Trace& trace, const DryRun& run) {
  Json out;
  out["trace"] = trace.name();
  out["ranks"] = trace.rank_count();
  out["calls"] = trace.call_count();
  out["replayable"] = run.can_be_replayed();
  out["refused"] = refused_json(trace, run);
  out["warnings"] = warnings(trace, run);
  out["without_buffering"] = order_json(trace, run.order);
  out["messages"] = messages_json(trace, run.messages);
  out["memory"] = {{"most_bytes", run.memory.most_bytes},
                   {"most_rank", run.memory.most_rank},
                   {"all_bytes", run.memory.all_bytes},
                   {"of_some_ranks", run.memory.is_of_some}};
  out["files"] = Json::array();
  for (const FileNeed& file : run.files)
    out["files"].push_back({{"recorded", file.path}, {"bytes", file.bytes}});
  out["functions"] = Json::array();
  for (const FunctionNeed& one : run.functions)
    out["functions"].push_back(
        {{"function", mpi::call_name(one.call)},
         {"calls", one.calls},
         {"reissue", std::string(to_string(mpi::meaning_of(one.call).reissue))}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string dry_run_text(const Trace& trace, const DryRun& run) {
  std::string out = refused_lines(trace, run);
  for (const std::string& one : warnings(trace, run))
    out += "refrain: " + text::printable(trace.name()) + ": warning: " + one + "\n";
  if (!run.can_be_replayed()) return out;
  out += text::printable(trace.name()) + ": " + base::counted_text(trace.call_count(), "call") +
         " of " + base::counted_text(static_cast<uint64_t>(trace.rank_count()), "rank") +
         " can be replayed\n";
  out += "  functions  " + std::to_string(run.functions.size()) + "\n";
  out += "  memory     about " + text::bytes_text(run.memory.most_bytes) + " on rank " +
         std::to_string(run.memory.most_rank) + ", " + text::bytes_text(run.memory.all_bytes) +
         " in all\n";
  for (const FileNeed& file : run.files)
    out += "  file       " + text::printable(file.path) + " (in the scratch folder), " +
           text::bytes_text(file.bytes) + " before it is opened\n";
  if (run.order.why_not.empty() && run.order.sends == 0) out += "  buffering  none is needed\n";
  if (!run.order.why_not.empty()) out += "  buffering  not looked at: " + run.order.why_not + "\n";
  return out;
}

}  // namespace refrain::replay::plan
