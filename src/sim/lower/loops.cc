#include "sim/lower/loops.h"

#include <algorithm>
#include <cmath>

#include "grammar/fold.h"
#include "reader/call_gaps.h"

namespace refrain::sim {
namespace {

constexpr double kMostUnit = 4e9;
constexpr uint32_t kDeepest = 64;  // rules that stand alone in each other

struct LoopFinder {
  const grammar::Grammar& grammar;
  const grammar::Lengths lengths;
  MainLoop best;

  void look(size_t rule, uint64_t at, uint32_t depth) {
    for (uint32_t i = grammar.rule_begin(rule); i < grammar.rule_end[rule]; ++i) {
      const grammar::Symbol& symbol = grammar.symbols[i];
      const uint64_t calls = symbol.is_rule ? lengths.rule[symbol.id] : 1;
      if (symbol.count >= kLeastIterations && calls * symbol.count > best.calls * best.count)
        best = {at, calls, symbol.count};
      // A rule that stands alone may have the loop in it; it is looked at if it could.
      if (symbol.count == 1 && symbol.is_rule && depth < kDeepest &&
          calls > best.calls * best.count)
        look(symbol.id, at, depth + 1);
      at += calls * symbol.count;
    }
  }
};

// The units of one thread's loop, call by call.
class UnitWalk {
 public:
  UnitWalk(const Trace& trace, const Location& location, const MainLoop& loop,
           const ComputeTimes* times, double factor, const IsLocal& is_local)
      : reader_(trace, location.rank, Times::kRead),
        cursor_(reader_.cursor(location.thread)),
        gaps_(trace, location.rank, location.thread),
        location_(location),
        times_(times),
        factor_(factor),
        is_local_(is_local) {
    if (!cursor_.ok()) return;
    const uint64_t before = loop.first == 0 ? 0 : loop.first - 1;
    cursor_->seek(before);
    if (loop.first == 0)
      gaps_.busy_until(0);  // as the simulation begins
    else if (const Call* const call = cursor_->next(); call != nullptr)
      gaps_.begin_behind(*call);
  }

  // False: the call has no time.
  bool next(double& gap, double& own) {
    const Call* const call = cursor_.ok() ? cursor_->next() : nullptr;
    if (call == nullptr || !call->has_time) return false;
    uint64_t ns = gaps_.before(*call).value_or(0);
    if (times_ != nullptr && call->seq > 0)
      ns = times_->before(location_.rank, location_.thread, call->seq, ns);
    gap = static_cast<double>(ns) * factor_;
    own = static_cast<double>(call->end_ns - std::min(call->begin_ns, call->end_ns));
    if (!is_local_(*call->signature)) own = 0;  // that is simulated
    return gap < kMostUnit && own < kMostUnit;
  }

 private:
  RankReader reader_;
  Result<Cursor> cursor_;
  reader::CallGaps gaps_;
  const Location location_;
  const ComputeTimes* times_;
  double factor_;
  const IsLocal& is_local_;
};

}  // namespace

MainLoop main_loop(const grammar::Grammar& grammar) {
  LoopFinder finder{grammar, grammar::lengths(grammar), {}};
  finder.look(0, 0, 0);
  return finder.best;
}

LoopUnits mean_units(const Trace& trace, const Location& location, const MainLoop& loop,
                     const ComputeTimes* times, double factor, const IsLocal& is_local) {
  LoopUnits out;
  if (loop.calls == 0 || loop.calls > kMostUnits || loop.count > kMostIterations) return out;
  std::vector<double> gaps(loop.calls), owns(loop.calls);
  double gap = 0, own = 0;
  UnitWalk first(trace, location, loop, times, factor, is_local);
  for (uint64_t i = 0; i < loop.count; ++i)
    for (uint64_t at = 0; at < loop.calls; ++at) {
      if (!first.next(gap, own)) return out;
      gaps[at] += gap, owns[at] += own;
    }
  for (uint64_t at = 0; at < loop.calls; ++at) {
    const auto mean = [&](double sum) {
      return static_cast<uint32_t>(std::llround(sum / static_cast<double>(loop.count)));
    };
    out.gap_ns.push_back(mean(gaps[at]));
    out.own_ns.push_back(mean(owns[at]));
  }
  UnitWalk second(trace, location, loop, times, factor, is_local);
  out.differs_ns.resize(loop.count);
  for (uint64_t i = 0; i < loop.count; ++i)
    for (uint64_t at = 0; at < loop.calls; ++at) {
      if (!second.next(gap, own)) return out;
      out.differs_ns[i] += std::abs(gap - out.gap_ns[at]) + std::abs(own - out.own_ns[at]);
    }
  out.is_known = true;
  return out;
}

}  // namespace refrain::sim
