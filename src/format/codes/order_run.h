// Orders in which nearly all elements follow each other as before. Where no two calls are alike, a
// list has millions of elements of which a few go elsewhere: the others need not move, or move
// together, and a second list of them would be most of what a merge needs at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace refrain::format {

// The longest part of an order, given as the old indices in the new order, whose elements are
// neighbours in both: order[at + i] is first + i for `count` of them.
struct OrderRun {
  size_t at = 0, first = 0, count = 0;
  // Whether it is worth while to move the others one by one.
  bool is_most_of(const std::vector<uint32_t>& order) const { return 2 * count >= order.size(); }
};

inline OrderRun longest_run(const std::vector<uint32_t>& order) {
  OrderRun longest;
  for (size_t i = 0, end = 0; i < order.size(); i = end) {
    for (end = i + 1; end < order.size() && order[end] == order[end - 1] + 1;) ++end;
    if (end - i > longest.count) longest = {i, order[i], end - i};
  }
  return longest;
}

// Puts the elements of a list with operator[] into this order, in place; run.is_most_of(order).
template <class List>
void permute_around(const OrderRun& run, const std::vector<uint32_t>& order, List& all) {
  std::vector<size_t> places;  // of the others
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == run.at) i += run.count;
    if (i < order.size()) places.push_back(i);
  }
  std::vector<std::remove_cvref_t<decltype(all[0])>> others;
  others.reserve(places.size());
  for (const size_t i : places) others.push_back(all[order[i]]);
  if (run.at < run.first)
    for (size_t i = 0; i < run.count; ++i) all[run.at + i] = all[run.first + i];
  else if (run.at > run.first)
    for (size_t i = run.count; i-- > 0;) all[run.at + i] = all[run.first + i];
  for (size_t i = 0; i < places.size(); ++i) all[places[i]] = others[i];
}

}  // namespace refrain::format
