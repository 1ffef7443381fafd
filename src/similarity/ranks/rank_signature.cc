#include "similarity/ranks/rank_signature.h"

#include <algorithm>

#include "grammar/fold.h"

namespace refrain::similarity {

namespace {

using grammar::Grammar;
using grammar::Symbol;
__extension__ using Wide = __int128;

// No number of calls and no parameter makes it overflow.
class Mean {
 public:
  void add(int64_t value, uint64_t times) {
    sum_ += static_cast<Wide>(value) * static_cast<Wide>(times);
    count_ += static_cast<Wide>(times);
  }
  // To the nearest, halves away from 0.
  int64_t value() const {
    if (count_ == 0) return 0;
    return static_cast<int64_t>((sum_ + (sum_ < 0 ? -count_ : count_) / 2) / count_);
  }

 private:
  Wide sum_ = 0;
  Wide count_ = 0;
};

// The XOR of all stack signatures, each times its place modulo ten plus one: else calls in another
// order, or one that is made twice, would not show.
uint64_t call_path_of(const Grammar& g, std::span<const RankEvent> events) {
  constexpr uint64_t kPlaces = 10;
  uint64_t path = 0, place = 0;
  for (const Symbol& s : g.symbols) {
    if (!s.is_rule) path ^= events[s.id].stack * (place++ % kPlaces + 1);
  }
  return path;
}

int64_t mean_ns(double sum, double calls) {
  constexpr double kMost = 9e18;
  return calls > 0 ? static_cast<int64_t>(std::clamp(sum / calls + 0.5, 0.0, kMost)) : 0;
}

}  // namespace

std::string_view to_string(RankFeature feature) {
  constexpr std::string_view kNames[kRankFeatures] = {
      "call path", "count", "source",           "destination",        "key",
      "color",     "tag",   "computation time", "communication time", "loops",
      "types"};
  return kNames[static_cast<size_t>(feature)];
}

bool RankSignature::is_equal(RankFeature feature, const RankSignature& other) const {
  switch (feature) {
    case RankFeature::kCallPath: return call_path == other.call_path;
    case RankFeature::kLoop: return loop == other.loop;
    case RankFeature::kTypes: return types == other.types;
    default: return means[mean_of(feature)] == other.means[mean_of(feature)];
  }
}

// Loops by their height over the innermost one inside of them.
uint64_t loops_of(const Grammar& g) {
  constexpr size_t kLevels = 4;
  constexpr unsigned kBits = 16;
  Mean levels[kLevels];
  std::vector<uint32_t> height(g.rule_count(), 0);  // levels of loops in a rule
  for (size_t r = g.rule_count(); r-- > 0;) {
    for (uint32_t i = g.rule_begin(r); i < g.rule_end[r]; ++i) {
      const Symbol& s = g.symbols[i];
      const uint32_t inside = s.is_rule ? height[s.id] : 0;
      if (s.count > 1)
        levels[std::min<size_t>(inside, kLevels - 1)].add(
            static_cast<int64_t>(std::min<uint64_t>(s.count, INT64_MAX)), 1);
      height[r] = std::max(height[r], inside + (s.count > 1 ? 1 : 0));
    }
  }
  uint64_t packed = 0;
  for (size_t level = 0; level < kLevels; ++level) {
    const auto mean = static_cast<uint64_t>(levels[level].value());
    packed |= std::min<uint64_t>(mean, (1u << kBits) - 1) << (kBits * level);
  }
  return packed;
}

RankSignature rank_signature(const Grammar& grammar, std::span<const RankEvent> events,
                             const RankTimes& times) {
  RankSignature out;
  out.call_path = call_path_of(grammar, events);
  out.loop = loops_of(grammar);
  const std::vector<uint64_t> occurs = grammar::occurrences(grammar, events.size());
  std::array<Mean, kRankMeans> means;
  double calls = 0;
  for (size_t t = 0; t < events.size(); ++t) {
    if (occurs[t] == 0) continue;
    for (const RankEvent::Value& v : events[t].values)
      means[mean_of(v.feature)].add(v.value, occurs[t]);
    for (const uint8_t type : events[t].types) out.types[type / 64] |= uint64_t{1} << type % 64;
    calls += static_cast<double>(occurs[t]);
  }
  for (size_t m = 0; m < kRankMeans; ++m) out.means[m] = means[m].value();
  out.means[mean_of(RankFeature::kComputation)] = mean_ns(times.computation_ns, calls);
  out.means[mean_of(RankFeature::kCommunication)] = mean_ns(times.communication_ns, calls);
  return out;
}

}  // namespace refrain::similarity
