// Codes the statistics of one signature's durations, given its number of calls, its function, its
// call site, and the statistics of other signatures. docs/format.md, Durations, is the normative
// text.
//
// One code for both directions: Coder is a RangeEncoder, which returns what it is given, or a
// RangeDecoder, which returns what it reads. Both continue with the value in the file.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "format/codes/quantise.h"
#include "format/histogram.h"
#include "format/stats/grain.h"
#include "format/stats/mixed_bits.h"
#include "format/time/model.h"

namespace refrain::format {

// What is known of an item before its statistics.
struct StatItem {
  uint64_t calls = 0;
  uint32_t call_id = 0;
  uint32_t site = 0;  // twice its definition; of a table of sites twice its number, and 1
  uint8_t size = 0;   // bit width of what is mostly a number of elements
};

// Time codes. One that is not fine stands for a range of codes.
struct StatNumbers {
  uint16_t min = 0, mean = 0, max = 0;
  bool fine_min = true, fine_mean = true, fine_max = true;
};

// Statistics as they are coded. Of three calls and more a histogram: the calls but one of the
// shortest and one of the longest, by bucket.
struct CodedStats : StatNumbers {
  // The bucket whose count follows from those of all others.
  size_t rest_bucket = 0;
  std::array<uint64_t, Histogram::kBuckets> inner{};  // as wide as octaves_for() says
};

// Ranges of time codes: those with the same leading bits of the mantissa. With all ten of them a
// range is one code.
class CodeRanges {
 public:
  explicit CodeRanges(unsigned mantissa_bits) : bits_(mantissa_bits) {}
  unsigned bits() const { return bits_; }
  // The number of the range that a time is in; ascending.
  uint32_t range_of(uint64_t ns) const {
    if (ns >> bits_ == 0) return static_cast<uint32_t>(ns);
    const auto shift = static_cast<uint32_t>(std::bit_width(ns)) - 1 - bits_;
    return ((shift + 1) << bits_) + static_cast<uint32_t>((ns >> shift) - (uint64_t{1} << bits_));
  }
  uint64_t begin(uint32_t range) const {
    const uint32_t shift = range >> bits_, m = range & ((1u << bits_) - 1);
    return shift == 0 ? m : ((uint64_t{1} << bits_) + m) << (shift - 1);
  }
  uint32_t last() const { return (65u - bits_) << bits_ | ((1u << bits_) - 1); }
  // How many bits more tell a time code of the range.
  unsigned fine_bits(uint32_t range) const {
    const uint32_t shift = range >> bits_;
    return shift < 2 ? 0 : std::min(shift - 1, kMostMantissaBits - bits_);
  }
  uint64_t middle(uint32_t range) const {
    const uint32_t shift = range >> bits_;
    return begin(range) + (shift < 2 ? 0 : uint64_t{1} << (shift - 2));
  }

 private:
  unsigned bits_;
};

class StatModel {
 public:
  // For so many items.
  void reset(size_t items, StatPrecision precision) {
    bits_.reset(items, kKinds);
    pools_.clear();
    precision_ = precision;
    ranges_ = CodeRanges(precision.mantissa_bits);
  }

  // `item` was called at least once. Encoding: `s` as it should be; it becomes what a reader makes
  // of it. False: what is read makes no statistics.
  template <class Coder>
  bool code(Coder& coder, const StatItem& item, CodedStats& s) {
    know(item);
    const uint32_t once = item.calls == 1 ? 1 : 0;
    std::array<uint32_t, 3> own = {time_hash(site_ + once), time_hash(size_ + once),
                                   time_hash(function_ + once)};
    if (!time(coder, kMinOctave, own, s.min, s.fine_min)) return false;
    if (item.calls == 1) {
      s.max = s.mean = s.min;
      return true;
    }
    const uint32_t octave = static_cast<uint32_t>(std::bit_width(time_of(s.min)));
    for (uint32_t& c : own) c = time_hash(c + 1 + octave);
    if (!time(coder, kMaxOctave, own, s.max, s.fine_max)) return false;
    s.max = std::max(s.max, s.min);
    if (item.calls == 2) {
      const uint64_t least = time_of(s.min);
      s.mean = time_code(least + (time_of(s.max) - least) / 2);
      return true;
    }
    if (!histogram(coder, s)) return false;
    return mean(coder, s);
  }

 private:
  enum Kind : size_t {
    kMinOctave,
    kMinMantissa,
    kMaxOctave,
    kMaxMantissa,
    kFine,
    kRest,
    kCount,
    kMean,
    kMeanPart,
    kKinds
  };
  static constexpr unsigned kOctaveBits = 7;
  // Of a time below 2^11 ns all bits have probabilities, of a longer one so many.
  static constexpr unsigned kShortOctave = 11, kModelledBits = 3;
  __extension__ using Wide = unsigned __int128;

  // What is alike in all contexts of an item: with its site, with its size, or its function alone.
  void know(const StatItem& item) {
    calls_ = item.calls;
    const auto of = [&](uint32_t salt, uint32_t which) {
      return time_hash(time_hash(salt + 8 * item.call_id) + which);
    };
    site_ = of(1, item.site), size_ = of(2, item.size), function_ = of(3, 0);
  }

  // A time: how many bits it has, those of its mantissa, and if it is fine those that are left.
  template <class Coder>
  bool time(Coder& coder, Kind kind, const std::array<uint32_t, 3>& contexts, uint16_t& code,
            bool& is_fine) {
    const uint64_t ns = time_of(code);
    const auto octave =
        tree(coder, kind, contexts, kOctaveBits, static_cast<uint32_t>(std::bit_width(ns)));
    if (octave > 64) return false;
    const unsigned bits = octave < 2 ? 0 : std::min(octave - 1, precision_.mantissa_bits);
    const auto mantissa_kind = static_cast<Kind>(kind + 1);
    const std::array<uint32_t, 2> own = {time_hash(site_ + 0x10000u * mantissa_kind + octave),
                                         time_hash(0x10000u + octave)};
    const unsigned modelled = octave <= kShortOctave ? bits : std::min(bits, kModelledBits);
    uint32_t node = octave == 0 ? 0 : 1;
    for (unsigned i = 1; i <= modelled; ++i)
      node = 2 * node + static_cast<uint32_t>(bits_.bit(coder, mantissa_kind, own, node,
                                                        (ns >> (octave - 1 - i) & 1) != 0));
    if (bits > modelled) {
      const unsigned left = bits - modelled;
      const uint64_t low = ns >> (octave - 1 - bits) & ((uint64_t{1} << left) - 1);
      node = node << left | static_cast<uint32_t>(coder.raw(left, low));
    }
    const uint32_t range =
        octave == 0 ? 0 : ranges_.range_of(uint64_t{node} << (octave - 1 - bits));
    code = settle(coder, kind, range, ns, is_fine);
    return code <= kMaxTimeCode;
  }

  // The time code in a range.
  template <class Coder>
  uint16_t settle(Coder& coder, Kind kind, uint32_t range, uint64_t ns, bool& is_fine) {
    const unsigned left = ranges_.fine_bits(range);
    if (left == 0) {
      is_fine = true;
      return time_code(ranges_.begin(range));
    }
    const std::array<uint32_t, 2> contexts = {time_hash(site_ + 0x100u * (kind + 1)),
                                              time_hash(0x20000u + kind)};
    is_fine = bits_.bit(coder, kFine, contexts, 1, is_fine);
    if (!is_fine) return time_code(ranges_.middle(range));
    const uint64_t begin = ranges_.begin(range);
    const auto shift = static_cast<unsigned>(std::bit_width(ranges_.middle(range) - begin)) - left;
    const uint64_t low = coder.raw(left, (ns - begin) >> shift & ((uint64_t{1} << left) - 1));
    return time_code(begin + (low << shift));
  }

  template <class Coder, size_t N>
  uint32_t tree(Coder& coder, Kind kind, const std::array<uint32_t, N>& contexts, unsigned bits,
                uint32_t value) {
    uint32_t node = 1;
    for (unsigned i = bits; i-- > 0;)
      node = 2 * node +
             static_cast<uint32_t>(bits_.bit(coder, kind, contexts, node, (value >> i & 1) != 0));
    return node - (1u << bits);
  }

  // A number below zero or not: the bits of its size, the sign, and the bits.
  template <class Coder, size_t N>
  bool signed_number(Coder& coder, Kind kind, const std::array<uint32_t, N>& contexts,
                     int64_t& value) {
    constexpr uint32_t kMostBits = 24, kSizes = 0x100, kSign = 0x200, kPart = 0x400;
    const auto size = static_cast<uint64_t>(value < 0 ? -value : value) + 1;
    const auto wanted = static_cast<uint32_t>(std::bit_width(size)) - 1;
    uint32_t bits = 0;
    while (!bits_.bit(coder, kind, contexts, kSizes + bits, bits == wanted))
      if (++bits > kMostBits) return false;
    if (bits == 0) {
      value = 0;
      return true;
    }
    const bool is_negative = bits_.bit(coder, kind, contexts, kSign, value < 0);
    const std::array<uint32_t, 2> of_part = {time_hash(contexts.back() + kPart + bits),
                                             time_hash(kPart + 0x20u * kind + bits)};
    const unsigned modelled = std::min(bits, kModelledBits);
    uint32_t node = 1;
    for (unsigned i = 1; i <= modelled; ++i)
      node = 2 * node + static_cast<uint32_t>(bits_.bit(coder, kMeanPart, of_part, node,
                                                        (size >> (bits - i) & 1) != 0));
    uint64_t found = node;
    if (bits > modelled) {
      const unsigned left = bits - modelled;
      found = found << left | coder.raw(left, size & ((uint64_t{1} << left) - 1));
    }
    value = static_cast<int64_t>(found) - 1;
    if (is_negative) value = -value;
    return true;
  }

  // What calls of one kind were like until now, by bucket: shares in 1/4096, later ones count more.
  struct Pool {
    std::array<uint32_t, Histogram::kBuckets> share;
    Pool() { share.fill(64); }
    void add(const CodedStats& s, size_t first, size_t last, uint64_t calls) {
      constexpr unsigned kBits = 40;  // and 12 more are no overflow
      const auto shift = std::max(static_cast<unsigned>(std::bit_width(calls)), kBits) - kBits;
      for (uint32_t& p : share) p -= p >> 3;
      for (size_t b = first; b <= last; ++b)
        share[b] += static_cast<uint32_t>((s.inner[b] >> shift) * 4096 / (calls >> shift));
    }
    // Of so many calls in the buckets from `b` to `last`, those in `b`; in quarters of a level.
    size_t quarter_level(const CountLevels& levels, size_t b, size_t last, uint64_t calls) const {
      uint64_t all = 0;
      for (size_t i = b; i <= last; ++i) all += share[i];
      constexpr uint64_t kMost = uint64_t{1} << 40;
      return levels.quarter_level(4 * std::min(calls, kMost) * share[b] /
                                  std::max<uint64_t>(all, 1));
    }
  };

  // The counts of the buckets, from that of the shortest call to that of the longest.
  template <class Coder>
  bool histogram(Coder& coder, CodedStats& s) {
    const uint64_t calls = calls_ - 2;
    const unsigned octaves = octaves_for(calls_, precision_.grain);
    const size_t first = Histogram::bucket_of(time_of(s.min)) / octaves,
                 last = Histogram::bucket_of(time_of(s.max)) / octaves;
    if (first == last) {
      s.inner[first] = calls;
      s.rest_bucket = first;
      return true;
    }
    const CountLevels& levels = levels_of(precision_.grain);
    Pool& own = pools_[time_hash(site_ + 0x1000u * octaves)];
    const auto span = static_cast<uint32_t>(first * 64 + last);
    Pool& alike = pools_[time_hash(function_ + 0x1000u * octaves + span)];
    uint64_t left = calls;  // that the buckets from here on may still have
    uint64_t taken = 0;
    bool has_rest = false;
    int32_t surprise = 0;
    for (size_t b = first; b <= last; ++b) {
      const size_t expected[2] = {own.quarter_level(levels, b, last, left),
                                  alike.quarter_level(levels, b, last, left)};
      const Around around = {static_cast<uint32_t>(std::min<size_t>(expected[0], 40)),
                             static_cast<uint32_t>(std::min<size_t>(expected[1], 40)),
                             static_cast<uint32_t>(std::min<size_t>(levels.below(left), 12)),
                             static_cast<uint32_t>(surprise + 2), static_cast<uint32_t>(b)};
      const bool is_rest = !has_rest && (b == last || rest(coder, around, s.rest_bucket == b));
      const size_t guess = (expected[0] + 2) / 4;
      if (is_rest) {
        has_rest = true;
        s.rest_bucket = b;
        left -= std::min(left, levels[std::min(guess, levels.size() - 1)]);
        continue;
      }
      size_t level = levels.nearest(s.inner[b]);
      if (!count(coder, levels, around, guess, level)) return false;
      s.inner[b] = levels[level];
      if (s.inner[b] > calls - taken) return false;
      taken += s.inner[b];
      left -= std::min(left, s.inner[b]);
      surprise = std::clamp(static_cast<int32_t>(level) - static_cast<int32_t>(guess), -2, 2);
    }
    s.inner[s.rest_bucket] = calls - taken;
    own.add(s, first, last, calls);
    alike.add(s, first, last, calls);
    return true;
  }

  // What is known around a bucket: quarter levels that are expected, the level of what is left, how
  // the bucket before was unlike what was expected.
  struct Around {
    uint32_t own, alike, left, surprise, bucket;
  };

  template <class Coder>
  bool rest(Coder& coder, const Around& a, bool value) {
    const std::array<uint32_t, 3> contexts = {time_hash(0x30000u + a.own * 64 + a.left),
                                              time_hash(0x40000u + a.alike * 64 + a.left),
                                              time_hash(site_ + 0x50000u + a.bucket)};
    return bits_.bit(coder, kRest, contexts, 1, value);
  }

  // Which of the counts: one by one where it is small, else how far from what is expected.
  template <class Coder>
  bool count(Coder& coder, const CountLevels& levels, const Around& a, size_t guess,
             size_t& level) {
    constexpr size_t kSmall = 6;
    constexpr uint32_t kMostNode = 30;
    const uint32_t is_large = guess < kSmall ? 0 : 1;
    const std::array<uint32_t, 4> contexts = {
        time_hash(0x60000u + (a.own * 64 + a.left) * 2 + is_large),
        time_hash(0x70000u + (a.alike * 64 + a.left) * 2 + is_large),
        time_hash(0x80000u + (a.own * 64 + a.alike) * 2 + is_large),
        time_hash(0x90000u + (a.alike * 64 + a.surprise) * 2 + is_large)};
    if (is_large != 0) {
      auto distance = static_cast<int64_t>(level) - static_cast<int64_t>(guess);
      if (!signed_number(coder, kCount, contexts, distance)) return false;
      const int64_t found = static_cast<int64_t>(guess) + distance;
      if (found < 0 || found >= static_cast<int64_t>(levels.size())) return false;
      level = static_cast<size_t>(found);
      return true;
    }
    size_t found = 0;
    while (!bits_.bit(coder, kCount, contexts, std::min(static_cast<uint32_t>(found), kMostNode),
                      found == level))
      if (++found >= levels.size()) return false;
    level = found;
    return true;
  }

  // By how many ranges the mean is off from what the histogram, the shortest and the longest say.
  template <class Coder>
  bool mean(Coder& coder, CodedStats& s) {
    const unsigned octaves = octaves_for(calls_, precision_.grain);
    const uint64_t least = time_of(s.min), greatest = time_of(s.max);
    Wide inner = 0;
    for (size_t b = least == 0 ? 0 : Histogram::bucket_of(least) / octaves;
         b <= Histogram::bucket_of(greatest) / octaves; ++b) {
      // Halves, so that 3/2 is a whole number.
      const uint64_t middle = uint64_t{octaves + 2} << std::min<size_t>(b * octaves, 58);
      inner += Wide{s.inner[b]} * middle / 2;
    }
    const auto inner_mean = static_cast<uint64_t>(inner / calls_);
    const uint64_t ends = least / calls_ + greatest / calls_;
    const uint64_t expected = std::clamp(inner_mean + ends, least, greatest);
    const uint32_t guess = ranges_.range_of(expected);
    const uint32_t guess_shift = guess >> precision_.mantissa_bits;
    const auto weight = static_cast<uint32_t>(
        std::bit_width(inner_mean >> (guess_shift < 2 ? 0 : guess_shift - 1)));
    const auto span = static_cast<uint32_t>(std::bit_width(greatest) - std::bit_width(least));
    const std::array<uint32_t, 3> contexts = {
        time_hash(site_ + 0xa0000u + weight),
        time_hash(0xb0000u + weight * 64 + std::min(span, 12u)),
        time_hash(function_ + 0xc0000u + weight)};
    const uint64_t ns = time_of(s.mean);
    int64_t distance = int64_t{ranges_.range_of(ns)} - int64_t{guess};
    if (!signed_number(coder, kMean, contexts, distance)) return false;
    const int64_t range = int64_t{guess} + distance;
    if (range < 0 || range > int64_t{ranges_.last()}) return false;
    s.mean = settle(coder, kMean, static_cast<uint32_t>(range), ns, s.fine_mean);
    s.mean = std::clamp(s.mean, s.min, s.max);
    return true;
  }

  uint64_t calls_ = 0;
  uint32_t site_ = 0, size_ = 0, function_ = 0;
  StatPrecision precision_;
  CodeRanges ranges_{kMostMantissaBits};
  MixedBits bits_;
  std::unordered_map<uint32_t, Pool> pools_;
};

}  // namespace refrain::format
