// Bits whose probabilities come from several contexts: each context has its own estimate of the
// probability of a 1, and learnt weights combine them. The statistics of a trace are a few thousand
// numbers, and no context sees many of them. A combination of contexts learns from all of them,
// while a single context (time/model.h, for millions of calls) would learn too slowly. Idea: M.
// Mahoney, "Adaptive weighing of context models for lossless data compression" (2005), logistic
// mixing. Whole numbers only: the same on every machine. docs/format.md, Durations, has the
// arithmetic.
//
// One code for both directions: Coder is a RangeEncoder, which returns what it is given, or a
// RangeDecoder, which returns what it reads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::format {

inline constexpr int32_t kMostLogit = 2047;

// 1 / (1 + exp(-logit / 256)) in 1/65536, a line between those for -8, -7.5, ..., 8.
[[gnu::always_inline]] constexpr int32_t probability_of(int32_t logit) {
  constexpr std::array<int32_t, 33> kKnots = {
      22,    36,    60,    98,    162,   267,   439,   720,   1179,  1921,  3108,
      4971,  7812,  11955, 17625, 24743, 32768, 40793, 47911, 53581, 57724, 60565,
      62428, 63615, 64357, 64816, 65097, 65269, 65374, 65438, 65476, 65500, 65514};
  constexpr int kStepBits = 7;
  const int32_t x = std::clamp(logit, -kMostLogit, kMostLogit) + 2048;
  const auto i = static_cast<size_t>(x >> kStepBits);
  const int32_t part = x & ((1 << kStepBits) - 1);
  return kKnots[i] + ((kKnots[i + 1] - kKnots[i]) * part >> kStepBits);
}

// The reverse, from -kMostLogit to kMostLogit, of a probability cut to 12 bits: the least one whose
// probability is not below the middle of what was cut.
inline constexpr std::array<int16_t, 4096> kLogits = [] {
  std::array<int16_t, 4096> logits{};
  int32_t x = -kMostLogit;
  for (int32_t p = 0; p < 4096; ++p) {
    while (x < kMostLogit && probability_of(x) < p * 16 + 8) ++x;
    logits[static_cast<size_t>(p)] = static_cast<int16_t>(x);
  }
  return logits;
}();

class MixedBits {
 public:
  static constexpr size_t kMostContexts = 4;

  // Empty, for so many statistics; `kinds` sets of weights.
  void reset(size_t items, size_t kinds) {
    const int bits = std::clamp(static_cast<int>(std::bit_width(items * 64)), 10, 18);
    shift_ = 32 - static_cast<unsigned>(bits);
    slots_.assign(size_t{1} << bits, Slot{});
    weights_.assign(kinds, kFirstWeights);
  }

  // A bit of this kind. Contexts of one kind are different numbers from each other.
  template <class Coder, size_t N>
  bool bit(Coder& coder, size_t kind, const std::array<uint32_t, N>& contexts, uint32_t node,
           bool value) {
    static_assert(N <= kMostContexts);
    std::array<Slot*, N> slots;
    std::array<int32_t, N> logits;
    std::array<int32_t*, N> weights;
    int64_t sum = 0;
    for (size_t i = 0; i < N; ++i) {
      slots[i] = &slots_[((contexts[i] + node * 0x9e3779b1u) * 0x85ebca6bu) >> shift_];
      logits[i] = kLogits[slots[i]->p >> 4];
      weights[i] = &weights_[kind][i][kTrust[slots[i]->seen]];
      sum += int64_t{logits[i]} * *weights[i];
    }
    constexpr int64_t kMost = kMostLogit;
    const int32_t p = probability_of(static_cast<int32_t>(std::clamp(sum >> 16, -kMost, kMost)));
    value = coder.bit(static_cast<uint32_t>(std::clamp(p, kLeast, 0x10000 - kLeast)), value);
    const int32_t error = (value ? 0xffff : 0) - p;
    for (size_t i = 0; i < N; ++i) {
      *weights[i] = std::clamp(*weights[i] + (error * logits[i] * kLearning >> 16), -kMostWeight,
                               kMostWeight);
      learn(*slots[i], value);
    }
    return value;
  }

 private:
  struct Slot {
    uint16_t p = 0x8000;  // of a 1, in 1/65536
    uint16_t seen = 0;
  };
  static constexpr uint16_t kMostSeen = 60;
  static constexpr int32_t kLeast = 32, kLearning = 5, kMostWeight = 8 << 16;
  static constexpr size_t kTrusts = 8;
  using Weights = std::array<std::array<int32_t, kTrusts>, kMostContexts>;

  // Which weight a context has that was seen so often: up to 6 its own each, then one.
  static constexpr std::array<uint8_t, kMostSeen + 1> kTrust = [] {
    std::array<uint8_t, kMostSeen + 1> trust{};
    for (size_t n = 0; n < trust.size(); ++n) trust[n] = static_cast<uint8_t>(n < 7 ? n : 7);
    return trust;
  }();
  // 0 for who has seen nothing, then 5/16 and 1/16 more with each time.
  static constexpr Weights kFirstWeights = [] {
    Weights w{};
    for (auto& context : w)
      for (size_t n = 1; n < kTrusts; ++n) context[n] = static_cast<int32_t>((4 + n) << 12);
    return w;
  }();
  static constexpr std::array<uint32_t, kMostSeen + 1> kRates = [] {
    std::array<uint32_t, kMostSeen + 1> rates{};
    for (uint32_t n = 0; n < rates.size(); ++n) rates[n] = 0x20000 / (2 * n + 3);
    return rates;
  }();

  static void learn(Slot& s, bool value) {
    const uint32_t rate = kRates[s.seen];
    if (value)
      s.p = static_cast<uint16_t>(s.p + ((0xffffu - s.p) * rate >> 16));
    else
      s.p = static_cast<uint16_t>(s.p - (s.p * rate >> 16));
    if (s.seen < kMostSeen) ++s.seen;
  }

  unsigned shift_ = 22;
  std::vector<Slot> slots_;
  std::vector<Weights> weights_;
};

}  // namespace refrain::format
