// Statistics of durations: coded one after the other, as exactly as there is room for.
#include <algorithm>
#include <cmath>
#include <deque>

#include "format/encode/sections.h"
#include "format/encode/stat_plan.h"
#include "format/limits.h"
#include "format/quantise.h"
#include "format/stats/items.h"
#include "format/stats/model.h"
#include "format/time/range_coder.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

uint16_t code_of(double ns) {
  if (!(ns > 0)) return 0;
  return ns >= 0x1p63 ? kMaxTimeCode
                      : std::min(time_code(static_cast<uint64_t>(std::llround(ns))), kMaxTimeCode);
}

StatEntry entry_of(const TraceData& trace, const std::vector<uint64_t>& calls, const Family& f,
                   uint32_t first, uint32_t members, std::deque<DurationStats>& sums) {
  StatEntry e;
  e.item = stat_item(trace, calls, first, members);
  e.stats = &trace.durations[first];
  if (f.shares_durations) {
    DurationStats& sum = sums.emplace_back();
    for (uint32_t i = 0; i < members; ++i) add_durations(sum, trace.durations[first + i]);
    e.stats = &sum;
  }
  const DurationStats& d = *e.stats;
  e.min = std::min(time_code(d.min_ns), kMaxTimeCode);
  e.max = std::min(time_code(d.max_ns), kMaxTimeCode);
  e.mean = d.count == 0 ? e.min : code_of(d.sum_ns / static_cast<double>(d.count));
  e.mean = std::clamp(e.mean, e.min, e.max);
  // What is measured once is one number.
  if (e.item.calls == 1) e.min = e.max = e.mean;
  return e;
}

std::vector<StatEntry> entries_of(const Encoding& in, std::deque<DurationStats>& sums) {
  const std::vector<uint64_t> calls = calls_by_signature(in.trace);
  std::vector<StatEntry> entries;
  for (const Family& f : in.families) {
    const uint32_t each = f.shares_durations ? f.members : 1;
    for (uint32_t i = 0; i < f.members; i += each)
      entries.push_back(entry_of(in.trace, calls, f, f.first + i, each, sums));
  }
  return entries;
}

// The histogram of one signature, as the model wants it.
class HistogramOf {
  using Counts = std::array<uint64_t, Histogram::kBuckets>;

 public:
  HistogramOf(const StatEntry& e, unsigned grain)
      : calls_(e.item.calls - 2),
        octaves_(octaves_for(e.item.calls, grain)),
        levels_(levels_of(grain)),
        is_fine_(grain == 0) {
    for (size_t b = 0; b < Histogram::kBuckets; ++b) counts_[b / octaves_] += e.stats->histogram[b];
  }

  // Between the ends that the reader knows.
  void put(CodedStats& s) {
    first_ = Histogram::bucket_of(time_of(s.min)) / octaves_;
    last_ = Histogram::bucket_of(time_of(s.max)) / octaves_;
    keep_between_ends();
    scale(Histogram::bucket_of(time_of(s.mean)) / octaves_);
    // The bucket with the most calls has what rounding leaves: it matters least there.
    s.rest_bucket = fullest(counts_);
    s.inner = is_fine_ ? balanced(s.rest_bucket) : rounded(s.rest_bucket);
    // It still has the most, or who writes what was read would take another one.
    for (size_t b = fullest(s.inner); b != s.rest_bucket; b = fullest(s.inner)) {
      const uint64_t less = levels_[levels_.below(s.inner[b]) - 1];
      s.inner[s.rest_bucket] += s.inner[b] - less;
      s.inner[b] = less;
    }
  }

 private:
  void keep_between_ends() {
    for (size_t b = 0; b < counts_.size(); ++b) {
      const size_t to = std::clamp(b, first_, last_);
      if (to != b) counts_[to] += std::exchange(counts_[b], 0);
    }
    take_one(first_, 1);
    take_one(last_, -1);
  }
  // The call that is an end of the histogram; from the next bucket that has one.
  void take_one(size_t from, int step) {
    for (size_t b = from, n = last_ - first_ + 1; n > 0; --n, b += static_cast<size_t>(step)) {
      if (counts_[b] == 0) continue;
      --counts_[b];
      return;
    }
  }
  // As many calls as the grammars have, where that differs; all in one bucket where none is known.
  void scale(size_t of_mean) {
    uint64_t all = 0;
    for (size_t b = first_; b <= last_; ++b) all += counts_[b];
    if (all == calls_) return;
    if (all == 0) {
      counts_[std::clamp(of_mean, first_, last_)] = calls_;
      return;
    }
    const double factor = static_cast<double>(calls_) / static_cast<double>(all);
    for (size_t b = first_; b <= last_; ++b)
      counts_[b] = std::min(whole_of(static_cast<double>(counts_[b]) * factor), calls_);
  }

  size_t fullest(const Counts& counts) const {
    size_t most = first_;
    for (size_t b = first_; b <= last_; ++b)
      if (counts[b] > counts[most]) most = b;
    return most;
  }

  // Each the nearest level.
  Counts rounded(size_t rest) const {
    Counts out{};
    uint64_t left = calls_;
    for (size_t b = first_; b <= last_; ++b) {
      if (b != rest) take(levels_.nearest(counts_[b]), b, out, left);
    }
    out[rest] = left;
    return out;
  }
  // From the least to the greatest the level below or above, whichever makes up for the errors
  // before: so the last one's is all that is left.
  Counts balanced(size_t rest) const {
    Counts out{};
    uint64_t left = calls_;
    std::array<size_t, Histogram::kBuckets> order;
    size_t n = 0;
    for (size_t b = first_; b <= last_; ++b)
      if (b != rest) order[n++] = b;
    std::stable_sort(order.data(), order.data() + n,
                     [&](size_t a, size_t b) { return counts_[a] < counts_[b]; });
    int64_t off = 0;
    for (size_t i = 0; i < n; ++i) {
      const size_t b = order[i];
      const size_t below = levels_.below(counts_[b]);
      const auto down = off - static_cast<int64_t>(counts_[b] - levels_[below]);
      const bool is_level = levels_[below] == counts_[b] || below + 1 == levels_.size();
      const auto up = is_level ? 0 : off + static_cast<int64_t>(levels_[below + 1] - counts_[b]);
      const bool goes_up = !is_level && std::abs(up) < std::abs(down);
      take(below + (goes_up ? 1 : 0), b, out, left);
      off = goes_up ? up : down;
    }
    out[rest] = left;
    return out;
  }
  // No more calls in all buckets than there are.
  void take(size_t level, size_t bucket, Counts& out, uint64_t& left) const {
    while (levels_[level] > left) --level;
    out[bucket] = levels_[level];
    left -= out[bucket];
  }

  const uint64_t calls_;
  const unsigned octaves_;
  const CountLevels& levels_;
  const bool is_fine_;
  size_t first_ = 0, last_ = 0;
  Counts counts_{};
};

std::string coded(const std::vector<StatEntry>& entries, StatPrecision precision) {
  const std::vector<StatNumbers> numbers = plan_statistics(entries, precision);
  std::string bytes;
  StatModel model;
  model.reset(entries.size(), precision);
  RangeEncoder coder(bytes);
  for (size_t i = 0; i < entries.size(); ++i) {
    const StatEntry& e = entries[i];
    if (e.item.calls == 0) continue;
    CodedStats s;
    static_cast<StatNumbers&>(s) = numbers[i];
    if (e.item.calls > 2) HistogramOf(e, precision.grain).put(s);
    model.code(coder, e.item, s);
  }
  coder.finish();
  return bytes;
}

// Statistics and how they are coded.
struct Best {
  StatPrecision precision;
  std::string bytes;
};

// The first of `steps` that is not finer than what the statistics were read with, and fits. So what
// was read is written as the same bytes again: nothing becomes finer, and nothing gets more room.
template <size_t N>
Best first_that_fits(const std::vector<StatEntry>& entries, StatPrecision read,
                     const StatPrecision (&steps)[N], uint64_t room, uint64_t exact_bytes) {
  size_t at = std::find(steps, steps + N, read) - steps;
  if (at == N) at = 0;
  Best best;
  for (; at < N; ++at) {
    const StatPrecision& step = steps[at];
    // Each takes as long as the first: not those that cannot be enough.
    if (exact_bytes > 0 && step.grain == 2 && !(step == read) &&
        exact_bytes > room + bits_saved(entries, step.mantissa_bits) / 8)
      continue;
    best = {step, coded(entries, step)};
    if (best.bytes.size() <= room) break;
  }
  return best;
}

// Of few, in a room that is theirs whatever they are.
Best coded_few(const std::vector<StatEntry>& entries, StatPrecision read, uint64_t room) {
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
  return first_that_fits(entries, read, kSteps, room, 0);
}

// Every so many entries a piece of them: about as many as the model learns from.
std::vector<StatEntry> sample_of(const std::vector<StatEntry>& entries) {
  constexpr size_t kPieces = 16, kPiece = 128;
  std::vector<StatEntry> sample;
  for (size_t i = 0; i < kPieces; ++i) {
    const size_t begin = (entries.size() - kPiece) / (kPieces - 1) * i;
    sample.insert(sample.end(), entries.begin() + static_cast<ptrdiff_t>(begin),
                  entries.begin() + static_cast<ptrdiff_t>(begin + kPiece));
  }
  return sample;
}

uint64_t called(const std::vector<StatEntry>& entries) {
  return static_cast<uint64_t>(std::count_if(entries.begin(), entries.end(),
                                             [](const StatEntry& e) { return e.item.calls > 0; }));
}

// Where statistics are as exact as they were measured: the step that may be the first to fit. To
// code all takes thousands of instructions each, so of very many a sample says it; of fewer the
// model learns less, and so they take no fewer bytes each.
template <size_t N>
StatPrecision likely_step(const std::vector<StatEntry>& entries, StatPrecision finest,
                          const StatPrecision (&steps)[N], uint64_t room) {
  const std::vector<StatEntry> sample = sample_of(entries);
  const uint64_t all = called(entries), few = called(sample);
  const auto fits = [&](StatPrecision step) {
    return coded(sample, step).size() * all <= room * few;
  };
  if (fits(finest)) return finest;
  for (const StatPrecision& step : steps)
    if (fits(step)) return step;
  return steps[N - 1];
}

// Of many, in three bytes each: first the numbers become less exact, then the histograms.
Best coded_many(const std::vector<StatEntry>& entries, StatPrecision read, uint64_t room) {
  constexpr StatPrecision kSteps[] = {{8, 2}, {7, 2}, {6, 2}, {6, 3}, {5, 3}, {4, 3}, {3, 3}};
  const StatPrecision finest{kMostMantissaBits, 2};
  constexpr size_t kVeryMany = 8192;
  if (read.mantissa_bits == kMostMantissaBits && entries.size() >= kVeryMany)
    read = likely_step(entries, finest, kSteps, room);
  uint64_t exact_bytes = 0;
  if (read.mantissa_bits == kMostMantissaBits) {
    Best best{finest, coded(entries, finest)};
    if (best.bytes.size() <= room) return best;
    exact_bytes = best.bytes.size();
  }
  return first_that_fits(entries, read, kSteps, room, exact_bytes);
}

}  // namespace

void write_durations(Encoding& in, ByteWriter& out) {
  std::deque<DurationStats> sums;
  const std::vector<StatEntry> entries = entries_of(in, sums);
  uint64_t items = 0, room = kRoomOfSection;
  for (const StatEntry& e : entries) {
    items += e.item.calls > 0 ? 1 : 0;
    room += room_for(e.item.calls);
  }
  Best best;
  uint64_t padding = 0;
  if (items > 0 && items < kFewItems) {
    best = coded_few(entries, in.trace.durations_precision, room);
    padding = room - std::min<uint64_t>(room, best.bytes.size());
  } else if (items > 0) {
    best = coded_many(entries, in.trace.durations_precision, kRoomOfSection + kRoomOfMany * items);
    const uint64_t least = items / kMaxStatisticsPerByte;
    padding = least - std::min<uint64_t>(least, best.bytes.size());
  }
  out.put_u8(static_cast<uint8_t>(best.precision.mantissa_bits));
  out.put_u8(static_cast<uint8_t>(best.precision.grain));
  out.put_u16(static_cast<uint16_t>(padding));
  out.put_bytes(best.bytes.data(), best.bytes.size());
  for (uint64_t i = 0; i < padding; ++i) out.put_u8(0);
}

}  // namespace refrain::format
