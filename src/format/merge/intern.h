// Tables in which equal content has one index. Two tables are united by giving every index of the
// second table the index of its content in the first one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/trace_data.h"

namespace refrain::format {

// Whether each old number is the new one, too.
inline bool is_identity(const std::vector<uint32_t>& map) {
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] != i) return false;
  }
  return true;
}

// Content (as bytes) -> index, in order of first use.
class Interner {
 public:
  // The index of `content`, and whether it is new.
  std::pair<uint32_t, bool> add(std::string content) {
    const auto next = static_cast<uint32_t>(index_.size());
    const auto [it, is_new] = index_.try_emplace(std::move(content), next);
    return {it->second, is_new};
  }

 private:
  std::unordered_map<std::string, uint32_t> index_;
};

inline std::string key_of(const Definition& d) {
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(d.kind));
  out.put_varint(d.refs.size());
  for (const uint32_t r : d.refs) out.put_varint(r);
  out.put_bytes(d.payload.data(), d.payload.size());
  return out.take();
}

inline std::string key_of(const grammar::Grammar& g) {
  base::ByteWriter out;
  out.put_varint(g.rule_end.size());
  for (const uint32_t e : g.rule_end) out.put_varint(e);
  for (const grammar::Symbol& s : g.symbols) {
    out.put_varint(uint64_t{s.id} << 1 | (s.is_rule ? 1 : 0));
    out.put_varint(s.count);
  }
  return out.take();
}

// Appends the members of `from` that `to` lacks; map[i] is where from[i] is in `to` afterwards.
// `prepare` may change a member of `from` before it is looked up (it sees the map so far).
template <class T, class Prepare>
std::vector<uint32_t> unite(std::vector<T>& to, std::vector<T>& from, Prepare prepare) {
  std::unordered_map<std::string, uint32_t> index;
  index.reserve(to.size() + from.size());
  for (uint32_t i = 0; i < to.size(); ++i) index.try_emplace(key_of(to[i]), i);
  std::vector<uint32_t> map;
  map.reserve(from.size());
  for (T& f : from) {
    prepare(f, map);
    const auto [it, is_new] = index.try_emplace(key_of(f), static_cast<uint32_t>(to.size()));
    map.push_back(it->second);
    if (is_new) to.push_back(std::move(f));
  }
  return map;
}
template <class T>
std::vector<uint32_t> unite(std::vector<T>& to, std::vector<T>& from) {
  return unite(to, from, [](T&, const std::vector<uint32_t>&) {});
}
// The same without a table: nodes have names, so there may be one string for every few ranks. Each
// of the two has its strings once.
inline std::vector<uint32_t> unite(std::vector<std::string>& to, std::vector<std::string>& from) {
  std::vector<uint32_t> order(to.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&to](uint32_t a, uint32_t b) { return to[a] < to[b]; });
  std::vector<uint32_t> map;
  map.reserve(from.size());
  for (std::string& f : from) {
    const auto at = std::lower_bound(order.begin(), order.end(), f,
                                     [&to](uint32_t i, const std::string& s) { return to[i] < s; });
    const bool known = at != order.end() && to[*at] == f;
    map.push_back(known ? *at : static_cast<uint32_t>(to.size()));
    if (!known) to.push_back(std::move(f));
  }
  return map;
}

}  // namespace refrain::format
