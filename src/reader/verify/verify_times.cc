// Times of a location are walked as they stand in the file, on the clock of the rank, so that what
// is compared is not bent by the clocks of hosts.

#include "reader/verify/verify_times.h"

#include <algorithm>
#include <utility>

#include "format/time/spec.h"
#include "grammar/terminal_cursor.h"
#include "reader/block_walk.h"
#include "reader/internal.h"
#include "reader/trace_impl.h"

namespace refrain {

namespace reader {

// What a location's times are walked with.
struct TimesOf {
  static Result<BlockWalk> walk(const Trace& trace, const Location& location) {
    const TraceImpl& impl = Internal::of(trace);
    const auto table = impl.times->table(impl.data.meta.ranks);
    if (!table.ok()) return in_trace(table.error(), impl.name);
    BlockWalk walk(*impl.times, **table, static_cast<uint64_t>(location.rank), location.thread,
                   grammar::TerminalCursor(impl.data.grammars[location.grammar],
                                           impl.lengths[location.grammar]),
                   impl.name);
    walk.set_functions(impl.call_of_signature, impl.group(location.rank)->signatures);
    walk.keep_local();
    return walk;
  }
  static CallId function(const Trace& trace, Rank rank, uint32_t terminal) {
    const TraceImpl& impl = Internal::of(trace);
    return impl.call_of_signature[impl.group(rank)->signatures[terminal]];
  }
};

TimeStore* times_of(const Trace& trace) { return Internal::of(trace).times.get(); }

void expect_more_walks(const Trace& trace) {
  if (TimeStore* const times = times_of(trace); times != nullptr) times->kept().expect_more();
}

base::Result<const format::TimeTable*> time_table(const Trace& trace) {
  TimeStore* const store = times_of(trace);
  if (store == nullptr)
    return base::unsupported("there are no times of single calls", trace.name());
  const auto table = store->table(static_cast<uint64_t>(trace.rank_count()));
  if (!table.ok()) return in_trace(table.error(), trace.name());
  return *table;
}

namespace {

std::string name_of(const Location& location) {
  return "rank " + std::to_string(location.rank) + ", thread " + std::to_string(location.thread);
}

bool says_times_are_missing(const Trace& trace) {
  return std::any_of(trace.info().losses.begin(), trace.info().losses.end(),
                     [](const Loss& loss) { return loss.reason == "times_missing"; });
}

uint64_t calls_of(const BlockWalk& walk) {
  return walk.blocks().empty() ? 0
                               : walk.blocks().back().first_call + walk.blocks().back().block.calls;
}

void verify_location(const Trace& trace, const Location& location,
                     std::vector<std::string>& findings) {
  Result<BlockWalk> walk = TimesOf::walk(trace, location);
  if (!walk.ok()) {
    findings.push_back(walk.error().message);
    return;
  }
  const uint64_t calls = calls_of(*walk);
  if (trace.times_rank(location.rank) != location.rank) {
    if (calls > 0)
      findings.push_back(name_of(location) + ": times, though another rank stands for it");
    return;
  }
  if (calls > location.calls || (calls < location.calls && !says_times_are_missing(trace)))
    findings.push_back(name_of(location) + ": times of " + std::to_string(calls) + " calls, but " +
                       std::to_string(location.calls) + " calls");
  for (size_t i = 0; i < walk->blocks().size(); ++i) {
    const Status loaded = walk->load(i);
    if (loaded.ok()) continue;
    findings.push_back(name_of(location) + ", block " + std::to_string(i) + ": " +
                       loaded.error().message);
    return;
  }
}

// How far the two are from each other.
uint64_t apart(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

// Walks both recordings of a location side by side.
class BoundWalk {
 public:
  BoundWalk(const Trace& trace, const format::TimeSpec& spec, const Location& location,
            BoundCheck& out, size_t max_findings)
      : trace_(trace), spec_(spec), location_(location), out_(out), max_(max_findings) {}

  Status run(BlockWalk& given, BlockWalk& exact) {
    Status status = base::Done{};
    for (uint64_t seq = 0; seq < calls_of(given) && out_.findings.size() < max_; ++seq) {
      const format::TimedCall* g = given.find(seq, status);
      if (g == nullptr) break;
      const format::TimedCall* e = exact.find(seq, status);
      if (e == nullptr) break;
      look_at(seq, *g, *e);
    }
    return status;
  }

 private:
  void look_at(uint64_t seq, const format::TimedCall& given, const format::TimedCall& exact) {
    if (given.terminal >= last_begin_.size()) last_begin_.resize(size_t{given.terminal} + 1);
    uint64_t& last = last_begin_[given.terminal];
    const uint64_t interval = exact.begin_ns > last ? exact.begin_ns - last : 0;
    const uint64_t part = last > 0 ? interval / 8 : 0;  // that a gap may be measured by
    const uint64_t duration = exact.end_ns - exact.begin_ns;
    const uint32_t bound =
        spec_.bound_of(TimesOf::function(trace_, location_.rank, given.terminal));
    last = exact.begin_ns;
    ++out_.calls;
    compare(seq, "begin", apart(given.begin_ns, exact.begin_ns), interval, bound);
    compare(seq, "end", apart(given.end_ns, exact.end_ns), interval + duration, bound);
    compare(seq, "duration", apart(given.end_ns - given.begin_ns, duration), duration, bound);
    // Begin may lie before the end of a call inside of this one; such a gap is kept exactly.
    const auto gap = [](uint64_t begin, uint64_t end) {
      return static_cast<int64_t>(begin) - static_cast<int64_t>(end);
    };
    const int64_t was = gap(exact.begin_ns, exact_end_), is = gap(given.begin_ns, given_end_);
    compare(seq, "gap", static_cast<uint64_t>(is > was ? is - was : was - is),
            was >= 0 ? std::max(static_cast<uint64_t>(was), part) : 0, bound);
    exact_end_ = exact.end_ns;
    given_end_ = given.end_ns;
  }

  void compare(uint64_t seq, const char* what, uint64_t error, uint64_t of, uint32_t bound) {
    if (error == 0) return;
    const double allowed = static_cast<double>(of) * bound / format::TimeSpec::kOne;
    if (allowed > 0) out_.worst = std::max(out_.worst, static_cast<double>(error) / allowed);
    if (static_cast<double>(error) <= allowed || out_.findings.size() >= max_) return;
    out_.findings.push_back(name_of(location_) + ", call " + std::to_string(seq) + ": " + what +
                            " differs by " + std::to_string(error) + " ns, allowed are " +
                            std::to_string(static_cast<uint64_t>(allowed)));
  }

  const Trace& trace_;
  const format::TimeSpec& spec_;
  const Location location_;
  BoundCheck& out_;
  const size_t max_;
  std::vector<uint64_t> last_begin_;  // exact, by terminal
  uint64_t exact_end_ = 0, given_end_ = 0;
};

}  // namespace

std::vector<std::string> verify_times(const Trace& trace, size_t max_findings) {
  std::vector<std::string> findings;
  if (!trace.has_times()) return findings;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank)
    for (const Location& location : trace.locations(rank))
      if (findings.size() < max_findings) verify_location(trace, location, findings);
  return findings;
}

Result<BoundCheck> verify_bound(const Trace& trace, const Trace& exact, size_t max_findings) {
  const auto spec = time_spec_of(trace), other = time_spec_of(exact);
  if (!spec.ok()) return spec.error();
  if (!other.ok()) return other.error();
  if (!spec->has_times()) return base::usage("there are no times of single calls", trace.name());
  if (spec->mode == format::TimeMode::kSegments)
    return base::usage("reduced times have no bound for each call; see `refrain evaluate`",
                       trace.name());
  if (other->mode != format::TimeMode::kExact)
    return base::usage("the times are not exact: " + other->to_string(), exact.name());
  const auto other_run = [&] {
    return base::usage("not the same run as " + trace.name(), exact.name());
  };
  if (trace.rank_count() != exact.rank_count()) return other_run();
  BoundCheck out;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    const std::vector<Location> ours = trace.locations(rank), theirs = exact.locations(rank);
    if (ours.size() != theirs.size()) return other_run();
    if (trace.times_rank(rank) != rank) continue;  // those of another rank are not to be compared
    for (size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].thread != theirs[i].thread || ours[i].calls != theirs[i].calls)
        return other_run();
      Result<BlockWalk> given = TimesOf::walk(trace, ours[i]);
      Result<BlockWalk> true_times = TimesOf::walk(exact, theirs[i]);
      if (!given.ok()) return given.error();
      if (!true_times.ok()) return true_times.error();
      const Status walked =
          BoundWalk(trace, *spec, ours[i], out, max_findings).run(*given, *true_times);
      if (!walked.ok()) return walked.error();
    }
  }
  return out;
}

}  // namespace reader

}  // namespace refrain
