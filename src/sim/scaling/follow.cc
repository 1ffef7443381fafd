#include "sim/scaling/follow.h"

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/nested_runs.h"

namespace refrain::sim {
namespace {

constexpr double kSame = 1e-9;  // relative: of sums of doubles that are whole numbers
constexpr uint64_t kMostListed = uint64_t{1} << 32;

bool is_whole(double value) {
  return std::abs(value - std::round(value)) <= kSame * (1 + std::abs(value));
}

// g(N) = sum over i of factors[i] * root^(i + 1), where root is the degree-th one; or another one.
struct Rule {
  enum class Kind : uint8_t { kPowers, kLog, kInverse };
  Kind kind = Kind::kPowers;
  int degree = 1;
  std::array<int, 3> factors{1, 0, 0};
};

// nullopt: there is no such grid, no such tree.
std::optional<double> value_of(const Rule& rule, uint64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (rule.kind == Rule::Kind::kLog) {
    const double log = std::log2(n);
    if (!is_whole(log)) return std::nullopt;
    return std::round(log);
  }
  const double root = std::round(std::pow(n, 1.0 / rule.degree));
  if (std::pow(root, rule.degree) != n) return std::nullopt;
  if (rule.kind == Rule::Kind::kInverse) return 1 / root;
  double sum = 0, power = 1;
  for (int i = 0; i < rule.degree; ++i) {
    power *= root;
    sum += rule.factors[static_cast<size_t>(i)] * power;
  }
  return sum;
}

// The simplest first.
const std::vector<Rule>& rules() {
  static const std::vector<Rule> kAll = [] {
    using Kind = Rule::Kind;
    std::vector<Rule> out = {{Kind::kPowers, 1, {1, 0, 0}}, {Kind::kPowers, 2, {1, 0, 0}},
                             {Kind::kPowers, 3, {1, 0, 0}}, {Kind::kLog, 1, {}},
                             {Kind::kInverse, 1, {}},       {Kind::kInverse, 2, {}},
                             {Kind::kInverse, 3, {}}};
    // The rank in the last column of the second row of the second plane is side^2 + 2 side - 1. The
    // first factor is positive: the others are these, turned around by b.
    constexpr int kMostFactor = 2, kMostSum = 4;
    for (int sum = 2; sum <= kMostSum; ++sum)
      for (int degree = 2; degree <= 3; ++degree)
        for (int first = 0; first <= kMostFactor; ++first)
          for (int second = -kMostFactor; second <= kMostFactor; ++second)
            for (int third = -kMostFactor; third <= kMostFactor; ++third) {
              const bool is_turned = first == 0 && (second < 0 || (second == 0 && third <= 0));
              if (is_turned || std::abs(first) + std::abs(second) + std::abs(third) != sum ||
                  (degree == 2 && third != 0))
                continue;
              out.push_back({Kind::kPowers, degree, {first, second, third}});
            }
    return out;
  }();
  return kAll;
}

std::optional<int64_t> by(const Rule& rule, const Sizes& sizes, const Three& values) {
  std::array<double, 3> g{};
  for (size_t i = 0; i < 3; ++i) {
    const auto value = value_of(rule, sizes.runs[i]);
    if (!value) return std::nullopt;
    g[i] = *value;
  }
  const auto wanted = value_of(rule, sizes.wanted);
  if (!wanted || g[0] == g[1]) return std::nullopt;
  const auto v = [&](size_t i) { return static_cast<double>(values[i]); };
  const double b = (v(1) - v(0)) / (g[1] - g[0]);
  const double third = v(1) + b * (g[2] - g[1]);
  if (std::abs(third - v(2)) > kSame * (1 + std::abs(v(2)))) return std::nullopt;
  const double found = v(1) + b * (*wanted - g[1]);
  if (!is_whole(found) || std::abs(found) > 1e15) return std::nullopt;
  return static_cast<int64_t>(std::round(found));
}

using Items = std::vector<base::NestedRuns::Item>;

bool follow_items(const Sizes& sizes, const std::array<const Items*, 3>& from, Items& out) {
  const size_t count = from[0]->size();
  if (from[1]->size() != count || from[2]->size() != count) return false;
  for (size_t i = 0; i < count; ++i) {
    const auto item = [&](size_t run) -> const base::NestedRuns::Item& { return (*from[run])[i]; };
    const auto three = [&](auto part) {
      return Three{part(item(0)), part(item(1)), part(item(2))};
    };
    const auto start = follow(sizes, three([](const auto& one) { return one.start; }));
    const auto step = follow(sizes, three([](const auto& one) { return one.step; }));
    const auto times =
        follow(sizes, three([](const auto& one) { return static_cast<int64_t>(one.count); }));
    if (!start || !step || !times || *times < 1) return false;
    base::NestedRuns::Item next{*start, *step, static_cast<uint64_t>(*times), {}};
    if (!follow_items(sizes, {&item(0).body, &item(1).body, &item(2).body}, next.body))
      return false;
    out.push_back(std::move(next));
  }
  return true;
}

uint64_t size_of(const Items& items) {
  uint64_t sum = 0;
  for (const auto& item : items) {
    const uint64_t each = item.is_loop() ? size_of(item.body) : 1;
    if (each > kMostListed || item.count > kMostListed / std::max<uint64_t>(1, each))
      return kMostListed + 1;
    sum += each * item.count;
    if (sum > kMostListed) return sum;
  }
  return sum;
}

}  // namespace

std::optional<int64_t> follow(const Sizes& sizes, const Three& values) {
  if (values[0] == values[1] && values[1] == values[2]) return values[0];
  for (const Rule& rule : rules())
    if (const auto found = by(rule, sizes, values)) return found;
  return std::nullopt;
}

std::optional<base::RunList> follow(const Sizes& sizes,
                                    const std::array<const base::RunList*, 3>& lists) {
  std::array<Items, 3> items;
  for (size_t i = 0; i < 3; ++i) items[i] = base::NestedRuns(*lists[i]).items();
  Items found;
  if (!follow_items(sizes, {items.data(), &items[1], &items[2]}, found)) return std::nullopt;
  if (size_of(found) > kMostListed) return std::nullopt;
  base::RunList out;
  base::NestedRuns::for_each_run(found, [&](int64_t start, int64_t step, uint64_t count) {
    out.append_run(start, step, count);
  });
  return out;
}

double follow_time(const Sizes& sizes, const std::array<double, 3>& times) {
  double mean_x = 0, mean_y = 0, mean = 0;
  bool is_positive = true;
  for (size_t i = 0; i < 3; ++i) {
    mean += times[i] / 3;
    is_positive = is_positive && times[i] > 0;
    if (!is_positive) continue;
    mean_x += std::log(static_cast<double>(sizes.runs[i])) / 3;
    mean_y += std::log(times[i]) / 3;
  }
  if (!is_positive) return mean;
  double xy = 0, xx = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double x = std::log(static_cast<double>(sizes.runs[i])) - mean_x;
    xy += x * (std::log(times[i]) - mean_y);
    xx += x * x;
  }
  const double at = std::log(static_cast<double>(sizes.wanted)) - mean_x;
  return std::exp(mean_y + (xx > 0 ? xy / xx * at : 0));
}

}  // namespace refrain::sim
