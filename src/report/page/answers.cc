// The questions that a page asks of its trace.

#include <algorithm>
#include <utility>

#include "format/trace_data.h"
#include "report/page/call_details.h"
#include "report/page/page.h"

namespace refrain::report {
namespace {

namespace waits = analysis::waits;

std::vector<SignatureId> signatures_of(const Trace& trace, GroupId group) {
  const auto& all = trace.data().groups[group].signatures;
  return {all.begin(), all.end()};
}

// One pass over ranks and their signatures for everything that needs each rank.
void ask_ranks(const Trace& trace, const PageOptions& options, PageAnswers& out) {
  analysis::RankLoadFold loads(trace);
  waits::CommTable comms(trace);
  waits::Decoder::Places places;
  size_t left = options.most_details, left_cost = options.most_details;
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const std::vector<SignatureId> signatures = signatures_of(trace, g);
    const std::vector<Trace::Occurrence> occurrences = trace.occurrences(g);
    GroupDetails details(trace, signatures);
    uint64_t detailed = 0;
    bool is_full = false;
    for (uint64_t i = 0; i < trace.group_size(g); ++i) {
      RankReader reader(trace, trace.group_rank(g, i));
      waits::Decoder ops(reader, comms, places);
      loads.add(reader, occurrences, ops);
      is_full = is_full || signatures.size() > left;
      if (is_full) continue;
      details.add(reader, ops);
      left -= signatures.size();
      ++detailed;
      if (details.cost() > left_cost) is_full = true;
    }
    left_cost -= std::min(left_cost, details.cost());
    out.details.push_back(detailed > 0 ? details.to_json() : nlohmann::ordered_json::array());
    out.detailed_ranks.push_back(detailed);
  }
  out.loads = loads.take();
}

void ask_waits(const Trace& trace, const PageOptions& options, PageAnswers& out) {
  waits::TraceCalls calls(trace);
  waits::Options how;
  how.memory_bytes = options.waits_memory_bytes;
  how.explain = waits::Pattern::kAll;
  how.explain_count = options.most_explained;
  auto result = waits::wait_states(trace, calls, how);
  if (result.ok())
    out.waits = std::move(*result);
  else
    out.no_waits = result.error().message;
}

}  // namespace

PageAnswers page_answers(const Trace& trace, const PageOptions& options) {
  const auto say = [&](std::string_view step) {
    if (options.progress) options.progress(step);
  };
  PageAnswers out;
  say("profile");
  out.profile = analysis::profile(trace);
  say("matrix");
  out.matrix = analysis::matrix(trace, analysis::MatrixKind::kP2p);
  out.grid = analysis::cartesian_grid(trace);
  say("ranks");
  out.details = nlohmann::ordered_json::array();
  ask_ranks(trace, options, out);
  say("timeline");
  out.timeline = analysis::timeline(trace, options.timeline);
  say("waits");
  ask_waits(trace, options, out);
  return out;
}

}  // namespace refrain::report
