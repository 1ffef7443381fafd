// Codes the statistics of very many signatures with a few calls each: whole symbols instead of
// bits, with a table selected by properties of the signature. It takes hundreds of instructions per
// signature, where StatModel (model.h) takes thousands, and half a byte more. docs/format.md,
// Durations, is the normative text.
//
// One code for both directions, as there.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "format/codes/quantise.h"
#include "format/histogram.h"
#include "format/stats/grain.h"
#include "format/stats/model.h"
#include "format/stats/symbol_table.h"

namespace refrain::format {

class QuickStatModel {
 public:
  // Of signatures that were called so often in all, this one is for statistics.
  static bool is_for(uint64_t items, uint64_t calls) {
    constexpr uint64_t kManyItems = 8192, kFewCalls = 32;
    return items >= kManyItems && calls / kFewCalls < items;
  }

  explicit QuickStatModel(StatPrecision precision)
      : precision_(precision),
        ranges_(precision.mantissa_bits),
        low_(precision.mantissa_bits - kModelledBits),
        short_highs_((kShortOctave + 1 - precision.mantissa_bits) << kModelledBits),
        lows_(2 * short_highs_, SymbolTable(1u << low_)) {}

  // First all items that were called, in order.
  void see(const StatItem& item) {
    ++place(item, true);
    ++place(item, false);
  }
  // Then all of them again. As StatModel::code().
  template <class Coder>
  bool code(Coder& coder, const StatItem& item, CodedStats& s) {
    Tables& tables = tables_of(item);
    const uint32_t flags = tables.flags.code(
        coder, (s.fine_min ? 1u : 0u) | (s.fine_mean ? 2u : 0u) | (s.fine_max ? 4u : 0u));
    s.fine_min = (flags & 1) != 0, s.fine_mean = (flags & 2) != 0, s.fine_max = (flags & 4) != 0;
    const uint32_t least = range_of(s.min), high = tables.min.code(coder, least >> low_);
    const uint32_t min = number(coder, 0, high, least);
    if (!settle(coder, min, s.fine_min, s.min)) return false;
    if (item.calls == 1) {
      s.max = s.mean = s.min;
      return true;
    }
    const uint32_t greatest = range_of(s.max);
    const uint32_t above = tables.max.code(coder, (greatest >> low_) - high);
    if (high + above > ranges_.last() >> low_) return false;
    const uint32_t max = number(coder, 1, high + above, greatest);
    if (!settle(coder, max, s.fine_max, s.max)) return false;
    s.max = std::max(s.max, s.min);
    if (item.calls == 2) {
      const uint64_t ns = time_of(s.min);
      s.mean = time_code(ns + (time_of(s.max) - ns) / 2);
      return true;
    }
    return histogram(coder, item.calls, s) && mean(coder, tables, min, std::max(min, max), s);
  }

 private:
  static constexpr unsigned kModelledBits = 3;
  static_assert(kModelledBits <= kLeastMantissaBits);
  // Clocks have steps: of a time below 2^11 ns the lower bits are a symbol as well.
  static constexpr unsigned kShortOctave = 11;
  // As large as the number of the last range can be, in modelled bits.
  static constexpr uint32_t kHighs = (65u << kModelledBits) + 8, kFlags = 8, kParts = 16;
  static constexpr uint32_t kLevels = 32, kBuckets = Histogram::kBuckets;
  static constexpr size_t kSpans = 4, kSizes = 8;
  struct Tables {
    SymbolTable flags{kFlags}, min{kHighs}, max{kHighs}, mean{kParts};
  };

  // ---- which tables ----

  struct Class {
    uint32_t items = 0;
    Tables* tables = nullptr;
  };
  static uint64_t calls_of(const StatItem& item) { return std::min<uint64_t>(item.calls, 4); }
  static uint64_t key_of(const StatItem& item, bool has_site) {
    return uint64_t{has_site ? item.site : 0} | uint64_t{item.call_id} << 32 |
           uint64_t{item.size} << 48 | calls_of(item) << 56 | (has_site ? uint64_t{1} << 63 : 0);
  }
  uint32_t& place(const StatItem& item, bool has_site) {
    Last& last = last_[has_site ? 1 : 0];
    const uint64_t key = key_of(item, has_site);
    if (last.found == nullptr || last.key != key) last = {key, &classes_[key]};
    return last.found->items;
  }
  // Those of the same size from the same site where there are many, else those of the size.
  Tables& tables_of(const StatItem& item) {
    for (const bool has_site : {true, false}) {
      if (place(item, has_site) < kManyOfClass) continue;
      Class& own = *last_[has_site ? 1 : 0].found;
      if (own.tables == nullptr && all_.size() < kMostTables)
        own.tables = all_.emplace_back(std::make_unique<Tables>()).get();
      if (own.tables != nullptr) return *own.tables;
    }
    std::unique_ptr<Tables>& rest = of_rest_[calls_of(item)];
    if (rest == nullptr) rest = std::make_unique<Tables>();
    return *rest;
  }

  // ---- numbers ----

  uint32_t range_of(uint16_t code) const { return ranges_.range_of(time_of(code)); }
  // The range whose upper bits are known.
  template <class Coder>
  uint32_t number(Coder& coder, size_t kind, uint32_t high, uint32_t value) {
    const uint32_t low = value & ((1u << low_) - 1);
    const uint64_t found = high < short_highs_ ? lows_[kind * short_highs_ + high].code(coder, low)
                                               : coder.raw(low_, low);
    return high << low_ | static_cast<uint32_t>(found);
  }

  // The time code in a range.
  template <class Coder>
  bool settle(Coder& coder, uint32_t range, bool is_fine, uint16_t& code) {
    if (range > ranges_.last()) return false;
    const unsigned left = ranges_.fine_bits(range);
    if (left == 0 || !is_fine) {
      code = time_code(left == 0 ? ranges_.begin(range) : ranges_.middle(range));
      return code <= kMaxTimeCode;
    }
    const uint64_t begin = ranges_.begin(range), ns = time_of(code);
    const unsigned shift = (range >> ranges_.bits()) - 1 - left;
    const uint64_t low = coder.raw(left, (ns - begin) >> shift & ((uint64_t{1} << left) - 1));
    code = time_code(begin + (low << shift));
    return code <= kMaxTimeCode;
  }

  template <class Coder>
  bool histogram(Coder& coder, uint64_t all_calls, CodedStats& s) {
    const uint64_t calls = all_calls - 2;
    const unsigned octaves = octaves_for(all_calls, precision_.grain);
    const size_t first = Histogram::bucket_of(time_of(s.min)) / octaves,
                 last = Histogram::bucket_of(time_of(s.max)) / octaves;
    if (first == last) {
      s.inner[first] = calls;
      s.rest_bucket = first;
      return true;
    }
    const CountLevels& levels = levels_of(precision_.grain);
    const auto rest = static_cast<uint32_t>(s.rest_bucket - first);
    s.rest_bucket = first + rest_[std::min(last - first, kSpans) - 1].code(coder, rest % kBuckets);
    if (s.rest_bucket > last) return false;
    SymbolTable& table = levels_[std::min<size_t>(std::bit_width(calls), kSizes) - 1];
    uint64_t left = calls;
    for (size_t b = first; b <= last; ++b) {
      if (b == s.rest_bucket) continue;
      const size_t wanted = levels.nearest(s.inner[b]);
      size_t level =
          table.code(coder, static_cast<uint32_t>(std::min<size_t>(wanted, kLevels - 1)));
      if (level == kLevels - 1) level = coder.raw(kLevelBits, wanted);
      if (level >= levels.size() || levels[level] > left) return false;
      s.inner[b] = levels[level];
      left -= levels[level];
    }
    s.inner[s.rest_bucket] = left;
    return true;
  }

  // Where it lies between the shortest and the longest: in which sixteenth, and where in that.
  template <class Coder>
  bool mean(Coder& coder, Tables& tables, uint32_t min, uint32_t max, CodedStats& s) {
    const uint32_t span = max - min + 1;
    uint32_t at = 0;
    if (span > 1) {
      const uint32_t wanted = std::clamp(range_of(s.mean), min, max) - min;
      const uint32_t part = tables.mean.code(coder, wanted * kParts / span);
      const uint32_t begin = (part * span + kParts - 1) / kParts;
      const uint32_t end = ((part + 1) * span + kParts - 1) / kParts;
      if (begin >= end) return false;
      at = begin + coder.uniform(end - begin, wanted - begin);
    }
    if (!settle(coder, min + at, s.fine_mean, s.mean)) return false;
    s.mean = std::clamp(s.mean, s.min, s.max);
    return true;
  }

  static constexpr uint32_t kManyOfClass = 1024;
  static constexpr size_t kMostTables = 64;
  static constexpr unsigned kLevelBits = 10;

  StatPrecision precision_;
  CodeRanges ranges_;
  const unsigned low_;  // bits of a range's number that are not modelled with the others
  const uint32_t short_highs_;
  std::vector<SymbolTable> lows_;  // of minima, then of maxima, by the bits above
  struct Last {
    uint64_t key = 0;
    Class* found = nullptr;
  };
  std::unordered_map<uint64_t, Class> classes_;
  std::array<Last, 2> last_;
  std::vector<std::unique_ptr<Tables>> all_;
  std::array<std::unique_ptr<Tables>, 5> of_rest_;
  std::vector<SymbolTable> rest_ = std::vector<SymbolTable>(kSpans, SymbolTable(kBuckets));
  std::vector<SymbolTable> levels_ = std::vector<SymbolTable>(kSizes, SymbolTable(kLevels));
};

}  // namespace refrain::format
