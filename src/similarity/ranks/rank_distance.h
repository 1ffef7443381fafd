// How far two ranks are from each other, by their signatures.
//
// Features differ in importance (ACURDION, section III B): whoever makes other calls is farther
// away than whoever has other partners, and that is farther than other sizes and times. A distance
// is therefore three numbers, compared one after the other, as if each were shifted over those
// below.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "similarity/ranks/rank_signature.h"

namespace refrain::similarity {

// A set of features.
class RankFeatures {
 public:
  constexpr RankFeatures() = default;
  static constexpr RankFeatures all() { return RankFeatures((1u << kRankFeatures) - 1); }
  constexpr void add(RankFeature f) { bits_ |= bit(f); }
  constexpr bool has(RankFeature f) const { return (bits_ & bit(f)) != 0; }
  constexpr RankFeatures operator|(RankFeatures o) const { return RankFeatures(bits_ | o.bits_); }
  constexpr RankFeatures operator&(RankFeatures o) const { return RankFeatures(bits_ & o.bits_); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint32_t bits() const { return bits_; }
  bool operator==(const RankFeatures&) const = default;

 private:
  explicit constexpr RankFeatures(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bit(RankFeature f) { return 1u << static_cast<uint32_t>(f); }
  uint32_t bits_ = 0;
};

// Which features differ anywhere, and between which numbers: what all ranks have to know before
// they can be compared. Built along a tree (section III A, algorithm 1): each node starts with its
// own signature and takes in those of its children.
class RankFormat {
 public:
  explicit RankFormat(const RankSignature& own);
  // Of a child and all below it.
  void add(const RankFormat& child);

  RankFeatures differing() const { return differing_; }
  // Greatest minus least of a feature with a mean; 0 where it is the same everywhere.
  uint64_t span(RankFeature mean) const;
  // Of a level of loops, 0 the innermost.
  uint64_t loop_span(size_t level) const;

 private:
  RankSignature own_;
  RankFeatures differing_;
  std::array<int64_t, kRankMeans> least_{}, greatest_{};
  std::array<uint16_t, 4> least_loop_{}, greatest_loop_{};
};

// Children of r in the tree over all ranks: 2r + 1 and 2r + 2. The format at the root, of at least
// one signature.
RankFormat rank_format(std::span<const RankSignature> signatures);

struct RankDistance {
  // The most important first: call path and types; ends, key, color, tag and loops; count and
  // times.
  std::array<uint64_t, 3> groups{};
  auto operator<=>(const RankDistance&) const = default;
};

enum class RankMetric : uint8_t { kManhattan, kEuclidean };

class RankDistances {
 public:
  // `used`: of the features that differ, those that count.
  RankDistances(const RankFormat& format, RankMetric metric,
                RankFeatures used = RankFeatures::all());
  RankDistance between(const RankSignature& a, const RankSignature& b) const;
  RankFeatures used() const { return used_; }

 private:
  RankFormat format_;
  RankMetric metric_;
  RankFeatures used_;
};

}  // namespace refrain::similarity
