#include "format/merge/group.h"

#include <algorithm>

#include "format/expr.h"
#include "format/merge/hypotheses.h"

namespace refrain::format {

std::vector<ShapeInfo> inspect_all(const std::vector<std::string>& shapes) {
  std::vector<ShapeInfo> infos;
  infos.reserve(shapes.size());
  for (const std::string& s : shapes) infos.push_back(inspect_shape(s).value_or(ShapeInfo{}));
  return infos;
}

const base::RunList& GroupView::ranks() {
  if (!ranks_) ranks_ = group_.ranks.runs();
  return *ranks_;
}

const PartialSignature& GroupView::signature(uint32_t terminal) {
  Known& known = known_[terminal % kKnown];
  if (known.terminal != terminal) {
    known.signature = group_.signatures[terminal];
    known.terminal = terminal;
  }
  return known.signature;
}

int64_t GroupView::definition(uint32_t terminal, uint32_t slot, uint64_t position) {
  const PartialSignature& sig = signature(terminal);
  if (slot < sig.slots.size()) {
    const SlotState& s = sig.slots[slot];
    if (s.alive != 0) return s.first;
    if (position >= s.values.size()) return -1;
    if (position == 0) return s.values.first();
    const auto [it, is_new] = tables_.try_emplace({terminal, slot});
    if (is_new) it->second = s.values.runs();
    return it->second.at(position);
  }
  return slot < sig.values.size() ? sig.values[slot] : -1;
}

Place GroupView::place(uint32_t terminal, uint64_t position) {
  const auto rank =
      static_cast<uint64_t>(position == 0 ? group_.ranks.first() : ranks().at(position));
  for (;;) {  // ends: a request was created by a call with a smaller terminal
    const ShapeInfo& shape = shapes_[signature(terminal).shape];
    for (const uint32_t slot : shape.object_slots) {
      if (auto place = places_.in(definition(terminal, slot, position), rank)) return *place;
    }
    if (shape.requests.empty() || shape.requests[0] >= terminal) return places_.world(rank);
    terminal = shape.requests[0];
  }
}

bool GroupView::is_world(uint32_t terminal) {
  const auto rank = static_cast<uint64_t>(group_.ranks.first());
  for (;;) {  // as in place()
    const PartialSignature& sig = signature(terminal);
    const ShapeInfo& shape = shapes_[sig.shape];
    for (const uint32_t slot : shape.object_slots) {
      const int64_t object = definition(terminal, slot, 0);
      if (slot < sig.slots.size() && sig.slots[slot].alive == 0) return false;
      if (places_.in(object, rank)) return places_.is_world(object);
    }
    if (shape.requests.empty() || shape.requests[0] >= terminal) return true;
    terminal = shape.requests[0];
  }
}

std::vector<Place> GroupView::first_places() {
  std::vector<Place> out;
  out.reserve(group_.signatures.size());
  for (uint32_t t = 0; t < group_.signatures.size(); ++t) out.push_back(place(t, 0));
  return out;
}

void promote(PartialSignature& sig, const ShapeInfo& shape, Place first_place) {
  if (!sig.slots.empty()) return;
  const size_t n = std::min(shape.slots.size(), sig.values.size());
  sig.slots.reserve(n);
  for (size_t i = 0; i < n; ++i)
    sig.slots.push_back(first_sample(shape.slots[i], sig.values[i], first_place));
  sig.values = {};
}

base::NestedRuns materialise(const SlotState& state, Place first, GroupView& view,
                             uint32_t terminal, uint64_t count) {
  const Expr expr = choose(state, first);
  base::NestedRuns out;
  if (expr.kind == Expr::Kind::kConst) {
    out.append_run(expr.a, 0, count);
    return out;
  }
  if (expr.kind == Expr::Kind::kAffine && view.is_world(terminal) &&
      count == view.nested_ranks().size()) {
    // Runs stay runs: most of what a mesh makes of its ranks, without looking at each.
    const auto factor = static_cast<uint64_t>(expr.a), summand = static_cast<uint64_t>(expr.b);
    view.nested_ranks().for_each_run([&](int64_t start, int64_t step, uint64_t n) {
      out.append_run(static_cast<int64_t>(static_cast<uint64_t>(start) * factor + summand),
                     static_cast<int64_t>(static_cast<uint64_t>(step) * factor), n);
    });
    return out;
  }
  const std::vector<base::RunList> no_tables;
  for (uint64_t i = 0; i < count; ++i)
    out.append(evaluate(expr, view.place(terminal, i), i, no_tables));
  return out;
}

}  // namespace refrain::format
