#include "similarity/ranks/rank_distance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace refrain::similarity {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr uint64_t kWhole = UINT32_MAX;  // the largest difference that there is of a feature
constexpr size_t kLoopLevels = 4;

uint64_t apart(int64_t a, int64_t b) {
  return a < b ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
               : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
}

uint16_t loop_level(const RankSignature& s, size_t level) {
  return static_cast<uint16_t>(s.loop >> (16 * level));
}

// `difference` of at most `span`, as a number of 32 bits. What differs at all is at least 1.
uint64_t scaled(uint64_t difference, uint64_t span) {
  if (difference == 0 || span == 0) return 0;
  const auto of_whole = static_cast<Wide>(difference) * kWhole / span;
  return std::clamp<uint64_t>(static_cast<uint64_t>(std::min<Wide>(of_whole, kWhole)), 1, kWhole);
}

size_t group_of(RankFeature f) {
  switch (f) {
    case RankFeature::kCallPath:
    case RankFeature::kTypes: return 0;
    case RankFeature::kCount:
    case RankFeature::kComputation:
    case RankFeature::kCommunication: return 2;
    default: return 1;
  }
}

uint64_t root_of(Wide square) {
  auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(square)));
  while (static_cast<Wide>(root) * root > square) --root;
  while (static_cast<Wide>(root + 1) * (root + 1) <= square) ++root;
  return root;
}

}  // namespace

RankFormat::RankFormat(const RankSignature& own)
    : own_(own), least_(own.means), greatest_(own.means) {
  for (size_t l = 0; l < kLoopLevels; ++l) least_loop_[l] = greatest_loop_[l] = loop_level(own, l);
}

void RankFormat::add(const RankFormat& child) {
  for (size_t f = 0; f < kRankFeatures; ++f) {
    const auto feature = static_cast<RankFeature>(f);
    if (!own_.is_equal(feature, child.own_)) differing_.add(feature);
  }
  differing_ = differing_ | child.differing_;
  for (size_t m = 0; m < kRankMeans; ++m) {
    least_[m] = std::min(least_[m], child.least_[m]);
    greatest_[m] = std::max(greatest_[m], child.greatest_[m]);
  }
  for (size_t l = 0; l < kLoopLevels; ++l) {
    least_loop_[l] = std::min(least_loop_[l], child.least_loop_[l]);
    greatest_loop_[l] = std::max(greatest_loop_[l], child.greatest_loop_[l]);
  }
}

uint64_t RankFormat::span(RankFeature mean) const {
  return apart(greatest_[mean_of(mean)], least_[mean_of(mean)]);
}

uint64_t RankFormat::loop_span(size_t level) const {
  return static_cast<uint64_t>(greatest_loop_[level] - least_loop_[level]);
}

RankFormat rank_format(std::span<const RankSignature> signatures) {
  std::vector<RankFormat> nodes;
  nodes.reserve(signatures.size());
  for (const RankSignature& s : signatures) nodes.emplace_back(s);
  for (size_t r = nodes.size(); r-- > 1;) nodes[(r - 1) / 2].add(nodes[r]);
  return nodes[0];
}

RankDistances::RankDistances(const RankFormat& format, RankMetric metric, RankFeatures used)
    : format_(format), metric_(metric), used_(used & format.differing()) {}

RankDistance RankDistances::between(const RankSignature& a, const RankSignature& b) const {
  std::array<Wide, 3> sums{};
  const auto add = [&](RankFeature f, uint64_t difference) {
    const Wide d = difference;
    sums[group_of(f)] += metric_ == RankMetric::kManhattan ? d : d * d;
  };
  for (size_t m = 0; m < kRankMeans; ++m) {
    const RankFeature f = mean_feature(m);
    if (used_.has(f)) add(f, scaled(apart(a.means[m], b.means[m]), format_.span(f)));
  }
  // Hashes are equal or not; loops differ as much as the level that differs most.
  if (used_.has(RankFeature::kCallPath) && a.call_path != b.call_path)
    add(RankFeature::kCallPath, kWhole);
  if (used_.has(RankFeature::kLoop)) {
    uint64_t most = 0;
    for (size_t l = 0; l < kLoopLevels; ++l)
      most =
          std::max(most, scaled(apart(loop_level(a, l), loop_level(b, l)), format_.loop_span(l)));
    add(RankFeature::kLoop, most);
  }
  if (used_.has(RankFeature::kTypes)) {
    uint64_t bits = 0;
    for (size_t w = 0; w < a.types.size(); ++w)
      bits += static_cast<uint64_t>(std::popcount(a.types[w] ^ b.types[w]));
    add(RankFeature::kTypes, scaled(bits, kRankTypes));
  }
  RankDistance out;
  for (size_t g = 0; g < sums.size(); ++g)
    out.groups[g] =
        metric_ == RankMetric::kManhattan ? static_cast<uint64_t>(sums[g]) : root_of(sums[g]);
  return out;
}

}  // namespace refrain::similarity
