#include "sim/run/simulate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "refrain/calls.h"
#include "sim/lower/trace_actions.h"
#include "sim/run/fill_ahead.h"
#include "sim/run/skip.h"

namespace refrain::sim {
namespace {

// Messages on their way at a time: beside a number for any run, an exchange of all with all.
constexpr uint64_t kMostMessages = 1 << 22, kMostPartners = 4096;
constexpr uint64_t kFewCalls = 10'000;  // are read before another thread has begun
constexpr size_t kNamedCalls = 64;      // of a deadlock; each is looked up in the trace

// Hands calls on by rank and thread.
class CallObserver : public Observer {
 public:
  CallObserver(const TraceActions& actions, const SimulateOptions& options)
      : actions_(actions), options_(options) {}
  void call(AgentId agent, uint64_t tag, Time begin, Time end) override {
    const TraceActions::Place place = actions_.place(agent);
    options_.on_call(place.rank, place.thread, tag, begin, end);
  }

 private:
  const TraceActions& actions_;
  const SimulateOptions& options_;
};

void name_call(const Trace& trace, WaitingRank& waiting) {
  RankReader reader(trace, waiting.rank);
  auto cursor = reader.cursor(waiting.thread);
  if (!cursor.ok()) return;
  cursor->seek(waiting.seq);
  const Call* const call = cursor->next();
  if (call == nullptr) return;
  waiting.call = std::string(call->signature->name);
  waiting.site = trace.call_site(call->signature->site);
}

std::vector<WaitingRank> waiting_ranks(const Trace& trace, const TraceActions& actions,
                                       const EngineResult& result) {
  std::vector<WaitingRank> out;
  for (const Stuck& one : result.stuck) {
    const TraceActions::Place place = actions.place(one.agent);
    out.push_back({place.rank, place.thread, one.tag, "", kNoDefinition, one.since});
    if (out.size() <= kNamedCalls) name_call(trace, out.back());
  }
  return out;
}

bool may_read_ahead(const Trace& trace, const SimulateOptions& options) {
  return options.reads_ahead && options.skip_share <= 0 && trace.call_count() > kFewCalls &&
         TraceActions::are_independent(trace);
}

// Messages that may be on their way at a time.
uint64_t most_messages(uint64_t ranks) {
  return kMostMessages + 2 * ranks * std::min(ranks, kMostPartners);
}

}  // namespace

Result<Simulation> simulate(const Trace& trace, const Machine& machine,
                            const SimulateOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const auto places = machine.places_for(static_cast<uint64_t>(trace.rank_count()));
  if (!places.ok()) return places.error();
  if (trace.call_count() > options.most_calls && options.skip_share <= 0)
    return base::unsupported("the run has " + std::to_string(trace.call_count()) +
                                 " calls; --max-calls allows " + std::to_string(options.most_calls),
                             trace.name());
  events::Tally tally;
  const events::Progress nobody;
  events::Scope scope(trace, {{}, 0, UINT64_MAX, size_t{256} << 20, options.folder}, nobody, tally);
  const Costs costs(machine, *places);
  std::optional<events::DecodedRanks> own;
  TraceActions actions(trace, machine, scope,
                       options.decoded != nullptr ? *options.decoded : own.emplace(trace));
  actions.compute_by(options.times, options.factors);
  if (options.matching == Matching::kSimulated) actions.match_by_envelopes();
  EngineOptions how;
  how.has_contention = options.contention == Contention::kFair && machine.topology.has_links();
  const auto ranks = static_cast<uint64_t>(trace.rank_count());
  how.most_messages = most_messages(ranks);
  FillAhead ahead(actions);
  const bool reads_ahead = may_read_ahead(trace, options);
  Engine engine(costs, reads_ahead ? static_cast<ActionSource&>(ahead) : actions, how);
  actions.begin(engine);
  CallObserver observer(actions, options);
  if (options.on_call) engine.observe(&observer);
  if (options.progress)
    engine.on_progress([&](uint64_t) { options.progress(actions.calls(), trace.call_count()); });
  const bool is_sampled = how.has_contention || machine.has_crossing();
  Skipper skipper(actions, engine, static_cast<uint32_t>(ranks), is_sampled);
  std::string not_skipped;
  if (options.skip_share > 0) not_skipped = skipper.prepare(options.skip_share);
  if (!not_skipped.empty() && trace.call_count() > options.most_calls)
    return base::unsupported("the run has " + std::to_string(trace.call_count()) +
                                 " calls, and none can be skipped (" + not_skipped +
                                 "); --max-calls allows " + std::to_string(options.most_calls),
                             trace.name());
  if (reads_ahead) ahead.start(ranks);
  EngineResult result = engine.run();
  ahead.stop();
  skipper.add_to(result);
  if (result.is_full)
    return base::unsupported("more than " + std::to_string(how.most_messages) +
                                 " messages are on their way at once: a rank sends and nobody "
                                 "receives",
                             trace.name());
  if (result.is_late)
    return base::unsupported("the run takes more than 60 years on this machine", trace.name());
  Simulation out;
  for (const RankTimes& rank : result.ranks)
    out.predicted_ns = std::max(out.predicted_ns, rank.end - rank.begin);
  out.ranks = std::move(result.ranks);
  out.calls = actions.calls() + actions.skipped_calls();
  out.skipped_calls = actions.skipped_calls();
  out.skip_error_ns = skipper.error_ns();
  out.not_skipped = std::move(not_skipped);
  out.events = result.events;
  out.messages = result.messages;
  out.not_lowered = actions.not_lowered();
  out.links = std::move(result.links);
  out.compute_from = actions.compute_from();
  out.has_contention = how.has_contention;
  out.matching = options.matching;
  out.matching_changed = result.changed;
  out.deadlock = waiting_ranks(trace, actions, result);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

}  // namespace refrain::sim
