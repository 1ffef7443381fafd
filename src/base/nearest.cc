#include "base/nearest.h"

#include <algorithm>
#include <cstddef>

namespace refrain::base {
namespace {

// Longer words are nobody's slip of a finger; the work is bounded by this.
constexpr size_t kMaxLength = 64;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Letters added, left out, replaced, or swapped with their neighbour (optimal string alignment).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& known) {
  const std::string word = lower(typed);
  if (word.empty() || word.size() > kMaxLength) return {};
  const std::string* begun = nullptr;
  size_t begun_count = 0;
  for (const std::string& k : known)
    if (lower(k).rfind(word, 0) == 0) {
      begun = &k;
      ++begun_count;
    }
  if (begun_count == 1) return *begun;
  // One letter of three may be wrong, and one of two.
  const size_t limit = std::max<size_t>(1, word.size() / 3);
  const std::string* best = nullptr;
  size_t best_distance = limit + 1;
  for (const std::string& k : known) {
    if (k.size() > kMaxLength) continue;
    const size_t d = distance(word, lower(k));
    // Of which no letter is left, is no slip: 3 for 1, or x for a.
    if (d >= best_distance || d >= std::max(word.size(), k.size())) continue;
    best_distance = d;
    best = &k;
  }
  return best == nullptr ? std::string() : *best;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known) {
  const std::string near = nearest(typed, known);
  return near.empty() ? near : "; did you mean '" + near + "'?";
}

}  // namespace refrain::base
