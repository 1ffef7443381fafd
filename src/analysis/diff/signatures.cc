#include "analysis/diff/signatures.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace refrain::analysis::diff {
namespace {

constexpr size_t kMostChanged = 1 << 16;  // beyond that, none are taken for changed ones

// How many words are equal, as a part of the longer list.
double likeness(const Words& a, const Words& b) {
  size_t equal = 0;
  for (const std::string& word : a) equal += std::find(b.begin(), b.end(), word) != b.end() ? 1 : 0;
  const size_t most = std::max(a.size(), b.size());
  return most == 0 ? 1 : static_cast<double>(equal) / static_cast<double>(most);
}

// Of what a call's parameters are, at least so much must be left.
constexpr double kLikeEnoughToChange = 0.5;

void pair_up(std::vector<SignatureChange>& vanished, std::vector<SignatureChange>& appeared,
             std::vector<SignatureChange>& out) {
  std::vector<std::tuple<double, double, size_t, size_t>> pairs;
  if (vanished.size() * appeared.size() <= kMostChanged)
    for (size_t i = 0; i < vanished.size(); ++i)
      for (size_t j = 0; j < appeared.size(); ++j) {
        const double like = likeness(vanished[i].before, appeared[j].after);
        if (like < kLikeEnoughToChange) continue;
        const double calls = std::abs(vanished[i].calls_before - appeared[j].calls_after);
        pairs.emplace_back(-like, calls, i, j);
      }
  std::sort(pairs.begin(), pairs.end());
  std::vector<char> gone(vanished.size(), 0), come(appeared.size(), 0);
  for (const auto& [like, calls, i, j] : pairs) {
    if (gone[i] != 0 || come[j] != 0) continue;
    gone[i] = come[j] = 1;
    out.push_back({Change::kChanged, vanished[i].before, appeared[j].after,
                   vanished[i].calls_before, appeared[j].calls_after});
  }
  for (size_t i = 0; i < vanished.size(); ++i)
    if (gone[i] == 0) out.push_back(std::move(vanished[i]));
  for (size_t j = 0; j < appeared.size(); ++j)
    if (come[j] == 0) out.push_back(std::move(appeared[j]));
}

}  // namespace

bool is_close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::vector<SignatureChange> compare_signatures(const std::vector<SignatureRow>& before,
                                                const std::vector<SignatureRow>& after,
                                                double ranks_before, double ranks_after) {
  std::vector<SignatureChange> out, vanished, appeared;
  size_t i = 0, j = 0;
  const auto calls = [](const SignatureRow& row, double ranks) {
    return static_cast<double>(row.counts.calls) / ranks;
  };
  while (i < before.size() || j < after.size()) {
    if (j == after.size() || (i < before.size() && before[i].words < after[j].words)) {
      vanished.push_back(
          {Change::kVanished, before[i].words, {}, calls(before[i], ranks_before), 0});
      ++i;
    } else if (i == before.size() || after[j].words < before[i].words) {
      appeared.push_back({Change::kAppeared, {}, after[j].words, 0, calls(after[j], ranks_after)});
      ++j;
    } else {
      const double a = calls(before[i], ranks_before), b = calls(after[j], ranks_after);
      if (!is_close(a, b)) out.push_back({Change::kChanged, before[i].words, after[j].words, a, b});
      ++i, ++j;
    }
  }
  pair_up(vanished, appeared, out);
  std::stable_sort(out.begin(), out.end(), [](const SignatureChange& x, const SignatureChange& y) {
    return std::abs(x.calls_after - x.calls_before) > std::abs(y.calls_after - y.calls_before);
  });
  return out;
}

}  // namespace refrain::analysis::diff
