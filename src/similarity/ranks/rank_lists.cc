#include "similarity/ranks/rank_lists.h"

#include <utility>

namespace refrain::similarity {

namespace {

void take(const base::NestedRuns::Item& item, std::vector<RankList::Dimension> outer,
          std::vector<RankList>& out) {
  if (item.count > 1) outer.push_back({item.count, item.step});
  if (!item.is_loop()) {
    out.push_back({item.start, std::move(outer)});
    return;
  }
  for (const base::NestedRuns::Item& inner : item.body) take(inner, outer, out);
}

}  // namespace

std::string RankList::to_string() const {
  std::string s;
  const auto add = [&s](const std::string& number) {
    s.append(s.empty() ? "<" : " ").append(number);
  };
  add(std::to_string(dimensions.size()));
  add(std::to_string(first));
  for (const Dimension& d : dimensions) {
    add(std::to_string(d.count));
    add(std::to_string(d.stride));
  }
  return s.append(">");
}

std::vector<RankList> rank_lists(const base::NestedRuns& ranks) {
  std::vector<RankList> out;
  for (const base::NestedRuns::Item& item : ranks.items()) take(item, {}, out);
  return out;
}

}  // namespace refrain::similarity
