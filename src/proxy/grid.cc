#include "proxy/grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "mpi/call_ids.h"

namespace refrain::proxy {
namespace {

constexpr size_t kMostAxes = 4;
// A rank's place along an axis; the words of the program's header.
constexpr const char* kPlaceWords[] = {"kFirst", "kInside", "kLast", "kOnly", "kAny"};
constexpr int kAny = 4;

// Descending sides of `count` in all, none above `most`; the smallest difference wins.
void share_out(int64_t count, size_t axes, int64_t most, std::vector<int64_t>& sides,
               std::vector<int64_t>& best) {
  if (axes == 1) {
    if (count > most) return;
    sides.push_back(count);
    if (best.empty() || sides.front() - sides.back() < best.front() - best.back()) best = sides;
    sides.pop_back();
    return;
  }
  for (int64_t side = 1; side <= most && side <= count; ++side) {
    if (count % side != 0) continue;
    sides.push_back(side);
    share_out(count / side, axes - 1, side, sides, best);
    sides.pop_back();
  }
}

// Constant numbers of an array; empty where they are none.
std::vector<int64_t> constants_of(Symbolic& symbolic, SignatureId signature, size_t parameter,
                                  const Kind& kind) {
  std::vector<int64_t> out;
  format::Field field = symbolic.field_of(signature, parameter, kind.position(kind.first_rank()));
  if (field.tag == format::FieldTag::kChanged && field.children.size() == 2)
    field = field.children[1];
  for (const format::IntRun& run : field.runs)
    for (uint64_t i = 0; i < run.count && out.size() <= kMostAxes; ++i)
      out.push_back(run.start + static_cast<int64_t>(i) * run.step);
  for (const format::Field& child : field.children)
    for (uint64_t i = 0; i < child.repeat && out.size() <= kMostAxes; ++i)
      out.push_back(child.value);
  return out;
}

std::string joined(const std::vector<int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

}  // namespace

std::vector<int64_t> balanced_sides(int64_t count, size_t axes) {
  std::vector<int64_t> sides, best;
  if (axes > 0 && axes <= kMostAxes && count > 0) share_out(count, axes, count, sides, best);
  return best;
}

Grid::Grid(std::vector<int64_t> sides, std::vector<bool> periods)
    : sides_(std::move(sides)), periods_(std::move(periods)) {
  is_ascending_ = sides_.front() < sides_.back();
  // Digits from -2 to 2: a step along some axes, or two along one.
  size_t all = 1;
  for (size_t axis = 0; axis < sides_.size(); ++axis) all *= 5;
  for (size_t code = 0; code < all; ++code) {
    Steps steps;
    int64_t length = 0, axes = 0;
    for (size_t axis = 0, left = code; axis < sides_.size(); ++axis, left /= 5) {
      steps.push_back(static_cast<int64_t>(left % 5) - 2);
      length += std::abs(steps.back());
      axes += steps.back() != 0 ? 1 : 0;
    }
    if (axes > 0 && (length == axes || axes == 1)) tried_.push_back(steps);
  }
  const auto length_of = [](const Steps& steps) {
    int64_t out = 0;
    for (const int64_t step : steps) out += std::abs(step);
    return out;
  };
  std::stable_sort(tried_.begin(), tried_.end(),
                   [&](const Steps& a, const Steps& b) { return length_of(a) < length_of(b); });
}

std::vector<int64_t> Grid::at(int64_t rank) const {
  std::vector<int64_t> out(sides_.size());
  for (size_t axis = sides_.size(); axis-- > 0; rank /= sides_[axis])
    out[axis] = rank % sides_[axis];
  return out;
}

int64_t Grid::neighbour(int64_t rank, const Steps& steps) const {
  const std::vector<int64_t> here = at(rank);
  int64_t out = 0;
  for (size_t axis = 0; axis < sides_.size(); ++axis) {
    const int64_t side = sides_[axis];
    int64_t there = here[axis] + steps[axis];
    if (periods_[axis])
      there = (there % side + side) % side;
    else if (there < 0 || there >= side)
      return kNobody;
    out = out * side + there;
  }
  return out;
}

std::vector<int> Grid::place(int64_t rank) const {
  std::vector<int> out;
  const std::vector<int64_t> here = at(rank);
  for (size_t axis = 0; axis < sides_.size(); ++axis)
    out.push_back(sides_[axis] == 1                ? 3
                  : here[axis] == 0                ? 0
                  : here[axis] == sides_[axis] - 1 ? 2
                                                   : 1);
  return out;
}

std::optional<std::string> Grid::steps_to(const std::map<int64_t, int64_t>& to) const {
  if (std::all_of(to.begin(), to.end(), [](const auto& one) { return one.second == kNobody; }))
    return std::nullopt;
  for (const Steps& steps : tried_)
    if (std::all_of(to.begin(), to.end(),
                    [&](const auto& one) { return neighbour(one.first, steps) == one.second; }))
      return fmt::format("grid.neighbour({{{}}})", joined(steps));
  return std::nullopt;
}

bool Grid::tells_sides_apart() const {
  for (size_t axis = 0; axis < sides_.size(); ++axis)
    if (periods_[axis] && sides_[axis] <= 2) return false;
  return true;
}

std::optional<std::string> Grid::kinds(const std::vector<int64_t>& kind_of_rank) const {
  std::map<std::vector<int>, int64_t> by_place;
  for (size_t rank = 0; rank < kind_of_rank.size(); ++rank) {
    const auto [known, is_new] =
        by_place.try_emplace(place(static_cast<int64_t>(rank)), kind_of_rank[rank]);
    if (!is_new && known->second != kind_of_rank[rank]) return std::nullopt;
  }
  // Along some axes it may not matter.
  for (size_t axis = 0; axis < sides_.size(); ++axis) {
    std::map<std::vector<int>, int64_t> wider;
    bool does_matter = false;
    for (const auto& [place, kind] : by_place) {
      std::vector<int> anywhere = place;
      anywhere[axis] = kAny;
      does_matter = does_matter || wider.try_emplace(anywhere, kind).first->second != kind;
    }
    if (!does_matter) by_place = wider;
  }
  std::string lines;
  for (const auto& [place, kind] : by_place) {
    std::string words;
    for (const int one : place)
      words += fmt::format("{}{}", words.empty() ? "" : ", ", kPlaceWords[one]);
    lines += fmt::format("{}\n      {{{}, {{{}}}}}", lines.empty() ? "" : ",", kind, words);
  }
  return "grid.kind({" + lines + "})";
}

std::string Grid::definition() const {
  std::string periods;
  for (const bool one : periods_) periods += fmt::format("{}{}", periods.empty() ? "" : ", ", one);
  return fmt::format("Grid grid({{{}}}, {{{}}}, {});\n", joined(sides_), periods, is_ascending_);
}

std::optional<Grid> Grid::find(Symbolic& symbolic, const std::vector<Family>& families,
                               bool guesses) {
  const int64_t ranks = symbolic.trace().rank_count();
  std::vector<int64_t> kind_of_rank(static_cast<size_t>(ranks));
  std::set<int64_t> kinds;
  for (const Family& family : families)
    for (const Kind& kind : family.kinds) {
      kind.for_each_rank([&](Rank r) { kind_of_rank[static_cast<size_t>(r)] = kind.number; });
      kinds.insert(kind.number);
    }
  const auto is_balanced = [&](std::vector<int64_t> sides) {
    const std::vector<int64_t> usual = balanced_sides(ranks, sides.size());
    if (sides == usual) return true;
    std::reverse(sides.begin(), sides.end());
    return sides == usual;
  };
  const Kind& kind = families.front().kinds.front();
  for (const uint32_t t : kind.terminals()) {
    const SignatureId signature = kind.signature(t);
    if (symbolic.trace().call_of(signature) != mpi::kMPI_Cart_create) continue;
    const std::vector<int64_t> sides = constants_of(symbolic, signature, 2, kind);
    const std::vector<int64_t> wraps = constants_of(symbolic, signature, 3, kind);
    if (sides.empty() || sides.size() > kMostAxes || wraps.size() != sides.size() ||
        !is_balanced(sides))
      continue;
    std::vector<bool> periods;
    for (const int64_t one : wraps) periods.push_back(one != 0);
    return Grid(sides, periods);
  }
  if (!guesses || kinds.size() < 2 || ranks < 8) return std::nullopt;
  for (const size_t axes : {2, 3}) {
    std::vector<int64_t> sides = balanced_sides(ranks, axes);
    if (sides.empty() || sides.back() < 2) continue;
    for (int order = 0; order < 2; ++order, std::reverse(sides.begin(), sides.end())) {
      const Grid grid(sides, std::vector<bool>(axes, false));
      if (grid.kinds(kind_of_rank)) return grid;
    }
  }
  return std::nullopt;
}

}  // namespace refrain::proxy
