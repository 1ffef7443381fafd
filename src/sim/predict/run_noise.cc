#include "sim/predict/run_noise.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <utility>

#include "reader/call_gaps.h"
#include "refrain/calls.h"
#include "sim/engine/costs.h"

namespace refrain::sim {
namespace {

double fraction_of(uint64_t random) { return (static_cast<double>(random >> 11) + 0.5) * 0x1p-53; }

// Calls visit(unit, ns, call before, call) for each call of a thread but the first one, as the
// simulation has the computation before it. False: times are missing.
template <class Visit>
bool for_each_unit(const Trace& trace, Rank rank, uint32_t thread, const Visit& visit) {
  RankReader reader(trace, rank, Times::kRead);
  reader::CallGaps gaps(trace, rank, thread);
  SignatureId before{};
  bool has_all = true;
  const auto done = reader.for_each_call(thread, [&](const Call& call) {
    has_all = has_all && call.has_time;
    if (const auto gap = gaps.before(call); gap)
      visit(call.seq, static_cast<double>(*gap), before, call.signature->id);
    before = call.signature->id;
    return has_all;
  });
  return done.ok() && has_all;
}

}  // namespace

uint64_t scrambled(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// G. Box, M. Muller, 1958.
double normal_of(uint64_t random) {
  return std::sqrt(-2 * std::log(fraction_of(random))) *
         std::cos(2 * M_PI * fraction_of(scrambled(random)));
}

GroupNoise::GroupNoise(std::vector<uint32_t> kinds, uint32_t kind_count)
    : kinds_(std::move(kinds)), levels_(kinds_.size()), of_kinds_(kind_count) {}

void GroupNoise::add_to_levels(const std::vector<double>& units) {
  for (size_t i = 0; i < kinds_.size(); ++i) levels_[i] += units[i];
  ++ranks_;
}

void GroupNoise::end_levels() {
  for (size_t i = 0; i < kinds_.size(); ++i) {
    levels_[i] /= static_cast<double>(ranks_);
    if (kinds_[i] == kNoUnit) continue;
    Kind& kind = of_kinds_[kinds_[i]];
    ++kind.units;
    kind.level += levels_[i];
    kind.level_squares += levels_[i] * levels_[i];
    if (kind.last >= 0) kind.level_steps += std::pow(levels_[i] - kind.last, 2);
    kind.last = levels_[i];
  }
  own_.reserve(ranks_ * of_kinds_.size());
}

void GroupNoise::add_to_own(const std::vector<double>& units) {
  const size_t kinds = of_kinds_.size();
  sums_.assign(kinds, 0);
  for (size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i] != kNoUnit) sums_[kinds_[i]] += units[i] - levels_[i];
  for (size_t k = 0; k < kinds; ++k) {
    Kind& kind = of_kinds_[k];
    const double own = kind.level > 0 ? sums_[k] / kind.level : 0;
    if (own_.size() >= kinds)
      kind.steps += std::pow(own - static_cast<double>(own_[own_.size() - kinds]), 2);
    own_.push_back(static_cast<float>(own));
    sums_[k] = own;
  }
  for (size_t i = 0; i < kinds_.size(); ++i)
    if (kinds_[i] != kNoUnit)
      of_kinds_[kinds_[i]].squares += std::pow(units[i] - levels_[i] * (1 + sums_[kinds_[i]]), 2);
}

// The variance of chance, as a share of the level's square.
double GroupNoise::chance_of(Kind& kind, double between) const {
  constexpr double kOneUnit = 1.5, kNeighbours = 2.0 / 3;  // what neighbours tell, in differences
  const auto ranks = static_cast<double>(ranks_);
  const double count = kind.count();
  if (ranks_ == 1) {
    if (kind.units < 2) return 0;
    kind.freedom = (kind.units - 1) * kNeighbours;
    return kind.level_steps / 2 / (kind.units - 1) / (kind.level_squares / kind.units);
  }
  if (count >= kOneUnit) {
    kind.freedom = (ranks - 1) * (count - 1);
    return kind.squares / kind.level_squares / (ranks - 1) / (1 - 1 / count);
  }
  kind.freedom = (ranks - 1) * kNeighbours;
  return count * std::min(kind.steps / 2, between) / (ranks - 1);
}

void GroupNoise::end_own() {
  const auto ranks = static_cast<double>(ranks_);
  const auto share = [](double chance, double all) {
    return all > 0 ? std::max(0.0, 1 - chance / all) : 0;
  };
  for (size_t k = 0; k < of_kinds_.size(); ++k) {
    Kind& kind = of_kinds_[k];
    const double count = kind.count();
    if (count == 0) continue;
    double between = 0;
    for (size_t at = k; at < own_.size(); at += of_kinds_.size())
      between += std::pow(static_cast<double>(own_[at]), 2);
    const double variance = chance_of(kind, between), mean_square = kind.level_squares / kind.units;
    kind.kept_own = share(variance / count * (ranks - 1), between);
    const double off_mean = kind.level_squares - kind.level * kind.level / kind.units;
    kind.kept_levels = share(variance * mean_square / ranks * (kind.units - 1), off_mean);
    const double in_levels = kind.units > 1 ? kind.kept_levels * kind.kept_levels / ranks : 0;
    const double in_own = ranks_ > 1 ? kind.kept_own * kind.kept_own / count : 0;
    kind.deviation = std::sqrt(variance * std::max(0.0, 1 - in_levels - in_own));
    for (size_t at = k; at < own_.size(); at += of_kinds_.size())
      own_[at] *= static_cast<float>(kind.kept_own);
  }
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i] == kNoUnit) continue;
    const Kind& kind = of_kinds_[kinds_[i]];
    const double mean = kind.level / kind.units;
    levels_[i] = mean + kind.kept_levels * (levels_[i] - mean);
  }
  sums_ = {};
}

double GroupNoise::centre(size_t rank, size_t unit) const {
  const auto own = static_cast<double>(own_[rank * of_kinds_.size() + kinds_[unit]]);
  return levels_[unit] * (1 + own);
}

// Chi-square: E. Wilson, M. Hilferty, 1931.
GroupNoise::Doubt GroupNoise::doubt(size_t kind, double one, double other) const {
  const Kind& of = of_kinds_[kind];
  constexpr double kLeastFreedom = 8;  // fewer differences tell nothing of how far it is known
  if (of.deviation <= 0) return {};
  const double part = 2 / (9 * of.freedom);
  const double square = of.freedom < kLeastFreedom
                            ? 1
                            : std::pow(std::max(0.5, 1 - part + other * std::sqrt(part)), 3);
  const double of_mean = of.deviation / std::sqrt(of.count() * static_cast<double>(ranks_));
  return {1 + one * of_mean, 1 / std::sqrt(square)};
}

// Kinds of units come from the first rank: the others make the same calls.
void RunNoise::add_group(const Trace& trace, GroupId id) {
  const uint64_t size = trace.group_size(id);
  Group group;
  size_t units = 0;
  for (const Location& location : trace.group_locations(id)) {
    group.first.push_back(units);
    group.threads.push_back(location.thread);
    units += location.calls;
  }
  if (units > kMostEntries - entries_) return;
  std::vector<uint32_t> kinds(units, GroupNoise::kNoUnit);
  std::unordered_map<uint64_t, uint32_t> numbers;
  const auto number = [](SignatureId signature) {
    return static_cast<uint64_t>(static_cast<uint32_t>(signature));
  };
  for (size_t t = 0; t < group.threads.size(); ++t)
    if (!for_each_unit(
            trace, trace.group_rank(id, 0), group.threads[t],
            [&](uint64_t seq, double, SignatureId before, SignatureId call) {
              const auto next = static_cast<uint32_t>(numbers.size());
              kinds[group.first[t] + seq] =
                  numbers.emplace(number(before) << 32 | number(call), next).first->second;
            }))
      return;
  const uint64_t entries = units + numbers.size() * size;
  if (entries > kMostEntries - entries_) return;
  group.noise = GroupNoise(std::move(kinds), static_cast<uint32_t>(numbers.size()));
  std::vector<double> of_rank;
  for (const bool is_first : {true, false}) {
    for (uint64_t i = 0; i < size; ++i) {
      of_rank.assign(units, 0);
      for (size_t t = 0; t < group.threads.size(); ++t)
        if (!for_each_unit(trace, trace.group_rank(id, i), group.threads[t],
                           [&](uint64_t seq, double ns, SignatureId, SignatureId) {
                             if (group.first[t] + seq < units) of_rank[group.first[t] + seq] = ns;
                           }))
          return;
      is_first ? group.noise.add_to_levels(of_rank) : group.noise.add_to_own(of_rank);
    }
    is_first ? group.noise.end_levels() : group.noise.end_own();
  }
  entries_ += entries;
  for (uint64_t i = 0; i < size; ++i)
    places_[static_cast<size_t>(trace.group_rank(id, i))] = {static_cast<uint32_t>(groups_.size()),
                                                             static_cast<uint32_t>(i)};
  groups_.push_back(std::move(group));
}

// The larger the variance of a unit, the more likely its shape is kept (P. Efraimidis, P. Spirakis,
// 2006): what matters decides.
void RunNoise::collect_shapes(const Trace& trace) {
  std::vector<std::pair<double, float>> kept;  // a heap, the worst key first
  double weights = 0, squares = 0;
  size_t most_ranks = 0;
  uint64_t number = 0;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    const Place place = places_[static_cast<size_t>(rank)];
    if (place.group == kNone) continue;
    const Group& group = groups_[place.group];
    most_ranks = std::max(most_ranks, group.noise.ranks());
    for (size_t t = 0; t < group.threads.size(); ++t)
      (void)for_each_unit(
          trace, rank, group.threads[t], [&](uint64_t seq, double ns, SignatureId, SignatureId) {
            const size_t unit = group.first[t] + seq;
            if (!group.noise.has(unit) || group.noise.deviation(unit) <= 0) return;
            const double weight = std::pow(group.noise.deviation(unit), 2);
            weights += weight;
            squares += weight * weight;
            const double key = -std::log(fraction_of(scrambled(++number))) / weight;
            if (kept.size() == kShapes && key >= kept.front().first) return;
            kept.push_back({key, static_cast<float>((ns - group.noise.centre(place.rank, unit)) /
                                                    group.noise.deviation(unit))});
            std::push_heap(kept.begin(), kept.end());
            if (kept.size() <= kShapes) return;
            std::pop_heap(kept.begin(), kept.end());
            kept.pop_back();
          });
  }
  std::sort(kept.begin(), kept.end());
  std::vector<float> shapes;
  for (const auto& [key, shape] : kept) shapes.push_back(shape);
  set_shapes(std::move(shapes), squares > 0 ? weights * weights / squares : 0, most_ranks);
}

// `seen`: how many units of equal weight tell as much; `ranks`: of the largest group.
void RunNoise::set_shapes(std::vector<float> shapes, double seen, size_t ranks) {
  double mean = 0, square = 0;
  for (const float one : shapes) mean += static_cast<double>(one);
  mean /= static_cast<double>(std::max<size_t>(1, shapes.size()));
  for (const float one : shapes) square += std::pow(static_cast<double>(one) - mean, 2);
  const double deviation =
      std::sqrt(square / static_cast<double>(std::max<size_t>(1, shapes.size())));
  for (float& one : shapes)
    one = deviation > 0 ? static_cast<float>((static_cast<double>(one) - mean) / deviation) : 0;
  shapes_ = std::move(shapes);
  if (seen < static_cast<double>(kShapesARank * ranks))
    smoothed_by_ = 1.06 * std::pow(std::max(1.0, seen), -0.2);
}

RunNoise RunNoise::of(const Trace& trace) {
  RunNoise out;
  out.places_.resize(static_cast<size_t>(trace.rank_count()));
  if (!trace.has_times()) return out;
  for (GroupId id = 0; id < trace.group_count(); ++id) out.add_group(trace, id);
  out.collect_shapes(trace);
  return out;
}

double RunNoise::shape(uint64_t random) const {
  if (shapes_.empty()) return normal_of(random);
  const double one = static_cast<double>(shapes_[random % shapes_.size()]);
  if (smoothed_by_ <= 0) return one;
  return (one + smoothed_by_ * normal_of(scrambled(random))) /
         std::sqrt(1 + smoothed_by_ * smoothed_by_);
}

RunNoise::Doubts RunNoise::doubts(uint64_t seed) const {
  Doubts out;
  for (const Group& group : groups_) {
    out.emplace_back();
    for (size_t kind = 0; kind < group.noise.kinds(); ++kind) {
      const uint64_t random = scrambled(scrambled(scrambled(~seed) + out.size()) + kind);
      out.back().push_back(
          group.noise.doubt(kind, normal_of(random), normal_of(scrambled(random ^ seed))));
    }
  }
  return out;
}

uint64_t RunNoise::unit_ns(uint64_t seed, const Doubts& doubts, Rank rank, uint32_t thread,
                           uint64_t seq, uint64_t recorded_ns) const {
  const Place place = places_[static_cast<size_t>(rank)];
  if (place.group == kNone) return recorded_ns;
  const Group& group = groups_[place.group];
  const auto found = std::find(group.threads.begin(), group.threads.end(), thread);
  if (found == group.threads.end()) return recorded_ns;
  const size_t unit = group.first[static_cast<size_t>(found - group.threads.begin())] + seq;
  if (!group.noise.has(unit)) return recorded_ns;
  const GroupNoise::Doubt& doubt = doubts[place.group][group.noise.kind(unit)];
  const double deviation = group.noise.deviation(unit) * doubt.deviation;
  const uint64_t of_rank = scrambled(seed ^ scrambled(static_cast<uint64_t>(rank)));
  const double chance = deviation > 0 ? shape(scrambled(scrambled(of_rank + unit) ^ seed)) : 0;
  const double ns = group.noise.centre(place.rank, unit) * doubt.level + deviation * chance;
  return static_cast<uint64_t>(rounded(std::max(0.0, ns)));
}

}  // namespace refrain::sim
