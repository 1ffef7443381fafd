#include "format/merge/group.h"

#include <algorithm>
#include <climits>

#include "format/limits.h"
#include "format/merge/infer_rank_expr.h"
#include "format/signatures/slot_evaluator.h"

namespace refrain::format {

namespace {

int depth_of(const std::vector<base::NestedRuns::Item>& items) {
  int depth = 0;
  for (const auto& item : items) {
    const int own = item.is_loop() ? 1 + depth_of(item.body) : item.count > 1 ? 1 : 0;
    depth = std::max(depth, own);
  }
  return depth;
}

}  // namespace

std::pair<int, uint64_t> extent_of(const base::NestedRuns& ranks) {
  constexpr uint64_t kOrderly = 16;
  if (ranks.item_count() > kOrderly) return {INT_MAX, ranks.size()};
  return {depth_of(ranks.items()), 0};
}

const base::RunList& GroupView::ranks() {
  if (!ranks_) ranks_ = group_.ranks.runs();
  return *ranks_;
}

int64_t GroupView::definition(uint32_t terminal, uint32_t slot, uint64_t position) {
  const SignatureList& all = signatures_;
  if (slot >= all.slots(terminal)) return -1;
  if (!all.has_states()) return all.value(terminal, slot);
  const SlotState s = all.state(terminal, slot);
  // Alive, a definition is the same on all ranks (first_sample).
  if (s.alive != 0) return s.first;
  base::NestedRuns room;
  const base::NestedRuns& values = all.values(terminal, slot, room);
  if (position >= values.size()) return -1;
  // Asked for by far most often: it needs no list of its own.
  if (position == 0) return values.first();
  // Unfolded once, as a position in nested runs is slow to find.
  const auto [it, is_new] = tables_.try_emplace({terminal, slot});
  if (is_new) it->second = values.runs();
  return it->second.at(position);
}

CommPlace GroupView::place(uint32_t terminal, uint64_t position) {
  if (position == 0) return first_place(terminal);
  const auto rank = static_cast<uint64_t>(ranks().at(position));
  for (;;) {  // ends: a request was created by a call with a smaller terminal
    const uint32_t shape = signatures_.shape(terminal);
    for (const uint32_t slot : shapes_.structure(shape).object_slots) {
      // The first object that leads to a communicator decides: that is what the reader does, which
      // computes the expressions (format.md, "me" and "size").
      if (auto place = places_.in(definition(terminal, slot, position), rank)) return *place;
    }
    const auto requests = shapes_.requests(shape);
    if (requests.empty() || requests[0] >= terminal) return places_.world(rank);
    terminal = requests[0];
  }
}

// As place(), with what definitions say kept.
CommPlace GroupView::first_place(uint32_t terminal) {
  const auto rank = static_cast<uint64_t>(group_.ranks.first());
  for (;;) {
    const uint32_t shape = signatures_.shape(terminal);
    for (const uint32_t slot : shapes_.structure(shape).object_slots) {
      const auto index = static_cast<uint64_t>(definition(terminal, slot, 0));
      if (index >= kMaxDefinitions) continue;
      if (index >= first_places_.size()) first_places_.resize(index + 1);
      // One look-up for each communicator instead of one for each call that uses it.
      FirstPlace& known = first_places_[index];
      if (!known.is_known) known = {true, places_.in(static_cast<int64_t>(index), rank)};
      if (known.place) return *known.place;
    }
    const auto requests = shapes_.requests(shape);
    if (requests.empty() || requests[0] >= terminal) return places_.world(rank);
    terminal = requests[0];
  }
}

bool GroupView::is_world(uint32_t terminal) {
  const SignatureList& all = signatures_;
  const auto rank = static_cast<uint64_t>(group_.ranks.first());
  for (;;) {  // as in place()
    const uint32_t shape = all.shape(terminal);
    for (const uint32_t slot : shapes_.structure(shape).object_slots) {
      const int64_t object = definition(terminal, slot, 0);
      if (all.has_states() && all.state(terminal, slot).alive == 0) return false;
      if (places_.in(object, rank)) return places_.is_world(object);
    }
    const auto requests = shapes_.requests(shape);
    if (requests.empty() || requests[0] >= terminal) return true;
    terminal = requests[0];
  }
}

SlotState state_of(const SignatureList& all, const ShapeStructure& structure, uint32_t terminal,
                   size_t slot, CommPlace place) {
  if (all.has_states()) return all.state(terminal, slot);
  return first_sample(structure.slots[slot], all.value(terminal, slot), place);
}

base::NestedRuns materialise(const SlotState& state, CommPlace first, GroupView& view,
                             uint32_t terminal, uint64_t count) {
  const RankExpr expr = choose(state, first);
  base::NestedRuns out;
  if (expr.kind == RankExpr::Kind::kConst) {
    out.append_run(expr.a, 0, count);
    return out;
  }
  // Only in the world is `me` the rank itself, of which there are runs.
  if (expr.kind == RankExpr::Kind::kAffine && view.is_world(terminal) &&
      count == view.nested_ranks().size()) {
    // Runs stay runs: most of what a mesh makes of its ranks, without looking at each.
    // Unsigned, as all arithmetic of expressions wraps.
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
