#include "format/merge/order.h"

#include <utility>

#include "format/file_forms.h"
#include "format/walk.h"

namespace refrain::format {

namespace {

// new number by old number.
std::vector<uint32_t> inverse(const std::vector<uint32_t>& order) {
  std::vector<uint32_t> map(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) map[order[i]] = i;
  return map;
}

template <class T>
void permute(std::vector<T>& all, const std::vector<uint32_t>& order) {
  std::vector<T> out;
  out.reserve(all.size());
  for (const uint32_t i : order) out.push_back(std::move(all[i]));
  all = std::move(out);
}

base::RunList renumbered(const base::RunList& list, const std::vector<uint32_t>& map) {
  base::RunList out;
  for (const auto& run : list.runs()) {
    for (uint64_t i = 0; i < run.count; ++i) {
      const auto v = static_cast<uint64_t>(run.start) + static_cast<uint64_t>(run.step) * i;
      out.append(v < map.size() ? map[static_cast<size_t>(v)] : -1);
    }
  }
  return out;
}

// Definition slots are constants or tables; a table belongs to slots of one nature, because the
// merge makes no difference between equal ones, so it is copied where both use it.
void renumber_slots(TraceData& trace, const std::vector<uint32_t>& map) {
  std::vector<int64_t> copy_of(trace.tables.size(), -1);
  for (Signature& s : trace.signatures) {
    const auto info = inspect_shape(s.shape);
    if (!info) continue;
    for (size_t k = 0; k < s.slots.size() && k < info->slots.size(); ++k) {
      if (info->slots[k] != SlotNature::kDefinition) continue;
      Expr& e = s.slots[k];
      const auto a = static_cast<size_t>(e.a);
      if (e.kind == Expr::Kind::kConst) {
        if (a < map.size()) e.a = map[a];
      } else if (e.kind == Expr::Kind::kTable && a < copy_of.size()) {
        if (copy_of[a] < 0) {
          copy_of[a] = static_cast<int64_t>(trace.tables.size());
          trace.tables.push_back(renumbered(trace.tables[a], map));
        }
        e.a = copy_of[a];
      }
    }
  }
}

// Tables that no slot names any more are left out.
void drop_unused_tables(TraceData& trace) {
  std::vector<int64_t> map(trace.tables.size(), -1);
  std::vector<base::RunList> used;
  for (Signature& s : trace.signatures) {
    for (Expr& e : s.slots) {
      if (e.kind != Expr::Kind::kTable || static_cast<uint64_t>(e.a) >= map.size()) continue;
      int64_t& now = map[static_cast<size_t>(e.a)];
      if (now < 0) {
        now = static_cast<int64_t>(used.size());
        used.push_back(std::move(trace.tables[static_cast<size_t>(e.a)]));
      }
      e.a = now;
    }
  }
  trace.tables = std::move(used);
}

void order_definitions(TraceData& trace) {
  std::vector<uint64_t> keys;
  std::vector<std::vector<uint32_t>> refs;
  for (const Definition& d : trace.definitions) {
    keys.push_back(file_definition(d).key());
    refs.push_back(d.refs);
  }
  const std::vector<uint32_t> order = family_order(keys, refs);
  const std::vector<uint32_t> map = inverse(order);
  permute(trace.definitions, order);
  for (Definition& d : trace.definitions) {
    for (uint32_t& r : d.refs) r = map[r];
  }
  renumber_slots(trace, map);
}

void order_signatures(TraceData& trace) {
  std::vector<uint64_t> keys;
  std::vector<std::vector<uint32_t>> refs;
  for (const Signature& s : trace.signatures) {
    keys.push_back(file_signature(s).key());
    const auto info = inspect_shape(s.shape);
    refs.push_back(info ? info->requests : std::vector<uint32_t>());
  }
  const std::vector<uint32_t> order = family_order(keys, refs);
  const std::vector<uint32_t> map = inverse(order);
  permute(trace.signatures, order);
  permute(trace.durations, order);
  for (Signature& s : trace.signatures) {
    if (auto shape = renumber_requests(s.shape, map)) s.shape = std::move(*shape);
  }
  for (Group& g : trace.groups) {
    for (uint32_t& s : g.signatures) s = map[s];
  }
}

}  // namespace

void order_families(TraceData& trace) {
  order_definitions(trace);
  order_signatures(trace);
  drop_unused_tables(trace);
}

}  // namespace refrain::format
