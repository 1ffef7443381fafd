#include "tracer/times/segment_matcher.h"

#include <algorithm>
#include <cmath>

#include "format/decode/time_table.h"
#include "format/signatures/walk.h"
#include "grammar/terminal_cursor.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"
#include "tracer/times/mark_of.h"
#include "tracer/times/segment_times.h"

namespace refrain::tracer {

using similarity::ProfileSegment;
using Outcome = similarity::SegmentStore::Outcome;

namespace {

similarity::StoreOptions store_options(const Process& p) {
  similarity::StoreOptions how;
  how.method = p.times->segments()->how().method;
  how.max_memory_bytes = p.options.memory_bytes;
  return how;
}

}  // namespace

SegmentMatcher::SegmentMatcher(const Location& l)
    : matcher_(store_options(*l.process)),
      cutter_(&names_, &counts_,
              [this](const similarity::SegmentView& s, uint64_t) { take_segment(s); }) {}

void SegmentMatcher::take_segment(const similarity::SegmentView& s) {
  // The writer follows the store: a segment is either one of those that are known, or becomes a
  // representative.
  const auto match = matcher_.segment(s);
  const bool is_new = match.outcome == Outcome::kAdded || match.outcome == Outcome::kSpilled;
  writer_.segment(match.id, is_new, s);
}

void SegmentMatcher::note(const Location& l, uint32_t terminal) {
  Process& p = *l.process;
  // Terminals begin at 0 again with each set of tables (--memory); with the first one of the set
  // they are unique.
  const uint32_t key = l.first_terminal + terminal;
  if (const auto known = mark_of_.find(key); known != mark_of_.end())
    return noted_.push_back(known->second);
  format::Mark mark;
  {
    const Process::Guard guard(p);
    // Else another thread has begun the tables anew, and nobody knows any more.
    if (l.first_terminal == p.first_terminal && terminal < p.signatures.size()) {
      const auto split = format::split_signature(p.signatures.at(terminal));
      const auto call = split ? format::parse_fields(split->shape, split->values) : std::nullopt;
      if (call) mark = mark_of(*call, p.definitions);
    }
  }
  const auto kind = mark.kind;
  std::pair<int, std::string> name(static_cast<int>(kind), mark.name);
  const auto [at, is_new] = marks_.try_emplace(std::move(name), std::move(mark));
  // Instances are numbered: each is there once.
  if (kind != format::Mark::Kind::kInstance) mark_of_.emplace(key, &at->second);
  noted_.push_back(&at->second);
}

void SegmentMatcher::call(uint64_t key, mpi::CallId call, uint64_t begin_ns, uint64_t end_ns) {
  const format::Mark* mark = nullptr;
  if (may_be_mark(call) && !noted_.empty()) {
    // note() had the signature when the call was recorded. Its time comes later, in the same order.
    mark = noted_.front();
    noted_.pop_front();
  }
  // As BlockEncoder sets them right.
  end_ns_ = std::max(end_ns_, end_ns);
  cutter_.call({key, call, mark, static_cast<int64_t>(std::min(begin_ns, end_ns_)),
                static_cast<int64_t>(end_ns_), 0});
}

size_t SegmentMatcher::memory_bytes() const {
  return matcher_.memory_bytes() + writer_.memory_bytes();
}

uint64_t SegmentMatcher::end() {
  cutter_.finish();
  return matcher_.segments();
}

namespace {

// Where a representative was first met.
struct First {
  uint64_t call = 0;
  int64_t start_ns = 0;
};

std::vector<First> first_of(const similarity::SegmentProfile& profile) {
  std::vector<First> first(profile.segments.size());
  std::vector<bool> is_known(first.size());
  const similarity::ProcessGroup& group = profile.groups[0];
  const similarity::GroupMember& member = group.members[0];
  uint64_t calls = 0;
  for (size_t i = 0; i < group.sequence.size(); ++i) {
    const uint32_t id = group.sequence[i];
    if (!is_known[id]) first[id] = {calls, member.starts_ns[i]};
    is_known[id] = true;
    // A call has two stamps.
    calls += profile.segments[id].stamps.size() / 2;
  }
  return first;
}

// The structure as all ranks know it.
bool name_anew(ProfileSegment& s, grammar::TerminalCursor& calls, const TerminalNames& names) {
  similarity::StructureKey key;
  const size_t n = s.stamps.size() / 2;
  if (calls.remaining() < n) return false;
  for (size_t i = 0; i < n; ++i) {
    const grammar::Terminal t = calls.next();
    if (t >= names.signatures.size()) return false;
    key.append(format::structure_key(
        {names.signatures[t], names.calls[t], names.marks.empty() ? nullptr : &names.marks[t]}));
  }
  s.structure = key.value();
  return true;
}

int64_t common(const format::ClockMap& clock, int64_t local_ns) {
  return static_cast<int64_t>(
      clock.to_common(static_cast<uint64_t>(std::max<int64_t>(local_ns, 0))));
}

// Starts and lengths on the common clock. Whether that began at another moment, and is the same
// otherwise.
bool set_clock(similarity::GroupMember& member, const format::ClockMap& clock) {
  bool is_shift = true;
  // By the first start: if all others move by as much, nothing has changed but where 0 is, and
  // bounds stay exact.
  const int64_t shift =
      member.starts_ns.empty() ? 0 : common(clock, member.starts_ns[0]) - member.starts_ns[0];
  for (size_t i = 0; i < member.starts_ns.size(); ++i) {
    const int64_t end = member.starts_ns[i] + member.lengths_ns[i];
    const int64_t start = common(clock, member.starts_ns[i]);
    is_shift =
        is_shift && start - member.starts_ns[i] == shift && common(clock, end) - end == shift;
    member.lengths_ns[i] = common(clock, end) - start;
    member.starts_ns[i] = start;
  }
  return is_shift;
}

// How long a second of the rank's clock is on the common one.
struct Rates {
  double least = 1, most = 1;
};

Rates rates_of(const std::vector<format::ClockPoint>& points) {
  Rates rates;
  for (size_t i = 1; i < points.size(); ++i) {
    const double rate = static_cast<double>(points[i].common_ns - points[i - 1].common_ns) /
                        static_cast<double>(points[i].local_ns - points[i - 1].local_ns);
    rates.least = i == 1 ? rate : std::min(rates.least, rate);
    rates.most = i == 1 ? rate : std::max(rates.most, rate);
  }
  return rates;
}

// Stamps as they were where the representative was first met.
void set_clock(ProfileSegment& s, const First& first, const format::ClockMap& clock) {
  const int64_t start = common(clock, first.start_ns);
  for (double& stamp : s.stamps)
    stamp =
        static_cast<double>(common(clock, first.start_ns + static_cast<int64_t>(stamp)) - start);
}

// What is known of the segments that it stands for: bounds, as these may have been longer or
// shorter by another rate, and each stamp is a whole number again.
void set_bounds(ProfileSegment& s, const Rates& rates) {
  // Bounds may be too wide but never too narrow: what the report says of errors must hold.
  for (double& value : s.cluster) value *= rates.most;
  s.shortest_ns = std::max(0.0, std::floor(s.shortest_ns * rates.least) - 1);
  const double more = s.stamps.back() * (rates.most - rates.least) + 2;
  s.error_ns = std::ceil(s.error_ns * rates.most + more) - 1;
  s.relative_error = s.relative_error * rates.most / std::max(rates.least, 0.5) +
                     more / std::max(1.0, s.shortest_ns);
}

}  // namespace

base::Result<format::RunProfile> SegmentMatcher::finish(
    uint64_t rank, uint32_t thread, const std::vector<format::ClockPoint>& points, int64_t base_ns,
    const grammar::Grammar& grammar, const TerminalNames& names) {
  auto profile = matcher_.finish(rank, thread, names_, counts_);
  // A thread without any segment.
  if (!profile.ok() || profile->profile.groups.empty()) return profile;
  const std::vector<First> first = first_of(profile->profile);
  const format::ClockMap clock(points, base_ns);
  const bool is_shift = set_clock(profile->profile.groups[0].members[0], clock);
  const Rates rates = rates_of(points);
  grammar::TerminalCursor calls(grammar);
  for (size_t i = 0; i < first.size(); ++i) {
    ProfileSegment& s = profile->profile.segments[i];
    // While the program ran, structures were named by this rank's terminals. Ranks compare them by
    // signatures of the merged trace, which are known only now.
    calls.seek(first[i].call);
    if (!name_anew(s, calls, names)) return base::fail("there are more times than calls");
    set_clock(s, first[i], clock);
    if (!is_shift) set_bounds(s, rates);
  }
  sum_groups(*profile);
  return profile;
}

}  // namespace refrain::tracer
