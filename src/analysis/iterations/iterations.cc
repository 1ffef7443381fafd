#include "analysis/iterations/iterations.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/iterations/behaviours.h"
#include "analysis/iterations/cutter.h"
#include "analysis/iterations/likeness.h"
#include "analysis/iterations/numbers.h"
#include "analysis/waits/wait_states.h"
#include "analysis/window.h"
#include "events/buffers/transfers.h"
#include "events/payload.h"
#include "reader/time_store.h"

namespace refrain::analysis {
namespace {

using iterations::BehaviourFinder;
using iterations::CallKind;
using iterations::Cutter;
using iterations::KeptLocation;
using iterations::KeptSegment;
using iterations::LocalLoop;

// Loops with fewer iterations in all are none; those of a single call need more.
constexpr uint64_t kLeastIterations = 3, kLeastOfOneCall = 8;

// A loop of the run, while it is found.
struct Loop {
  std::string name;  // of a mark
  LocalLoop like;    // of the first location that has it
  uint64_t begin_ns = UINT64_MAX;
  uint64_t most = 0;  // iterations of a location
  std::set<Rank> ranks;
  std::map<std::pair<CallId, DefinitionId>, uint64_t> longest;  // ns, by call
};

class WaitAdder final : public Observer {
 public:
  explicit WaitAdder(IterationTable& table) : table_(table) {}
  bool wants(const SeenMessage&) override { return false; }
  void ends(const SeenMessage&, const SeenCall&, const SeenCall&, const SeenCall&) override {}
  void wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) override {
    table_.add_wait(rank, thread, begin_ns, end_ns);
  }

 private:
  IterationTable& table_;
};

}  // namespace

struct IterationTable::Impl {
  Impl(const Trace& of, const IterationOptions& how)
      : trace(of),
        options(how),
        paths(how.paths == nullptr ? reader::SourcePaths() : *how.paths),
        plans(trace, paths),
        graphs(trace),
        finder(how.method) {}

  Status run() {
    out.from_marks = find_marks();
    for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
      if (!trace.group_of(rank)) continue;
      RankReader reader(trace, rank, Times::kRead);
      for (const Location& location : trace.locations(rank)) {
        if (location.calls == 0) continue;
        if (const Status read = read_location(reader, location); !read.ok()) return read;
      }
    }
    drop_short_loops();
    return base::Done{};
  }

  bool find_marks() {
    marks_of_group.resize(trace.group_count());
    if (options.source == IterationSource::kLoops) return false;
    bool found = false;
    for (GroupId g = 0; g < trace.group_count(); ++g) {
      if (trace.group_size(g) == 0) continue;
      marks_of_group[g] = iterations::repeated_marks(trace, g);
      found = found || !marks_of_group[g].empty();
    }
    return found || options.source == IterationSource::kMarks;
  }

  Status read_location(RankReader& reader, const Location& location) {
    Result<Cursor> cursor = reader.cursor(location.thread);
    if (!cursor.ok()) return cursor.error();
    KeptLocation& kept = locations.emplace_back();
    kept.rank = location.rank;
    kept.thread = location.thread;
    std::vector<std::map<std::pair<CallId, DefinitionId>, uint64_t>> longest;  // by local loop
    const iterations::LoopPlan* plan = out.from_marks ? nullptr : &plans.of(location, reader);
    Cutter cutter(
        marks_of_group[*trace.group_of(location.rank)], plan, has_calls_inside_of_calls(reader),
        [&](const iterations::Segment& s) {
          keep(kept, s);
          if (s.loop < 0) return;
          if (longest.size() <= static_cast<size_t>(s.loop))
            longest.resize(static_cast<size_t>(s.loop) + 1);
          longest[static_cast<size_t>(s.loop)][{s.longest->call, s.longest->path}] += s.longest_ns;
        });
    std::unordered_map<SignatureId, std::pair<CallKind, uint64_t>> known;  // and bytes
    events::TransferReader transfers(reader, graphs);
    uint64_t seen = 0;
    const Call* call = nullptr;
    while ((call = cursor->next()) != nullptr && call->has_time) {
      const auto [at, is_new] = known.try_emplace(call->signature->id);
      auto& [kind, bytes] = at->second;
      if (is_new) {
        kind = iterations::kind_of(trace, paths, *call->signature);
        for (const events::Transfer& t : transfers.transfers(call->signature->id))
          bytes = events::add(bytes, events::multiply(t.bytes, t.repeat));
      }
      cutter.call({&kind, call->begin_ns, call->end_ns, bytes});
      ++seen;
    }
    cutter.finish();
    out.untimed += location.calls - seen;
    if (!cursor->time_status().ok()) return cursor->time_status();
    if (options.with_behaviours) finder.next(locations.size() - 1);
    number(kept, cutter.loops(), longest);
    segments += kept.segments.size();
    if (segments > options.most_segments)
      return base::unsupported("more than " + std::to_string(options.most_segments) +
                                   " iterations of all ranks together",
                               trace.name());
    return base::Done{};
  }

  void keep(KeptLocation& kept, const iterations::Segment& s) {
    KeptSegment& out_segment = kept.segments.emplace_back();
    out_segment.begin_ns = s.begin_ns;
    out_segment.end_ns = s.end_ns;
    out_segment.mpi_ns = s.mpi_ns;
    out_segment.bytes = s.bytes;
    out_segment.calls = static_cast<uint32_t>(std::min<uint64_t>(s.calls, UINT32_MAX));
    out_segment.loop = static_cast<int32_t>(s.loop);
    out_segment.is_in_vain = s.is_in_vain;
    if (options.with_behaviours) finder.add(s);
  }

  // The loop of the run that a location's loop is.
  size_t find_loop(const LocalLoop& local) {
    size_t best = loops.size();
    if (local.name.empty()) {
      double most = 0;
      for (const auto& [i, both] : by_call.sharing(local)) {
        const double like = iterations::likeness(loops[i].like, loops[i].most, local, both);
        if (like > most) best = i, most = like;
      }
    } else {
      for (size_t i = 0; i < loops.size(); ++i)
        if (loops[i].name == local.name) return i;
    }
    if (best < loops.size()) return best;
    if (local.name.empty()) by_call.add(best, local);
    loops.push_back({local.name, local, UINT64_MAX, 0, {}, {}});
    return best;
  }

  // A loop most of whose rounds only ask in vain is a way to wait: their number says how often the
  // thread asked, not what the program repeats. By local loop, whether it is one.
  std::vector<uint8_t> drop_polling(KeptLocation& kept, const std::vector<LocalLoop>& locals) {
    std::vector<uint64_t> rounds(locals.size()), in_vain(locals.size());
    for (const KeptSegment& s : kept.segments) {
      if (s.loop < 0) continue;
      ++rounds[static_cast<size_t>(s.loop)];
      in_vain[static_cast<size_t>(s.loop)] += s.is_in_vain ? 1 : 0;
    }
    std::vector<uint8_t> out_loops(locals.size());
    for (size_t i = 0; i < locals.size(); ++i) {
      out_loops[i] = locals[i].name.empty() && 2 * in_vain[i] > rounds[i] ? 1 : 0;
      if (out_loops[i] != 0 && rounds[i] >= least_of(locals[i])) out.polling_rounds += rounds[i];
    }
    for (KeptSegment& s : kept.segments)
      if (s.loop >= 0 && out_loops[static_cast<size_t>(s.loop)] != 0) s.loop = -1;
    return out_loops;
  }

  static uint64_t least_of(const LocalLoop& loop) {
    if (!loop.name.empty()) return 2;  // a mark
    return loop.calls.size() > 1 ? kLeastIterations : kLeastOfOneCall;
  }

  void number(KeptLocation& kept, const std::vector<LocalLoop>& locals,
              const std::vector<std::map<std::pair<CallId, DefinitionId>, uint64_t>>& longest) {
    const std::vector<uint8_t> only_asks = drop_polling(kept, locals);
    std::vector<size_t> loop_of(locals.size());
    for (size_t i = 0; i < locals.size(); ++i)
      if (only_asks[i] == 0) loop_of[i] = find_loop(locals[i]);
    for (size_t i = 0; i < longest.size(); ++i)
      for (const auto& [call, ns] : longest[i])
        if (only_asks[i] == 0) loops[loop_of[i]].longest[call] += ns;
    std::map<size_t, uint32_t> counts;
    for (KeptSegment& s : kept.segments) {
      if (s.loop < 0) continue;
      const size_t loop = loop_of[static_cast<size_t>(s.loop)];
      Loop& of = loops[loop];
      s.loop = static_cast<int32_t>(loop);
      s.number = counts[loop]++;
      of.begin_ns = std::min(of.begin_ns, s.begin_ns);
      of.most = std::max<uint64_t>(of.most, counts[loop]);
      of.ranks.insert(kept.rank);
    }
  }

  // And orders the others by time.
  void drop_short_loops() {
    std::vector<size_t> order;
    for (size_t i = 0; i < loops.size(); ++i)
      if (loops[i].most >= least_of(loops[i].like)) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t a, size_t b) { return loops[a].begin_ns < loops[b].begin_ns; });
    std::vector<int32_t> place(loops.size(), -1);
    std::vector<Loop> kept;
    for (const size_t i : order) {
      place[i] = static_cast<int32_t>(kept.size());
      kept.push_back(std::move(loops[i]));
    }
    loops = std::move(kept);
    for (KeptLocation& location : locations)
      for (KeptSegment& s : location.segments)
        if (s.loop >= 0) s.loop = place[static_cast<size_t>(s.loop)];
  }

  void add_wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) {
    const auto at = std::lower_bound(
        locations.begin(), locations.end(), std::pair(rank, thread),
        [](const KeptLocation& l, const auto& key) { return std::pair(l.rank, l.thread) < key; });
    if (at == locations.end() || at->rank != rank || at->thread != thread) return;
    std::vector<KeptSegment>& all = at->segments;
    auto s = std::upper_bound(all.begin(), all.end(), begin_ns,
                              [](uint64_t ns, const KeptSegment& k) { return ns < k.end_ns; });
    for (; s != all.end() && s->begin_ns < end_ns; ++s) {
      const uint64_t low = std::max(begin_ns, s->begin_ns), high = std::min(end_ns, s->end_ns);
      if (high > low) s->waiting_ns += static_cast<double>(high - low);
    }
  }

  void put_loops() {
    for (size_t i = 0; i < loops.size(); ++i) {
      IterationLoop& loop = out.loops.emplace_back();
      loop.name = loops[i].name.empty() ? "loop_" + std::to_string(i + 1) : loops[i].name;
      loop.ranks = loops[i].ranks.size();
      uint64_t most = 0;
      for (const auto& [call, ns] : loops[i].longest)
        if (loop.call == 0 || ns > most) loop.call = call.first, loop.path = call.second, most = ns;
      loop.rows.resize(loops[i].most);
      for (size_t n = 0; n < loop.rows.size(); ++n) loop.rows[n].number = n;
    }
    put_rows();
    for (IterationLoop& loop : out.loops) iterations::put_numbers(loop);
  }

  void put_rows() {
    // By loop and row: what its slowest rank took without waiting. Those that wait for it take as
    // long as it does.
    std::vector<std::vector<double>> busiest(out.loops.size());
    for (size_t i = 0; i < busiest.size(); ++i) busiest[i].resize(out.loops[i].rows.size(), -1);
    for (const KeptLocation& location : locations)
      for (const KeptSegment& s : location.segments) {
        if (s.loop < 0) continue;
        const auto loop = static_cast<size_t>(s.loop);
        IterationRow& row = out.loops[loop].rows[s.number];
        const uint64_t ns = s.end_ns - s.begin_ns;
        row.begin_ns = row.threads == 0 ? s.begin_ns : std::min(row.begin_ns, s.begin_ns);
        row.end_ns = std::max(row.end_ns, s.end_ns);
        row.longest_ns = std::max(row.longest_ns, ns);
        const double busy = static_cast<double>(ns) - s.waiting_ns;
        if (busy > busiest[loop][s.number])
          busiest[loop][s.number] = busy, row.slowest_rank = location.rank;
        ++row.threads;
        row.sum_ns += static_cast<double>(ns);
        row.mpi_ns += static_cast<double>(s.mpi_ns);
        row.waiting_ns += s.waiting_ns;
        row.bytes = events::add(row.bytes, s.bytes);
        row.calls += s.calls;
      }
  }

  Trace trace;
  IterationOptions options;
  reader::SourcePaths paths;
  iterations::Plans plans;
  events::GraphDegrees graphs;
  BehaviourFinder finder;
  std::vector<std::set<std::string>> marks_of_group;
  std::vector<KeptLocation> locations;  // by rank, then thread
  std::vector<Loop> loops;
  iterations::LoopsByCall by_call;  // until short ones are dropped
  uint64_t segments = 0;
  Iterations out;
};

IterationTable::IterationTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
IterationTable::IterationTable(IterationTable&&) noexcept = default;
IterationTable::~IterationTable() = default;

Result<IterationTable> IterationTable::measure(const Trace& trace,
                                               const IterationOptions& options) {
  if (!trace.has_times())
    return base::unsupported(
        "the trace has no times of single calls, which iterations are made of: record with "
        "--timing exact or bins:0.02",
        trace.name());
  auto impl = std::make_unique<Impl>(trace, options);
  if (const Status read = impl->run(); !read.ok()) return read.error();
  return IterationTable(std::move(impl));
}

void IterationTable::add_wait(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) {
  impl_->add_wait(rank, thread, begin_ns, end_ns);
}

Iterations IterationTable::finish() {
  impl_->put_loops();
  if (impl_->options.with_behaviours) {
    impl_->out.behaviours = impl_->finder.finish(impl_->locations);
    impl_->out.behaviours.patterns =
        iterations::patterns_of(impl_->out.behaviours, impl_->locations, impl_->loops.size());
  }
  return std::move(impl_->out);
}

Result<Iterations> find_iterations(const Trace& trace, const IterationOptions& options) {
  reader::expect_more_walks(trace);
  auto table = IterationTable::measure(trace, options);
  if (!table.ok()) return table.error();
  WaitAdder adder(*table);
  waits::Options how;
  how.observer = &adder;
  events::TraceCalls calls(trace);
  waits::observe(trace, calls, how);
  return table->finish();
}

}  // namespace refrain::analysis
