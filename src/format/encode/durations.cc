// Statistics of durations, and of gaps between calls: coded one after the other, as exactly as
// there is room for.
#include <algorithm>
#include <cmath>
#include <deque>

#include "format/codes/quantise.h"
#include "format/encode/section_writers.h"
#include "format/encode/stat_histogram.h"
#include "format/encode/stat_plan.h"
#include "format/limits.h"
#include "format/stats/items.h"
#include "format/stats/model.h"
#include "format/stats/quick_model.h"
#include "format/time/range_coder.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

uint16_t code_of(double ns) {
  if (!(ns > 0)) return 0;
  return ns >= 0x1p63 ? kMaxTimeCode
                      : std::min(time_code(static_cast<uint64_t>(std::llround(ns))), kMaxTimeCode);
}

StatEntry entry_of(const StatItem& item, DurationStats d) {
  StatEntry e;
  e.item = item;
  e.min = std::min(time_code(d.min_ns), kMaxTimeCode);
  e.max = std::min(time_code(d.max_ns), kMaxTimeCode);
  e.mean = d.count == 0 ? e.min : code_of(d.sum_ns / static_cast<double>(d.count));
  e.mean = std::clamp(e.mean, e.min, e.max);
  // What is measured once is one number.
  if (e.item.calls == 1) e.min = e.max = e.mean;
  if (e.item.calls > 2) e.histogram = std::move(d.histogram);
  return e;
}

// The statistics of all signatures, from the first on; `own`: they are nobody's afterwards, and
// freed on the way.
class InOrder {
 public:
  InOrder(const std::deque<DurationStats>& all, std::deque<DurationStats>* own)
      : all_(all), own_(own) {}
  DurationStats next() {
    if (own_ == nullptr) return all_[at_++];
    DurationStats d = std::move(own_->front());
    own_->pop_front();
    return d;
  }

 private:
  const std::deque<DurationStats>& all_;
  std::deque<DurationStats>* const own_;
  size_t at_ = 0;
};

StatEntries entries_of(const Encoding& in, InOrder all) {
  const std::vector<uint64_t> calls = calls_by_signature(in.trace);
  StatEntries entries;
  for (const Family& f : in.families) {
    const uint32_t each = f.shares_durations ? f.members : 1;
    for (uint32_t i = 0; i < f.members; i += each) {
      DurationStats d = all.next();
      if (each > 1) {
        DurationStats sum;
        add_durations(sum, d);
        for (uint32_t k = 1; k < each; ++k) add_durations(sum, all.next());
        d = std::move(sum);
      }
      entries.push_back(entry_of(stat_item(in.trace, calls, f.first + i, each), std::move(d)));
    }
  }
  return entries;
}

template <class Model>
std::string coded_by(Model& model, const StatEntries& entries, StatPrecision precision) {
  const std::vector<StatNumbers> numbers = plan_statistics(entries, precision);
  std::string bytes;
  RangeEncoder coder(bytes);
  CodedStats s;
  for (size_t i = 0; i < entries.size(); ++i) {
    const StatEntry& e = entries[i];
    if (e.item.calls == 0) continue;
    static_cast<StatNumbers&>(s) = numbers.empty() ? exact_numbers(e) : numbers[i];
    if (e.item.calls > 2) HistogramOf(e, precision.grain).put(s);
    model.code(coder, e.item, s);
  }
  coder.finish();
  return bytes;
}

std::string coded(const StatEntries& entries, StatPrecision precision) {
  if (precision.is_quick) {
    QuickStatModel model(precision);
    for (const StatEntry& e : entries)
      if (e.item.calls > 0) model.see(e.item);
    return coded_by(model, entries, precision);
  }
  StatModel model;
  model.reset(entries.size(), precision);
  return coded_by(model, entries, precision);
}

// Statistics and how they are coded.
struct Best {
  StatPrecision precision;
  std::string bytes;
};

// The first of `steps` that is not finer than what the statistics were read with, and fits. So what
// was read is written as the same bytes again: nothing becomes finer, and nothing gets more room.
template <size_t N>
Best first_that_fits(const StatEntries& entries, StatPrecision read,
                     const StatPrecision (&steps)[N], uint64_t room) {
  size_t at = std::find(steps, steps + N, read) - steps;
  if (at == N) at = 0;
  Best best;
  for (; at < N; ++at) {
    best = {steps[at], coded(entries, steps[at])};
    if (best.bytes.size() <= room) break;
  }
  return best;
}

// Of few, in a room that is theirs whatever they are.
Best coded_few(const StatEntries& entries, StatPrecision read, uint64_t room) {
  constexpr StatPrecision kSteps[] = {{10, 2}, {9, 2}, {8, 2}, {7, 2}, {6, 2}, {5, 2},
                                      {5, 3},  {5, 4}, {4, 4}, {4, 5}, {3, 5}, {3, 6}};
  constexpr uint64_t kFewCalls = 32;
  const bool is_fine = std::all_of(entries.begin(), entries.end(),
                                   [](const StatEntry& e) { return e.item.calls <= kFewCalls; });
  const StatPrecision finest{kMostMantissaBits, is_fine ? 0u : 1u};
  if (read.mantissa_bits == kMostMantissaBits && read.grain < 2) {
    Best best{finest, coded(entries, finest)};
    if (best.bytes.size() <= room) return best;
  }
  return first_that_fits(entries, read, kSteps, room);
}

// Every so many entries a piece of them.
StatEntries sample_of(const StatEntries& entries, size_t piece) {
  constexpr size_t kPieces = 16;
  StatEntries sample;
  for (size_t i = 0; i < kPieces; ++i) {
    const size_t begin = (entries.size() - piece) / (kPieces - 1) * i;
    sample.insert(sample.end(), entries.begin() + static_cast<ptrdiff_t>(begin),
                  entries.begin() + static_cast<ptrdiff_t>(begin + piece));
  }
  return sample;
}

uint64_t called(const StatEntries& entries) {
  return static_cast<uint64_t>(std::count_if(entries.begin(), entries.end(),
                                             [](const StatEntry& e) { return e.item.calls > 0; }));
}

// What a coding of many will take, from a coding of few of them. To code all takes thousands of
// instructions each, and in MPI_Finalize the other ranks wait for it. The model learns less from
// few, so they take more bytes each: by about the same factor whatever the precision, which the
// first coding of all says.
class Forecast {
 public:
  explicit Forecast(const StatEntries& entries, double learnt)
      : sample_(sample_of(entries, std::clamp<size_t>(entries.size() / 128, 1, 128))),
        factor_(static_cast<double>(called(entries)) /
                static_cast<double>(std::max<uint64_t>(called(sample_), 1)) * learnt) {}

  double bytes(StatPrecision step) { return of_sample(step) * factor_; }
  // All took so many bytes.
  void learn(StatPrecision step, size_t bytes) {
    factor_ = static_cast<double>(bytes) / of_sample(step);
  }

 private:
  double of_sample(StatPrecision step) {
    for (const auto& [known, bytes] : known_)
      if (known == step) return bytes;
    known_.emplace_back(step, static_cast<double>(coded(sample_, step).size()));
    return known_.back().second;
  }

  const StatEntries sample_;
  double factor_;
  std::vector<std::pair<StatPrecision, double>> known_;
};

// The first of `steps` that fits, where statistics are as exact as they were measured. Mostly by
// one or two codings: a step that would be found by coding all with each may be missed by one where
// it leaves no more room than the forecast is wrong. Of very many, one coding: some of the room is
// left instead.
template <size_t N>
Best likely_first_that_fits(const StatEntries& entries, const StatPrecision (&steps)[N],
                            uint64_t room) {
  constexpr size_t kVeryMany = 8192;
  constexpr double kLearnt = 1 / 1.19;  // an eighth of a few thousand takes this much more, each
  const bool are_few = entries.size() < kVeryMany;
  Forecast forecast(entries, are_few ? kLearnt : 1);
  // The first that should fit, of `from` and those behind it; or the last.
  const auto next = [&](size_t from) {
    size_t end = N - 1;
    while (from < end) {
      const size_t middle = (from + end) / 2;
      if (forecast.bytes(steps[middle]) > static_cast<double>(room))
        from = middle + 1;
      else
        end = middle;
    }
    return from;
  };
  Best best;
  size_t least = 0;  // steps before it do not fit
  for (size_t at = next(0);;) {
    Best tried{steps[at], coded(entries, steps[at])};
    forecast.learn(steps[at], tried.bytes.size());
    const bool fits = tried.bytes.size() <= room;
    if (fits || best.bytes.empty() || best.bytes.size() > room) best = std::move(tried);
    if (!fits) {
      if (at + 1 == N || best.bytes.size() <= room) return best;
      least = at + 1;
      at = next(least);
      continue;
    }
    if (!are_few || at == least || next(at - 1) != at - 1) return best;
    --at;
  }
}

// Of many, in three bytes each: first the numbers become less exact, then the histograms.
Best coded_many(const StatEntries& entries, StatPrecision read, uint64_t room) {
  constexpr StatPrecision kSteps[] = {
      {kMostMantissaBits, 2}, {8, 2}, {7, 2}, {6, 2}, {6, 3}, {5, 3}, {4, 3}, {3, 3}};
  if (read.mantissa_bits == kMostMantissaBits) return likely_first_that_fits(entries, kSteps, room);
  return first_that_fits(entries, read, kSteps, room);
}

// Of very many that were called a few times each, in the same room. A sample says which bits of the
// mantissa there is room for: those that nothing predicts are known.
Best coded_quickly(const StatEntries& entries, StatPrecision read, uint64_t room) {
  constexpr size_t kPiece = 512;
  Best best{{kMostMantissaBits, 2, true}, {}};
  StatPrecision& p = best.precision;
  if (read.is_quick) {
    p = read;
  } else {
    const StatEntries sample = sample_of(entries, kPiece);
    const uint64_t bytes = coded(sample, p).size(), few = called(sample), all = called(entries);
    const auto fits = [&] {
      return (bytes - std::min(bytes, bits_saved(sample, p.mantissa_bits) / 8)) * all <= room * few;
    };
    while (p.mantissa_bits > kLeastMantissaBits && !fits()) --p.mantissa_bits;
  }
  for (;; --p.mantissa_bits) {
    best.bytes = coded(entries, p);
    if (best.bytes.size() <= room || p.mantissa_bits == kLeastMantissaBits) return best;
  }
}

bool is_quick(const StatEntries& entries, StatPrecision read, uint64_t items) {
  if (read.is_quick) return true;
  uint64_t calls = 0;
  for (const StatEntry& e : entries) calls += std::min<uint64_t>(e.item.calls, UINT32_MAX);
  // What was read from a file as it was coded then is coded so again.
  return read.grain == 0 && QuickStatModel::is_for(items, calls);
}

void write_statistics(const Encoding& in, InOrder all, StatPrecision read, ByteWriter& out) {
  const StatEntries entries = entries_of(in, all);
  uint64_t items = 0, room = kRoomOfSection;
  for (const StatEntry& e : entries) {
    items += e.item.calls > 0 ? 1 : 0;
    room += room_for(e.item.calls);
  }
  Best best;
  uint64_t padding = 0;
  if (items > 0 && items < kFewItems) {
    best = coded_few(entries, read, room);
    padding = room - std::min<uint64_t>(room, best.bytes.size());
  } else if (items > 0) {
    const auto code = is_quick(entries, read, items) ? coded_quickly : coded_many;
    best = code(entries, read, kRoomOfSection + kRoomOfMany * items);
    const uint64_t least = items / kMaxStatisticsPerByte;
    padding = least - std::min<uint64_t>(least, best.bytes.size());
  }
  out.put_u8(static_cast<uint8_t>(best.precision.mantissa_bits |
                                  (best.precision.is_quick ? kQuickBit : 0)));
  out.put_u8(static_cast<uint8_t>(best.precision.grain));
  out.put_u16(static_cast<uint16_t>(padding));
  out.put_bytes(best.bytes.data(), best.bytes.size());
  for (uint64_t i = 0; i < padding; ++i) out.put_u8(0);
}

}  // namespace

void write_durations(Encoding& in, ByteWriter& out) {
  write_statistics(in, {in.trace.durations, in.own ? &in.own->durations : nullptr},
                   in.trace.durations_precision, out);
}

void write_gaps(Encoding& in, ByteWriter& out) {
  if (in.trace.gaps.empty()) return;
  write_statistics(in, {in.trace.gaps, in.own ? &in.own->gaps : nullptr}, in.trace.gaps_precision,
                   out);
}

}  // namespace refrain::format
