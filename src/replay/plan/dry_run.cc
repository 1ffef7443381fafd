#include "replay/plan/dry_run.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "mpi/call_ids.h"
#include "mpi/call_name.h"
#include "mpi/call_table.h"
#include "replay/prefix/prefix.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::replay::plan {
namespace {

using base::counted_text;

// "MPI_Send of rank 0, call 12, at app+0x12"
std::string call_text(const Trace& trace, const CallPlace& place) {
  return mpi::call_name(place.call) + " of rank " + std::to_string(place.rank) + ", call " +
         std::to_string(place.seq) + place_of(trace, place.site);
}

void warn_of_order(const Trace& trace, const Unbuffered& order, std::vector<std::string>& out) {
  if (order.sends > 0)
    out.push_back("ranks wait for ever unless MPI buffers messages of up to " +
                  text::bytes_text(order.longest_bytes) + " (" +
                  counted_text(order.sends, "message") + "; on rank " +
                  std::to_string(order.most_bytes_rank()) + " " +
                  text::bytes_text(order.most_bytes()) + " at a time; the first is " +
                  call_text(trace, *order.first) + ")");
  if (order.collectives > 0)
    out.push_back("ranks wait for ever if MPI makes all collectives wait for all ranks: " +
                  counted_text(order.collectives, "call") + " must not");
  if (order.disagreements > 0)
    out.push_back("collectives disagree, " + counted_text(order.disagreements, "time") + ": " +
                  call_text(trace, order.one) + " and " + call_text(trace, order.other));
  if (order.waiting_ranks > 0 && order.is_guess)
    out.push_back(counted_text(order.waiting_ranks, "rank") +
                  " may wait for ever, but the trace does not tell all that they wait for; the "
                  "first is in " +
                  call_text(trace, order.waiting[0]));
  if (order.sends_left > 0)
    out.push_back(counted_text(order.sends_left, "send") + " without a receive; the first is " +
                  call_text(trace, order.send_left));
  if (order.receives_left > 0)
    out.push_back(counted_text(order.receives_left, "receive") + " without a send; the first is " +
                  call_text(trace, order.receive_left));
}

bool has_threads(const Trace& trace) {
  for (GroupId group = 0; group < trace.group_count(); ++group)
    if (trace.group_locations(group).size() > 1) return true;
  return false;
}

}  // namespace

DryRun dry_run(const Trace& trace, const LookOptions& options, UnbufferedOptions limits) {
  DryRun out;
  out.refused = look(trace, options);
  out.memory = memory_need(trace);
  if (std::find(options.skipped.begin(), options.skipped.end(), mpi::kMPI_File_open) ==
      options.skipped.end())
    out.files = file_needs(trace);
  out.functions = function_needs(trace);
  if (!out.refused.empty()) {
    out.order.why_not = out.messages.why_not = "something cannot be replayed anyway";
    return out;
  }
  if (ends_early(trace)) {
    out.order.why_not = out.messages.why_not = "ranks end before MPI_Finalize";
    return out;
  }
  out.messages = count_messages(trace, options.skipped);
  if (has_threads(trace)) {
    out.order.why_not = "ranks have several threads, whose order the trace does not tell";
    return out;
  }
  limits.skipped = options.skipped;
  out.order = run_unbuffered(trace, limits);
  return out;
}

std::vector<std::string> warnings(const Trace& trace, const DryRun& run) {
  std::vector<std::string> out;
  if (run.order.why_not.empty())
    warn_of_order(trace, run.order, out);
  else
    out = uneven_texts(trace, run.messages);  // the order would have said it, too
  return out;
}

std::string refused_lines(const Trace& trace, const DryRun& run) {
  std::string out = refusal_lines(trace, run.refused);
  if (!run.never_ends()) return out;
  for (const CallPlace& place : run.order.waiting)
    out += "refrain: " + text::printable(trace.name()) + ": cannot replay " +
           mpi::call_name(place.call) + " (rank " + std::to_string(place.rank) + ", call " +
           std::to_string(place.seq) + place_of(trace, place.site) +
           "): it waits for ever for calls that are not in the trace\n";
  if (run.order.waiting_ranks > run.order.waiting.size())
    out += "refrain: " + text::printable(trace.name()) + ": ... and " +
           counted_text(run.order.waiting_ranks - run.order.waiting.size(), "rank") + " more\n";
  return out;
}

}  // namespace refrain::replay::plan
