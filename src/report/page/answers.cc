// The questions that a page asks of its trace.

#include <algorithm>
#include <utility>

#include "analysis/waits/untimed_calls.h"
#include "format/trace_data.h"
#include "reader/internal.h"
#include "report/page/call_details.h"
#include "report/page/page.h"

namespace refrain::report {
namespace {

namespace waits = analysis::waits;

std::vector<SignatureId> signatures_of(const Trace& trace, GroupId group) {
  const auto& all = reader::data_of(trace).groups[group].signatures;
  return {all.begin(), all.end()};
}

// The smallest ones, as many as there is room for.
std::vector<bool> kept_grammars(const Trace& trace, size_t most_symbols) {
  const auto& grammars = reader::data_of(trace).grammars;
  std::vector<size_t> order(grammars.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return grammars[a].symbols.size() < grammars[b].symbols.size();
  });
  std::vector<bool> out(grammars.size(), false);
  uint64_t used = 0;
  for (const size_t i : order) {
    used += grammars[i].symbols.size();
    out[i] = used <= most_symbols;
  }
  return out;
}

bool has_threads(const Trace& trace, Rank rank) { return trace.locations(rank).size() > 1; }

// One pass over ranks and their signatures for everything that needs each rank.
void ask_ranks(const Trace& trace, const PageOptions& options, waits::CommTable& comms,
               PageAnswers& out) {
  analysis::RankLoadFold loads(trace);
  waits::Decoder::Places places;
  analysis::OpenEnds& ends = out.open_ends.emplace(trace.rank_count());
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
      for (const SignatureId id : signatures)
        ends.add(reader.rank(), analysis::op_of(ops, reader.signature(id)), ops);
      is_full = is_full || signatures.size() > left;
      if (is_full || has_threads(trace, reader.rank())) ends.add_rank(reader.rank());
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

class PageObserver : public analysis::MessageCollector {
 public:
  PageObserver(const Trace& trace, const analysis::MessageListOptions& options, PageAnswers& out,
               analysis::IterationTable* iterations)
      : MessageCollector(*out.open_ends, options),
        trace_(trace),
        out_(out),
        iterations_(iterations),
        has_order_(trace.has_times()) {}
  bool wants(const waits::SeenMessage& m) override {
    if (has_order_ || !(has_threads(trace_, m.sender) || has_threads(trace_, m.receiver)))
      return MessageCollector::wants(m);
    ++out_.unordered_messages;
    return false;
  }
  void wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) override {
    out_.wait_table.add(rank, thread, begin_ns, end_ns);
    if (iterations_ != nullptr) iterations_->add_wait(rank, thread, begin_ns, end_ns);
  }

 private:
  const Trace& trace_;
  PageAnswers& out_;
  analysis::IterationTable* iterations_;  // nullptr: there are none
  bool has_order_;
};

// Where there are no times: only if there is a message that the page cannot find by itself.
void ask_untimed(const Trace& trace, const PageOptions& options, const waits::Options& how,
                 PageAnswers& out) {
  if (out.open_ends->empty()) return;
  uint64_t calls = 0;
  for (const analysis::TimelineRow& row : out.timeline.rows) calls += row.calls;
  out.has_messages = calls <= options.most_untimed_calls;
  waits::UntimedCalls numbered;
  if (out.has_messages)
    out.unknown_receives = waits::observe(trace, numbered, how).unknown_messages;
}

std::optional<analysis::IterationTable> measured_iterations(const Trace& trace,
                                                            const PageOptions& options,
                                                            PageAnswers& out) {
  if (trace.call_count() > options.most_iteration_calls) {
    out.no_iterations = "too many calls for the page; `refrain iterations` shows them";
    return std::nullopt;
  }
  analysis::IterationOptions how;
  how.with_behaviours = true;
  how.method = similarity::default_spec(similarity::Method::kAvgWave);
  auto table = analysis::IterationTable::measure(trace, how);
  if (table.ok()) return std::move(*table);
  out.no_iterations = table.error().message;
  return std::nullopt;
}

void ask_waits(const Trace& trace, const PageOptions& options, waits::CommTable& comms,
               PageAnswers& out) {
  for (const analysis::TimelineRow& row : out.timeline.rows)
    if (!out.kept_grammars[row.grammar]) out.open_ends->add_rank(row.rank);
  out.wait_table =
      analysis::WaitTable(out.timeline, options.most_wait_rows, options.most_wait_columns);
  analysis::MessageListOptions wanted = options.messages;
  wanted.has_waits = trace.has_times();
  std::optional<analysis::IterationTable> iterations = measured_iterations(trace, options, out);
  PageObserver observer(trace, wanted, out, iterations ? &*iterations : nullptr);
  waits::TraceCalls calls(trace);
  waits::Options how;
  how.observer = &observer;
  how.comms = &comms;
  how.memory_bytes = options.waits_memory_bytes;
  how.explain = waits::Pattern::kAll;
  how.explain_count = options.most_explained;
  auto result = waits::wait_states(trace, calls, how);
  if (result.ok())
    out.waits = std::move(*result);
  else
    out.no_waits = result.error().message;
  if (out.waits)
    out.unknown_receives = out.waits->counts.unknown_messages;
  else
    ask_untimed(trace, options, how, out);
  out.messages = observer.take();
  if (iterations) out.iterations = iterations->finish();
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
  out.kept_grammars = kept_grammars(trace, options.most_symbols);
  waits::CommTable comms(trace);
  ask_ranks(trace, options, comms, out);
  say("timeline");
  out.timeline = analysis::timeline(trace, options.timeline);
  say("waits");
  ask_waits(trace, options, comms, out);
  return out;
}

}  // namespace refrain::report
