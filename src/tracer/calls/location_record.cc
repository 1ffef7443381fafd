#include "tracer/calls/location_record.h"

#include <algorithm>

#include "grammar/fold.h"
#include "tracer/state/gap_log.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

// Ticks -> nanoseconds.
void add_in_ns(const Process& p, const TerminalStats& s, format::DurationStats& out) {
  if (s.count == 0) return;
  const uint64_t min_ns = p.clock.to_ns(s.min_ticks), max_ns = p.clock.to_ns(s.max_ticks);
  if (out.count == 0 || min_ns < out.min_ns) out.min_ns = min_ns;
  if (out.count == 0 || max_ns > out.max_ns) out.max_ns = max_ns;
  out.count += s.count;
  const double scale = p.clock.use_counter ? p.clock.ns_per_tick : 1.0;
  out.sum_ns += static_cast<double>(s.sum_ticks) * scale;
  // A bucket of ticks goes where its geometric middle lies, and never beyond the extremes.
  constexpr double kMiddle = 1.4142135623730951;
  for (unsigned b = 0; b < TerminalStats::kBuckets; ++b) {
    if (s.histogram[b] == 0) continue;
    auto ns = static_cast<uint64_t>(static_cast<double>(uint64_t{1} << b) * kMiddle * scale);
    if (ns < min_ns) ns = min_ns;
    if (ns > max_ns) ns = max_ns;
    out.histogram.add(format::Histogram::bucket_of(ns), s.histogram[b]);
  }
}

// As add_in_ns() of one call, which there may be millions of.
void add_one(const Process& p, uint64_t ticks, format::DurationStats& to) {
  const uint64_t ns = p.clock.to_ns(ticks);
  if (to.count == 0 || ns < to.min_ns) to.min_ns = ns;
  if (to.count == 0 || ns > to.max_ns) to.max_ns = ns;
  ++to.count;
  to.sum_ns += static_cast<double>(ticks) * (p.clock.use_counter ? p.clock.ns_per_tick : 1.0);
  to.histogram.add(format::Histogram::bucket_of(ns), 1);
}

}  // namespace

void add_first_call(const Process& p, uint32_t index, format::DurationStats& to) {
  const uint64_t ticks = p.first_ticks[index];
  if (ticks != Process::kNotCalled) add_one(p, ticks, to);
}

void add_gaps(const Location& l, uint32_t index, format::DurationStats& to) {
  if (index >= l.gaps->size()) return;
  if (const uint64_t ticks = l.gaps->first(index); ticks != GapLog::kNotCalled)
    add_one(*l.process, ticks, to);
  if (const CallMemo* others = l.gaps->others(index); others != nullptr)
    add_in_ns(*l.process, others->statistics(), to);
}

void add_calls(const Location& l, uint32_t index, format::DurationStats& to) {
  if (const CallMemo* memo = l.memos.find(index); memo != nullptr)
    add_in_ns(*l.process, memo->statistics(), to);
}

void list_calls(const Process& p, size_t signatures, format::DurationList& to) {
  const bool use_counter = p.clock.use_counter;
  const double scale = use_counter ? p.clock.ns_per_tick : 1.0;
  const Location* const only = p.locations.size() == 1 ? p.locations[0] : nullptr;
  const uint64_t* const first_ticks = p.first_ticks.data();
  const size_t called = std::min(p.first_ticks.size(), signatures);
  const auto is_in_memos = [&](size_t i) {
    if (only != nullptr) return only->memos.find(i) != nullptr;
    return std::any_of(p.locations.begin(), p.locations.end(),
                       [i](const Location* l) { return l->memos.find(i) != nullptr; });
  };
  for (size_t i = 0; i < signatures; ++i) {
    const uint64_t first = i < called ? first_ticks[i] : Process::kNotCalled;
    // There may be millions of these: as add_one().
    if (first != Process::kNotCalled && !is_in_memos(i)) {
      const double ns = static_cast<double>(first) * scale;
      to.push_one(use_counter ? static_cast<uint64_t>(ns) : first, ns);
      continue;
    }
    format::DurationStats all;
    if (first != Process::kNotCalled) add_one(p, first, all);
    for (const Location* l : p.locations) add_calls(*l, static_cast<uint32_t>(i), all);
    to.push_back(all);
  }
}

grammar::Grammar last_grammar(Location& l, uint64_t* lost) {
  const uint64_t calls = l.grammar.length();
  grammar::Grammar grammar = l.grammar.finish();
  uint64_t length = 0;
  if (!grammar::checked_length(grammar, &length)) {
    grammar = grammar::Grammar();
    length = 0;
  }
  *lost = calls - length;
  l.spool.calls_before += calls;
  l.grammar = grammar::Builder();
  return grammar;
}

}  // namespace refrain::tracer
