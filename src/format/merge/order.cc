#include "format/merge/order.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <span>
#include <unordered_map>
#include <utility>

#include "format/codes/order_run.h"
#include "format/merge/intern.h"
#include "format/signatures/file_forms.h"

namespace refrain::format {

namespace {

// new number by old number.
std::vector<uint32_t> inverse(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> map(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) map[order[i]] = i;
  return map;
}

// Where they lie: a second list of them would be most of what a merge needs at its end.
template <class List>
void permute_cycles(List& all, const std::vector<uint32_t>& order) {
  std::vector<bool> is_done(all.size(), false);
  for (uint32_t first = 0; first < all.size(); ++first) {
    if (is_done[first] || order[first] == first) continue;
    auto moved = std::move(all[first]);
    uint32_t to = first;
    for (uint32_t from = order[to]; from != first; from = order[to]) {
      all[to] = std::move(all[from]);
      is_done[to] = true;
      to = from;
    }
    all[to] = std::move(moved);
    is_done[to] = true;
  }
}

// Elements that follow each other in both orders stay where they are, if they are most of all; the
// others are taken from the ends and put to the ends.
template <class T>
void permute(std::deque<T>& all, const std::vector<uint32_t>& order) {
  const OrderRun run = longest_run(order);
  if (!run.is_most_of(order)) return permute_cycles(all, order);
  const auto begin = all.begin() + static_cast<ptrdiff_t>(run.first);
  const auto end = begin + static_cast<ptrdiff_t>(run.count);
  std::vector<T> before(std::make_move_iterator(all.begin()), std::make_move_iterator(begin));
  std::vector<T> behind(std::make_move_iterator(end), std::make_move_iterator(all.end()));
  all.erase(end, all.end());
  all.erase(all.begin(), begin);
  const auto other = [&](uint32_t i) {
    return std::move(i < run.first ? before[i] : behind[i - run.first - run.count]);
  };
  for (size_t i = run.at; i-- > 0;) all.push_front(other(order[i]));
  for (size_t i = run.at + run.count; i < order.size(); ++i) all.push_back(other(order[i]));
}

base::RunList renumbered(const base::RunList& list, const std::vector<uint32_t>& map) {
  base::RunList out;
  for (const auto& run : list.runs()) {
    for (uint64_t i = 0; i < run.count; ++i) {
      const auto v = static_cast<uint64_t>(run.start) + static_cast<uint64_t>(run.step) * i;
      // Neighbours need not stay neighbours, so runs are made anew.
      out.append(v < map.size() ? map[static_cast<size_t>(v)] : -1);
    }
  }
  return out;
}

// Definition slots are constants or tables; a table belongs to slots of one nature, because the
// merge makes no difference between equal ones, so it is copied where both use it.
void renumber_slots(TraceData& trace, const std::vector<uint32_t>& map) {
  std::vector<int64_t> copy_of(trace.tables.size(), -1);
  SignatureTable& all = trace.signatures;
  for (size_t i = 0; i < all.size(); ++i) {
    for (const uint32_t k : all.structure(i).definition_slots) {
      if (k >= all.codes(i).size()) break;
      const ExprCode code = all.codes(i)[k];
      const auto a = static_cast<size_t>(all.operand(i, k));
      // No other code has a definition: definitions are not computed with.
      if (code == ExprCode::kConst) {
        if (a < map.size() && map[a] != a) all.set_operand(i, k, 0, map[a]);
      } else if (code == ExprCode::kTable && a < copy_of.size()) {
        if (copy_of[a] < 0) {
          copy_of[a] = static_cast<int64_t>(trace.tables.size());
          trace.tables.push_back(renumbered(trace.tables[a], map));
        }
        all.set_operand(i, k, 0, copy_of[a]);
      }
    }
  }
}

// Tables that no slot names any more are left out.
void drop_unused_tables(TraceData& trace) {
  std::vector<int64_t> map(trace.tables.size(), -1);
  std::vector<base::RunList> used;
  SignatureTable& all = trace.signatures;
  for (size_t i = 0; i < all.size() && !map.empty(); ++i) {
    if (!all.has_table(i)) continue;
    for (size_t k = 0; k < all.codes(i).size(); ++k) {
      if (all.codes(i)[k] != ExprCode::kTable) continue;
      const auto a = static_cast<size_t>(all.operand(i, k));
      if (a >= map.size()) continue;
      if (map[a] < 0) {
        map[a] = static_cast<int64_t>(used.size());
        used.push_back(std::move(trace.tables[a]));
      }
      all.set_operand(i, k, 0, map[a]);
    }
  }
  // In the order of their first use, which is that of the file.
  trace.tables = std::move(used);
}

void order_definitions(TraceData& trace) {
  std::vector<uint64_t> keys;
  // Families are what the file writes as columns; it needs their members next to each other.
  // References go to earlier definitions only, and the order keeps that (family_order).
  for (const Definition& d : trace.definitions) keys.push_back(file_definition(d).key());
  const std::vector<uint32_t> order = family_order(
      keys, [&](uint32_t i) { return std::span<const uint32_t>(trace.definitions[i].refs); });
  const std::vector<uint32_t> map = inverse(order);
  // A table is copied where slots of both natures use it, and stays where none names definitions.
  if (is_identity(map) && trace.tables.empty()) return;
  permute_cycles(trace.definitions, order);
  for (Definition& d : trace.definitions) {
    for (uint32_t& r : d.refs) r = map[r];
  }
  renumber_slots(trace, map);
}

// By signature: equal in all of a family. Signatures of one shape and form have it in common.
std::vector<uint64_t> family_keys(const SignatureTable& all) {
  std::vector<uint64_t> keys;
  keys.reserve(all.size());
  std::unordered_map<uint64_t, uint64_t> known;
  for (size_t i = 0, end = 0; i < all.size(); i = end) {
    end = all.alike_until(i);
    const auto [it, is_new] = known.try_emplace(uint64_t{all.shape(i)} << 32 | all.form(i));
    if (is_new) it->second = file_signature(all, i).key();
    keys.insert(keys.end(), end - i, it->second);
  }
  return keys;
}

void order_signatures(TraceData& trace) {
  const SignatureTable& all = trace.signatures;
  const std::vector<uint64_t> keys = family_keys(all);
  // A request is named by the call that made it, which must come first in the file.
  if (all.shapes().has_requests())
    return apply_order(trace, family_order(keys, [&](uint32_t i) { return all.requests(i); }));
  const bool is_one =
      std::all_of(keys.begin(), keys.end(), [&](uint64_t key) { return key == keys[0]; });
  if (!is_one) apply_order(trace, family_order(keys, nullptr));
}

}  // namespace

void apply_order(TraceData& trace, const std::vector<uint32_t>& order) {
  if (is_identity(order)) return;
  const std::vector<uint32_t> map = inverse(order);
  trace.signatures.permute(order);
  permute(trace.durations, order);
  if (!trace.gaps.empty()) permute(trace.gaps, order);
  for (Group& g : trace.groups) {
    for (uint32_t& s : g.signatures) s = map[s];
  }
}

void order_families(TraceData& trace) {
  order_definitions(trace);
  // Behind the definitions, because keys of signatures do not depend on them but slots have their
  // numbers.
  order_signatures(trace);
  drop_unused_tables(trace);
}

}  // namespace refrain::format
