// The groups that are left when all ranks are merged become the groups of a trace: expressions are
// chosen for all slots, tables made for those that no expression explains, and what was kept in
// parts for merging is put into the order of the file.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "format/codes/run_codec.h"
#include "format/limits.h"
#include "format/merge/group.h"
#include "format/merge/infer_rank_expr.h"
#include "format/merge/loop_counts.h"
#include "format/merge/order.h"
#include "format/merge/ranks.h"
#include "format/merge/shared_signature.h"
#include "format/signatures/slot_evaluator.h"
#include "format/signatures/walk.h"

namespace refrain::format {

namespace {

// A world of millions of which next to nothing is there: whoever says so is damaged, and would have
// us keep a place for each of them.
bool is_too_thin(const PartialTrace& p) {
  constexpr uint64_t kSmallWorld = uint64_t{1} << 20;
  return p.world_size > kSmallWorld && p.world_size / kMaxExpansion > p.ranks.size();
}

base::RunList runs_of(const SignatureList& all, size_t t, size_t k) {
  base::NestedRuns room;
  return all.values(t, k, room).runs();
}

int64_t first_of(const SignatureList& all, size_t t, size_t k) {
  base::NestedRuns room;
  return all.values(t, k, room).first();
}

class Finisher {
 public:
  explicit Finisher(PartialTrace partial)
      : p_(std::move(partial)), places_(p_.definitions, p_.world_size) {}

  base::Result<TraceData> run() {
    if (is_too_thin(p_)) return base::fail("the records of nearly all ranks are missing");
    // The file must not depend on the order in which ranks were merged.
    std::sort(p_.groups.begin(), p_.groups.end(), [](const PartialGroup& a, const PartialGroup& b) {
      return a.ranks.first() < b.ranks.first();
    });
    check_gaps(p_);
    prepare();
    if (p_.groups.size() == 1) {
      take_only_group();
    } else if (!place_groups()) {
      return base::fail("the merged record of the ranks is inconsistent");
    }
    // None of it is needed any more, and ordering takes memory, too.
    p_.groups = {};
    views_.clear();
    p_.shapes.clear();
    depth_ = {};
    take_rest(p_, out_);
    order_families(out_);
    split_by_grammar(locations_, out_);
    order_grammars(out_);
    return std::move(out_);
  }

 private:
  void prepare() {
    by_size_.resize(p_.groups.size());
    std::iota(by_size_.begin(), by_size_.end(), size_t{0});
    // Many ranks leave few hypotheses: those first, so that single ranks join what they
    // established.
    std::vector<std::pair<int, uint64_t>> extent;
    for (const PartialGroup& g : p_.groups) extent.push_back(extent_of(g.ranks));
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [&](size_t x, size_t y) { return extent[x] > extent[y]; });
    depth_.resize(p_.groups.size());
    for (size_t g = 0; g < p_.groups.size(); ++g) {
      PartialGroup& group = p_.groups[g];
      views_.emplace_back(group, group.signatures, p_.shapes, places_);
      find_depths(group.signatures, depth_[g]);
      Group final_group;
      final_group.ranks = group.ranks.runs();
      locations_.push_back(std::move(group.locations));
      final_group.signatures.resize(group.signatures.size());
      out_.groups.push_back(std::move(final_group));
    }
  }

  // How many calls made one another's requests. Empty where there are no requests.
  void find_depths(const SignatureList& all, std::vector<uint32_t>& depths) {
    // A shape names the requests that it uses by the signatures that made them. So those must have
    // their final numbers first: signatures are placed depth by depth.
    if (!p_.shapes.has_requests()) return;
    depths.reserve(all.size());
    for (size_t t = 0; t < all.size(); ++t) {
      uint32_t depth = 0;
      for (const uint32_t r : p_.shapes.requests(all.shape(t)))
        depth = std::max(depth, r < depths.size() ? depths[r] + 1 : 0);
      depths.push_back(depth);
      max_depth_ = std::max(max_depth_, depth);
    }
  }

  // Nobody to share anything with: signatures are as they are, in order of their depths.
  void take_only_group() {
    SignatureList& all = p_.groups[0].signatures;
    std::vector<uint32_t>& final_number = out_.groups[0].signatures;
    std::iota(final_number.begin(), final_number.end(), 0u);
    const size_t n = all.size();
    if (all.has_states() && !all.is_constant()) {
      take_states(all);
    } else {
      // Ranks that all do the same leave nothing to choose: the arrays are handed over.
      auto [shape_of, values] = all.take_plain();
      out_.signatures.take_constants(std::move(p_.shapes), shape_of, std::move(values));
    }
    out_.durations = all.durations().take(n);
    if (!p_.lacks_gaps) out_.gaps = all.gaps().take(n);
    if (max_depth_ == 0) return;
    std::vector<uint32_t> order = final_number;
    const std::vector<uint32_t>& depth = depth_[0];
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t x, uint32_t y) { return depth[x] < depth[y]; });
    apply_order(out_, order);
  }

  // Each once, as this gives them their places in the trace.
  void take_states(SignatureList& all) {
    std::vector<uint32_t> shape_of;
    for (size_t i = 0; i < p_.shapes.size(); ++i)
      shape_of.push_back(out_.signatures.add_shape(p_.shapes[i]));
    SharedSignature mine;
    for (uint32_t t = 0; t < all.size(); ++t) {
      if (choose_all(all, t)) {
        out_.signatures.append(shape_of[all.shape(t)], exprs_);
        continue;
      }
      out_.signatures.append(shape_of[all.shape(t)], {});
      mine.index = t;
      mine.first = views_[0].first_place(t);
      resolve_tables(0, t, mine);
      set_exprs(mine);
      // Places are found through definitions only.
      for (size_t k = 0; k < all.slots(t); ++k)
        if (structure(0, t).slots[k] == SlotNature::kInt && all.state(t, k).alive == 0)
          all.take_values(t, k);
    }
  }

  // False: not all of its slots are explained by a function of the rank.
  bool choose_all(const SignatureList& all, uint32_t t) {
    exprs_.clear();
    std::optional<CommPlace> first;
    for (size_t k = 0; k < all.slots(t); ++k) {
      const SlotState s = all.state(t, k);
      if (s.alive == 0) return false;
      if (!s.is_constant() && !first) first = views_[0].first_place(t);
      exprs_.push_back(s.is_constant() ? RankExpr{RankExpr::Kind::kConst, s.first}
                                       : choose(s, *first));
    }
    return true;
  }

  bool place_groups() {
    shape_of_.assign(p_.shapes.size(), ShapeTable::kNone);
    for (uint32_t depth = 0; depth <= max_depth_; ++depth) {
      for (const size_t g : by_size_) {
        for (uint32_t t = 0; t < p_.groups[g].signatures.size(); ++t) {
          const uint32_t own = depth_[g].empty() ? 0 : depth_[g][t];
          if (own == depth && !place_signature(g, t)) return false;
        }
      }
      shared_ = {};
      kept_ = {};
    }
    // Statistics of many take memory, and nothing else of the groups is asked for.
    for (PartialGroup& g : p_.groups) g.signatures.keep_statistics_only();
    out_.durations.resize(out_.signatures.size());
    if (!p_.lacks_gaps) out_.gaps.resize(out_.signatures.size());
    for (const size_t g : by_size_) {
      const std::vector<uint32_t>& final_number = out_.groups[g].signatures;
      p_.groups[g].signatures.durations().add_to(out_.durations, final_number);
      if (!p_.lacks_gaps) p_.groups[g].signatures.gaps().add_to(out_.gaps, final_number);
    }
    return true;
  }

  // The number of a shape in the trace. Everything of smaller depth has its final number.
  std::optional<uint32_t> final_shape(size_t g, uint32_t raw_shape) {
    if (p_.shapes.requests(raw_shape).empty()) {
      uint32_t& known = shape_of_[raw_shape];
      if (known == ShapeTable::kNone) known = out_.signatures.add_shape(p_.shapes[raw_shape]);
      return known;
    }
    const auto renumbered = renumber_requests(p_.shapes[raw_shape], out_.groups[g].signatures);
    if (!renumbered) return std::nullopt;
    return out_.signatures.add_shape(*renumbered);
  }

  bool place_signature(size_t g, uint32_t t) {
    const auto shape = final_shape(g, p_.groups[g].signatures.shape(t));
    if (!shape) return false;
    SharedSignature& mine = placed_;
    mine.first = views_[g].first_place(t);
    resolve_tables(g, t, mine);
    SameShape& same = shared_[*shape];
    same.set_group(g);
    // A table is by position in its own group: it means nothing in another one.
    if (!mine.has_table) {
      const auto joins = [&](uint32_t kept) { return join(kept, mine, g, t); };
      if (const uint32_t* const kept = same.find(joins); kept != nullptr) {
        out_.groups[g].signatures[t] = kept_.index(*kept);
        set_exprs_of(*kept);
        return true;
      }
    }
    mine.index = static_cast<uint32_t>(out_.signatures.size());
    out_.groups[g].signatures[t] = mine.index;
    out_.signatures.append(*shape, {});
    set_exprs(mine);
    if (!mine.has_table && g != by_size_.back()) {
      same.add(static_cast<uint32_t>(kept_.size()));
      kept_.add(mine);
    }
    return true;
  }

  const ShapeStructure& structure(size_t g, uint32_t t) const {
    return p_.shapes.structure(p_.groups[g].signatures.shape(t));
  }

  // Copies what is alive (the group's own states stay: places of later calls are found through
  // them); where all hypotheses are dead, what a mesh explains, else a table.
  void resolve_tables(size_t g, uint32_t t, SharedSignature& mine) {
    const SignatureList& all = p_.groups[g].signatures;
    const ShapeStructure& shape = structure(g, t);
    mine.has_table = false;
    mine.slots.resize(shape.slots.size());
    mine.exprs.resize(shape.slots.size());
    for (size_t i = 0; i < shape.slots.size(); ++i) {
      mine.slots[i] = state_of(all, shape, t, i, mine.first);
      if (mine.slots[i].alive != 0) continue;
      base::RunList values = runs_of(all, t, i);
      std::optional<RankExpr> found;
      if (shape.slots[i] == SlotNature::kInt && has_one_size(g, t)) {
        found = find_cart(values, all_places(g, t));
        if (!found) found = find_digit(values, all_places(g, t), mine.first.size);
      }
      if (found) {
        mine.exprs[i] = *found;
      } else {
        mine.has_table = true;
        mine.exprs[i] = {RankExpr::Kind::kTable, table(std::move(values)), 0, 0};
      }
    }
  }

  // The definition that decides about places of a signature: -1 the world, -2 not the same for all
  // ranks of the group.
  int64_t context_of(size_t g, uint32_t t) {
    const PartialGroup& group = p_.groups[g];
    const auto first = static_cast<uint64_t>(group.ranks.first());
    for (;;) {
      for (const uint32_t slot : structure(g, t).object_slots) {
        const SlotState s = state_of(group.signatures, structure(g, t), t, slot, {});
        const int64_t definition = s.alive != 0 ? s.first : first_of(group.signatures, t, slot);
        if (places_.in(definition, first)) return s.alive != 0 ? definition : -2;
      }
      const auto requests = p_.shapes.requests(group.signatures.shape(t));
      if (requests.empty() || requests[0] >= t) return -1;
      t = requests[0];
    }
  }
  bool has_one_size(size_t g, uint32_t t) { return context_of(g, t) != -2; }

  // Numbers of the group's ranks in the communicator of the signature.
  const base::RunList& all_places(size_t g, uint32_t t) {
    const int64_t context = context_of(g, t);
    const auto known = mes_.find({g, context});
    if (context != -2 && known != mes_.end()) return known->second;
    if (context == -1 || places_.is_world(context))
      return mes_[{g, context}] = p_.groups[g].ranks.runs();
    base::RunList mes;
    GroupView view(p_.groups[g], p_.groups[g].signatures, p_.shapes, places_);
    for (uint64_t i = 0; i < p_.groups[g].ranks.size(); ++i) mes.append(view.place(t, i).me);
    return mes_[{g, context}] = std::move(mes);
  }

  int64_t table(base::RunList list) {
    base::ByteWriter bytes;
    list.write(bytes);
    const size_t hash = std::hash<std::string_view>()(bytes.view());
    const auto [begin, end] = tables_.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (out_.tables[it->second] == list) return it->second;
    const auto index = static_cast<uint32_t>(out_.tables.size());
    tables_.emplace(hash, index);
    out_.tables.push_back(std::move(list));
    return index;
  }

  // True, and the kept one narrowed, when one signature can stand for both.
  bool join(uint32_t kept, const SharedSignature& from, size_t g, uint32_t t) {
    const size_t n = from.slots.size();
    const CommPlace first = kept_.first(kept);
    narrowed_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      SlotState& slot = narrowed_[i];
      slot = kept_.slot(kept, i);
      if (slot.alive == 0) {
        if (!holds(kept_.expr(kept, i), from, i, g, t)) return false;
        continue;
      }
      if (from.slots[i].alive == 0) return false;
      const bool fixed = ((slot.alive | from.slots[i].alive) & SlotState::kSlopeFixed) != 0;
      intersect(slot, first, from.slots[i], from.first);
      // Two points always lie on some line: only a simple one can be expected to hold for a third.
      if (slot.alive == 0 || (!fixed && !is_simple(slot))) return false;
    }
    for (size_t i = 0; i < n; ++i)
      if (narrowed_[i].alive != 0) kept_.set_slot(kept, i, narrowed_[i]);
    return true;
  }

  // Whether what a larger group has for a slot is true for terminal t of group g as well: a border
  // of a mesh has the coordinates and neighbours of the inside, and simpler words for them.
  bool holds(const RankExpr& e, const SharedSignature& from, size_t i, size_t g, uint32_t t) {
    if (from.slots[i].alive == 0 && e == from.exprs[i]) return true;
    const SignatureList& all = p_.groups[g].signatures;
    const SlotState own = from.slots[i];
    const int64_t first = own.alive != 0 ? own.first : first_of(all, t, i);
    const std::vector<base::RunList> no_tables;
    if (evaluate(e, from.first, 0, no_tables) != first) return false;
    const base::RunList& mes = all_places(g, t);
    if (own.alive == 0) return explains(e, runs_of(all, t, i), mes, from.first.size);
    const RankExpr simple = choose(own, from.first);
    base::RunList values;
    if (simple.kind == RankExpr::Kind::kConst) {
      values.append_run(simple.a, 0, mes.size());
      return explains(e, values, mes, from.first.size);
    }
    for (const base::RunList::Run& run : mes.runs()) {
      for (uint64_t k = 0; k < run.count; ++k) {
        const CommPlace place{run.start + run.step * static_cast<int64_t>(k), from.first.size};
        if (evaluate(e, place, 0, no_tables) != evaluate(simple, place, 0, no_tables)) return false;
      }
    }
    return true;
  }

  void set_exprs(const SharedSignature& s) {
    exprs_.clear();
    for (size_t i = 0; i < s.slots.size(); ++i)
      exprs_.push_back(s.slots[i].alive != 0 ? choose(s.slots[i], s.first) : s.exprs[i]);
    out_.signatures.set_exprs(s.index, exprs_);
  }

  void set_exprs_of(uint32_t kept) {
    exprs_.clear();
    for (size_t i = 0; i < kept_.slots(kept); ++i) {
      const SlotState slot = kept_.slot(kept, i);
      exprs_.push_back(slot.alive != 0 ? choose(slot, kept_.first(kept)) : kept_.expr(kept, i));
    }
    out_.signatures.set_exprs(kept_.index(kept), exprs_);
  }

  PartialTrace p_;
  CommPlaces places_;
  std::vector<size_t> by_size_;
  std::vector<std::vector<uint32_t>> depth_;
  std::deque<GroupView> views_;                          // by group
  std::vector<std::vector<PartialLocation>> locations_;  // by group
  uint32_t max_depth_ = 0;
  std::unordered_map<uint32_t, SameShape> shared_;           // by final shape
  KeptSignatures kept_;                                      // of one depth
  std::vector<uint32_t> shape_of_;                           // the final one, without requests
  std::unordered_multimap<size_t, uint32_t> tables_;         // hash -> where in the trace's tables
  std::map<std::pair<size_t, int64_t>, base::RunList> mes_;  // by group and deciding definition
  std::vector<RankExpr> exprs_;
  SharedSignature placed_;           // the signature that is being placed
  std::vector<SlotState> narrowed_;  // of a join
  TraceData out_;
};

}  // namespace

base::Result<TraceData> finish(PartialTrace partial) { return Finisher(std::move(partial)).run(); }

}  // namespace refrain::format
