#include "analysis/diff/places.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/diff/tree.h"

namespace refrain::analysis::diff {
namespace {

// Sites in one function that are aligned in their order; more are only matched by content.
constexpr size_t kMostCells = size_t{1} << 22;
constexpr double kLikeEnoughToPair = 0.5;  // for places out of order

using Nodes = std::vector<uint32_t>;

class Aligner {
 public:
  Aligner(const Trace& before, const Summary& a, const Trace& after, const Summary& b,
          reader::Symbols& symbols)
      : a_(tree_of(before, a, symbols)), b_(tree_of(after, b, symbols)) {}

  std::vector<PlacePair> run(size_t rows_before, size_t rows_after) {
    partner_of_.assign(rows_after, PlacePair::kNone);
    work_.emplace_back(0, 0);
    while (!work_.empty()) {
      const auto [a, b] = work_.back();
      work_.pop_back();
      match_calls(a_[a], b_[b]);
      match_children(a_[a].children, b_[b].children);
    }
    std::vector<PlacePair> out;
    std::vector<char> is_matched(rows_before, 0);
    for (uint32_t r = 0; r < rows_after; ++r) {
      out.push_back({partner_of_[r], r});
      if (partner_of_[r] != PlacePair::kNone) is_matched[partner_of_[r]] = 1;
    }
    for (uint32_t r = 0; r < rows_before; ++r)
      if (is_matched[r] == 0) out.push_back({r, PlacePair::kNone});
    return out;
  }

 private:
  // One row each, unless a damaged trace says the same path twice.
  void match_calls(const TreeNode& a, const TreeNode& b) {
    for (const auto& [call, rows] : b.calls) {
      const auto there = a.calls.find(call);
      if (there == a.calls.end()) continue;
      for (size_t i = 0; i < std::min(rows.size(), there->second.size()); ++i)
        partner_of_[rows[i]] = there->second[i];
    }
  }

  void match_children(Nodes a, Nodes b) {
    match_addresses(a, b);
    if (a.size() * b.size() <= kMostCells) match_in_order(a, b);
    match_content(a, b);
  }

  // Places in the same build of a module: where the address is not there, the place is not.
  void match_addresses(Nodes& a, Nodes& b) {
    std::map<std::tuple<std::string_view, std::string_view, int64_t>, uint32_t> there;
    for (const uint32_t n : a)
      there.emplace(std::tuple(std::string_view(a_[n].module), std::string_view(a_[n].build_id),
                               a_[n].offset),
                    n);
    Nodes rest_b, matched;
    for (const uint32_t n : b) {
      const TreeNode& node = b_[n];
      const auto at = node.build_id.empty() ? there.end()
                                            : there.find({node.module, node.build_id, node.offset});
      if (at == there.end()) {
        rest_b.push_back(n);
        continue;
      }
      work_.emplace_back(at->second, n);
      matched.push_back(at->second);
      there.erase(at);
    }
    std::sort(matched.begin(), matched.end());
    std::erase_if(
        a, [&](uint32_t n) { return std::binary_search(matched.begin(), matched.end(), n); });
    b = std::move(rest_b);
  }

  // How much speaks for the places being the same; 0: they are not.
  double score(const TreeNode& a, const TreeNode& b) const {
    const bool same_build = !a.build_id.empty() && a.build_id == b.build_id;
    if (same_build && a.offset != b.offset) return 0;
    double score = a.tokens.likeness(b.tokens);
    if (score == 0) return 0;
    if (a.module != b.module) score *= 0.75;  // a program may have got another name
    if (!a.function.empty() && !b.function.empty()) score *= a.function == b.function ? 1.5 : 0.25;
    if (a.line > 0 && a.line == b.line && a.file == b.file) score *= 1.25;
    if (a.build_id.empty() && b.build_id.empty() && a.offset == b.offset) score *= 1.5;
    return score;
  }

  // The pairs in increasing order in both lists with the largest sum of scores.
  void match_in_order(Nodes& a, Nodes& b) {
    if (a.empty() || b.empty()) return;
    const size_t width = b.size() + 1;
    std::vector<double> best((a.size() + 1) * width, 0);
    std::vector<double> scores(a.size() * b.size());
    for (size_t i = a.size(); i-- > 0;) {
      for (size_t j = b.size(); j-- > 0;) {
        const double here = scores[i * b.size() + j] = score(a_[a[i]], b_[b[j]]);
        const double with = here > 0 ? here + best[(i + 1) * width + j + 1] : 0;
        best[i * width + j] = std::max({with, best[(i + 1) * width + j], best[i * width + j + 1]});
      }
    }
    Nodes rest_a, rest_b;
    size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
      const double here = scores[i * b.size() + j];
      if (here > 0 && best[i * width + j] == here + best[(i + 1) * width + j + 1])
        work_.emplace_back(a[i++], b[j++]);
      else if (best[i * width + j] == best[(i + 1) * width + j])
        rest_a.push_back(a[i++]);
      else
        rest_b.push_back(b[j++]);
    }
    rest_a.insert(rest_a.end(), a.begin() + static_cast<ptrdiff_t>(i), a.end());
    rest_b.insert(rest_b.end(), b.begin() + static_cast<ptrdiff_t>(j), b.end());
    a = std::move(rest_a);
    b = std::move(rest_b);
  }

  // What the compiler or the program's author has moved: the most alike ones first.
  void match_content(Nodes& a, Nodes& b) {
    if (a.size() * b.size() > kMostCells) return;
    std::vector<std::tuple<double, uint32_t, uint32_t>> pairs;
    for (const uint32_t m : a)
      for (const uint32_t n : b)
        if (const double s = score(a_[m], b_[n]); s >= kLikeEnoughToPair)
          pairs.emplace_back(-s, m, n);
    std::sort(pairs.begin(), pairs.end());
    std::map<uint32_t, bool> used_a, used_b;
    for (const auto& [s, m, n] : pairs) {
      if (used_a[m] || used_b[n]) continue;
      used_a[m] = used_b[n] = true;
      work_.emplace_back(m, n);
    }
  }

  const std::vector<TreeNode> a_, b_;
  std::vector<uint32_t> partner_of_;  // of each row of b
  std::vector<std::pair<uint32_t, uint32_t>> work_;
};

}  // namespace

std::vector<PlacePair> align(const Trace& before, const Summary& a, const Trace& after,
                             const Summary& b, reader::Symbols& symbols) {
  return Aligner(before, a, after, b, symbols).run(a.rows.size(), b.rows.size());
}

std::vector<uint32_t> pair_of_row(const std::vector<PlacePair>& pairs, size_t rows,
                                  bool is_before) {
  std::vector<uint32_t> out(rows, PlacePair::kNone);
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    const uint32_t row = is_before ? pairs[i].before : pairs[i].after;
    if (row != PlacePair::kNone) out[row] = i;
  }
  return out;
}

}  // namespace refrain::analysis::diff
