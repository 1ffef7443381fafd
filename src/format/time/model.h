// The probabilities by which a block is coded: adaptive, by signature, kind (gap or duration) and
// previous number. One code for both directions: Coder is a RangeEncoder, which returns what it is
// given, or a RangeDecoder, which returns what it reads. docs/format.md, Time, is the normative
// text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "format/time/grid.h"

namespace refrain::format {

constexpr uint32_t time_hash(uint32_t x) {
  x *= 0x9e3779b1u;
  x ^= x >> 15;
  x *= 0x85ebca77u;
  return x ^ x >> 13;
}

class TimeSlots {
 public:
  struct Slot {
    uint16_t p = 0x8000;  // of a 1, in 1/65536
    uint16_t seen = 0;
  };
  static constexpr uint16_t kMostSeen = 60, kTrusted = 4;

  // Empty, for a block of so many calls.
  void reset(size_t calls) {
    const int bits = std::clamp(static_cast<int>(std::bit_width(calls * 64)), 8, 18);
    shift_ = 32 - static_cast<unsigned>(bits);
    slots_.assign(size_t{1} << bits, Slot{});
  }
  size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

  // A bit: contexts from the most to the least special; the first that has been here before says
  // how likely a 1 is, and those before it begin with that.
  template <class Coder, size_t N>
  bool bit(Coder& coder, const std::array<uint32_t, N>& contexts, uint32_t node, bool value) {
    std::array<Slot*, N> slots{};
    size_t known = 0;
    slots[0] = &slot(contexts[0], node);
    while (slots[known]->seen == 0 && known + 1 < N) {
      ++known;
      slots[known] = &slot(contexts[known], node);
    }
    const uint16_t p = slots[known]->p;
    for (size_t i = 0; i < known; ++i) *slots[i] = {p, 1};
    value = coder.bit(std::clamp<uint32_t>(p, kLeast, 0x10000 - kLeast), value);
    for (size_t i = 0; i < N; ++i) {
      if (i > known) slots[i] = &slot(contexts[i], node);
      if (learn(*slots[i], value) >= kTrusted) break;
    }
    return value;
  }

 private:
  static constexpr uint32_t kLeast = 64;
  static constexpr std::array<uint32_t, kMostSeen + 1> kRates = [] {
    std::array<uint32_t, kMostSeen + 1> rates{};
    for (uint32_t n = 0; n < rates.size(); ++n) rates[n] = 0x20000 / (2 * n + 3);
    return rates;
  }();

  Slot& slot(uint32_t context, uint32_t node) {
    return slots_[((context + node * 0x9e3779b1u) * 0x85ebca6bu) >> shift_];
  }
  // How often it had been seen before.
  static uint16_t learn(Slot& s, bool value) {
    const uint16_t seen = s.seen;
    const uint32_t rate = kRates[seen];
    if (value)
      s.p = static_cast<uint16_t>(s.p + ((0xffffu - s.p) * rate >> 16));
    else
      s.p = static_cast<uint16_t>(s.p - (s.p * rate >> 16));
    if (seen < kMostSeen) s.seen = static_cast<uint16_t>(seen + 1);
    return seen;
  }

  unsigned shift_ = 24;
  std::vector<Slot> slots_;
};

enum class TimeKind : uint32_t { kGap = 0, kDuration = 1 };

// A number as it is coded: `top` with `top_bits` bits, and `rest` with `rest_bits`, whose number
// follows from top. Top 0 is a gap below zero.
struct TopAndRest {
  uint32_t top = 0;
  unsigned rest_bits = 0;
  uint64_t rest = 0;
};

class TimeModel {
 public:
  static constexpr unsigned kTopBits = 6;       // of an index of a grid
  static constexpr unsigned kExactTopBits = 9;  // of a number of ns
  static constexpr unsigned kExactMantissa = 3;
  static constexpr uint32_t kMostExactTop = ((62 - kExactMantissa) << kExactMantissa) + 8;
  static constexpr unsigned kModelledBits = 6;  // of rest
  static constexpr uint32_t kWellKnown = 8;
  static constexpr unsigned kOwnBits = 2;  // of them, by signature
  static constexpr unsigned kMostRefinements = 63;

  void reset(size_t calls) {
    slots_.reset(calls);
    before_ = 0;
  }
  size_t memory_bytes() const { return slots_.memory_bytes(); }

  // Which number comes next. `signature`: of the call, by first appearance in the block; `seen`:
  // how many calls before in the block have it. Of the first ones little is known but the function,
  // and what they would teach is not worth a place in the tables.
  void expect(uint32_t signature, uint32_t seen, uint16_t function, TimeKind kind) {
    const auto odd = static_cast<uint32_t>(kind);
    const uint32_t of_kind = time_hash(odd);
    const uint32_t of_function = time_hash(0x40000000u + 2 * uint32_t{function} + odd);
    const uint32_t of_signature = time_hash(0x80000000u + 2 * signature + odd);
    if (seen == 0) {
      top_ = {time_hash(of_function + 0x20000u + before_), of_function, of_kind};
    } else if (seen < kWellKnown) {
      top_ = {of_signature, of_function, of_kind};
    } else {
      top_ = {time_hash(of_signature + 0x20000u + before_), of_signature, of_function};
    }
    own_ = seen < kWellKnown ? of_function : of_signature;
    other_ = seen < kWellKnown ? of_kind : of_function;
  }

  template <class Coder>
  uint32_t top(Coder& coder, unsigned bits, uint32_t value) {
    uint32_t node = 1;
    for (unsigned i = bits; i-- > 0;)
      node =
          node * 2 + static_cast<uint32_t>(slots_.bit(coder, top_, node, ((value >> i) & 1) != 0));
    const uint32_t found = node - (uint32_t{1} << bits);
    before_ = bits > kTopBits ? found >> kExactMantissa : found;
    return found;
  }
  template <class Coder>
  uint64_t rest(Coder& coder, uint32_t top, unsigned bits, uint64_t value) {
    if (bits == 0) return 0;
    const uint32_t shared = time_hash(other_ + 0x10000u + top);
    const std::array<uint32_t, 2> own = {time_hash(own_ + 0x10000u + top), shared};
    const std::array<uint32_t, 1> others = {shared};
    uint32_t node = 1;
    unsigned left = bits;
    for (unsigned i = 0; i < kModelledBits && left > 0; ++i) {
      const bool bit = ((value >> --left) & 1) != 0;
      node = node * 2 + static_cast<uint32_t>(i < kOwnBits ? slots_.bit(coder, own, node, bit)
                                                           : slots_.bit(coder, others, node, bit));
    }
    const uint64_t high = node - (uint64_t{1} << (bits - left));
    if (left == 0) return high;
    return high << left | coder.raw(left, value & ((uint64_t{1} << left) - 1));
  }
  // Whether there is a refinement number `n` (from 0).
  template <class Coder>
  bool refines(Coder& coder, unsigned n, bool value) {
    const std::array<uint32_t, 2> contexts = {time_hash(own_ + 0x30000u),
                                              time_hash(other_ + 0x30000u)};
    return slots_.bit(coder, contexts, n, value);
  }

 private:
  TimeSlots slots_;
  uint32_t own_ = 0, other_ = 0;
  std::array<uint32_t, 3> top_{};
  uint32_t before_ = 0;  // the last top; without the mantissa of exact ones
};

// Exact numbers of ns.
inline TopAndRest split_exact(uint64_t ns) {
  constexpr unsigned kM = TimeModel::kExactMantissa;
  if (ns < (1u << kM)) return {static_cast<uint32_t>(ns) + 1, 0, 0};
  const auto rest_bits = static_cast<unsigned>(std::bit_width(ns)) - 1 - kM;
  const auto high = static_cast<uint32_t>(ns >> rest_bits);  // 8 to 15
  return {(rest_bits << kM) + high + 1, rest_bits, ns & ((uint64_t{1} << rest_bits) - 1)};
}
// The smallest number with this top, which is 1 to kMostExactTop, and how many bits follow.
inline uint64_t exact_base(uint32_t top, unsigned& rest_bits) {
  constexpr unsigned kM = TimeModel::kExactMantissa;
  const uint32_t t = top - 1;
  rest_bits = t < (2u << kM) ? 0 : (t >> kM) - 1;
  return uint64_t{t - (rest_bits << kM)} << rest_bits;
}

}  // namespace refrain::format
