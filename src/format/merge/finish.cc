#include <algorithm>
#include <climits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "format/expr.h"
#include "format/limits.h"
#include "format/merge/group.h"
#include "format/merge/hypotheses.h"
#include "format/merge/intern.h"
#include "format/merge/loop_counts.h"
#include "format/merge/order.h"
#include "format/merge/ranks.h"
#include "format/quantise.h"
#include "format/run_codec.h"

namespace refrain::format {

namespace {

// A signature of the file in the making: what its slots still allow, so that a later group with the
// same shape may join.
struct Shared {
  uint32_t index = 0;  // into TraceData::signatures
  std::vector<SlotState> slots;
  std::vector<Expr> exprs;  // for slots that are not alive: table or Cartesian shift
  Place first;
  bool has_table = false;
};

// All of one shape. A rank tells its own calls apart, so a group only joins what other groups made,
// and looks first behind the last one that it joined: equal programs have them in equal order.
struct SameShape {
  std::vector<Shared> entries;
  size_t group = SIZE_MAX;  // the group that is being placed
  size_t foreign = 0;       // entries of groups before it
  size_t cursor = 0;        // where the next search begins
};

// Greedy sharing looks at this many signatures of one shape, so that a program with very many of
// them cannot make Finalize quadratic.
constexpr size_t kMaxShareTries = 64;

int depth_of(const std::vector<base::NestedRuns::Item>& items) {
  int depth = 0;
  for (const auto& item : items) {
    const int own = item.is_loop() ? 1 + depth_of(item.body) : item.count > 1 ? 1 : 0;
    depth = std::max(depth, own);
  }
  return depth;
}

// How large a set of ranks is, in a measure that does not depend on the lengths of a mesh's sides:
// the inside is before its faces, those before edges and corners. Sets without order go by number.
std::pair<int, uint64_t> extent_of(const base::NestedRuns& ranks) {
  constexpr uint64_t kOrderly = 16;
  if (ranks.item_count() > kOrderly) return {INT_MAX, ranks.size()};
  return {depth_of(ranks.items()), 0};
}

RankTotals totals_of(const TotalCodes& codes) {
  return {time_of(codes.in_mpi),
          time_of(codes.outside),
          {time_of(codes.memory), time_of(codes.time)},
          time_of(codes.own),
          count_of(codes.switches)};
}

// A world of millions of which next to nothing is there: whoever says so is damaged, and would have
// us keep a place for each of them.
bool is_too_thin(const PartialTrace& p) {
  constexpr uint64_t kSmallWorld = uint64_t{1} << 20;
  return p.world_size > kSmallWorld && p.world_size / kMaxExpansion > p.ranks.size();
}

class Finisher {
 public:
  explicit Finisher(PartialTrace partial)
      : p_(std::move(partial)),
        shapes_(inspect_all(p_.shapes)),
        places_(p_.definitions, p_.world_size) {}

  base::Result<TraceData> run() {
    if (is_too_thin(p_)) return base::fail("the records of nearly all ranks are missing");
    std::sort(p_.groups.begin(), p_.groups.end(), [](const PartialGroup& a, const PartialGroup& b) {
      return a.ranks.first() < b.ranks.first();
    });
    prepare();
    if (p_.groups.size() == 1) {  // as many as there will be
      out_.signatures.reserve(p_.groups[0].signatures.size());
      out_.durations.reserve(p_.groups[0].signatures.size());
    }
    for (uint32_t depth = 0; depth <= max_depth_; ++depth) {
      shared_.clear();
      for (const size_t g : by_size_) {
        for (uint32_t t = 0; t < p_.groups[g].signatures.size(); ++t) {
          if (depth_[g][t] != depth) continue;
          if (!place_signature(g, t))
            return base::fail("the merged record of the ranks is inconsistent");
        }
      }
    }
    // None of it is needed any more, and ordering takes memory, too.
    p_.groups = {};
    shared_ = {};
    firsts_ = {};
    depth_ = {};
    fill_rest();
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
    firsts_.resize(p_.groups.size());
    for (size_t g = 0; g < p_.groups.size(); ++g) {
      PartialGroup& group = p_.groups[g];
      GroupView view(group, shapes_, places_);
      firsts_[g] = view.first_places();
      for (size_t t = 0; t < group.signatures.size(); ++t) {
        uint32_t depth = 0;
        for (const uint32_t r : shapes_[group.signatures.shape(t)].requests)
          depth = std::max(depth, r < depth_[g].size() ? depth_[g][r] + 1 : 0);
        depth_[g].push_back(depth);
        max_depth_ = std::max(max_depth_, depth);
      }
      Group final_group;
      final_group.ranks = group.ranks.runs();
      locations_.push_back(std::move(group.locations));
      final_group.signatures.resize(group.signatures.size());
      out_.groups.push_back(std::move(final_group));
    }
  }

  bool place_signature(size_t g, uint32_t t) {
    const uint32_t raw_shape = signature(g, t).shape;
    std::string shape = p_.shapes[raw_shape];
    if (!shapes_[raw_shape].requests.empty()) {
      // Everything of smaller depth has its final number by now.
      auto renumbered = renumber_requests(shape, out_.groups[g].signatures);
      if (!renumbered) return false;
      shape = std::move(*renumbered);
    }
    Shared mine;
    mine.first = firsts_[g][t];
    resolve_tables(g, t, mine);
    if (by_size_.size() == 1) {  // nobody to share it with
      add_signature(g, t, std::move(shape), mine);
      return true;
    }
    SameShape& same = shared_[shape];
    if (same.group != g) {
      same.group = g;
      same.foreign = same.entries.size();
      same.cursor = 0;
    }
    const size_t tries = mine.has_table ? 0 : std::min(same.foreign, kMaxShareTries);
    for (size_t i = 0; i < tries; ++i) {
      const size_t at = (same.cursor + i) % same.foreign;
      Shared& other = same.entries[at];
      if (!join(other, mine, g, t)) continue;
      same.cursor = at + 1;
      out_.groups[g].signatures[t] = other.index;
      add_durations(out_.durations[other.index], signature(g, t).duration);
      set_exprs(other);
      return true;
    }
    add_signature(g, t, std::move(shape), mine);
    if (!mine.has_table && g != by_size_.back()) same.entries.push_back(std::move(mine));
    return true;
  }

  void add_signature(size_t g, uint32_t t, std::string shape, Shared& mine) {
    mine.index = static_cast<uint32_t>(out_.signatures.size());
    out_.groups[g].signatures[t] = mine.index;
    out_.signatures.push_back(Signature{std::move(shape), {}});
    out_.durations.push_back(signature(g, t).duration);
    set_exprs(mine);
  }

  // With slot states; good until the next one is asked for.
  const PartialSignature& signature(size_t g, uint32_t t) {
    Known& known = known_[t % kKnown];
    if (known.group != g || known.terminal != t) {
      known.signature = p_.groups[g].signatures[t];
      promote(known.signature, shapes_[known.signature.shape], firsts_[g][t]);
      known.group = g;
      known.terminal = t;
    }
    return known.signature;
  }

  // Copies what is alive (the group's own states stay: places of later calls are found through
  // them); where all hypotheses are dead, what a mesh explains, else a table.
  void resolve_tables(size_t g, uint32_t t, Shared& mine) {
    const PartialSignature sig = signature(g, t);
    mine.slots.resize(sig.slots.size());
    mine.exprs.resize(sig.slots.size());
    for (size_t i = 0; i < sig.slots.size(); ++i) {
      if (sig.slots[i].alive != 0) {
        mine.slots[i] = sig.slots[i];
        continue;
      }
      mine.slots[i].alive = 0;
      std::optional<Expr> found;
      if (shapes_[sig.shape].slots[i] == SlotNature::kInt && has_one_size(g, t)) {
        const base::RunList values = sig.slots[i].values.runs();
        found = find_cart(values, all_places(g, t));
        if (!found) found = find_digit(values, all_places(g, t), mine.first.size);
      }
      if (found) {
        mine.exprs[i] = *found;
      } else {
        mine.has_table = true;
        mine.exprs[i] = {Expr::Kind::kTable, table(sig.slots[i].values), 0, 0};
      }
    }
  }

  // The definition that decides about places of a signature: -1 the world, -2 not the same for all
  // ranks of the group.
  int64_t context_of(size_t g, uint32_t t) {
    const PartialGroup& group = p_.groups[g];
    const auto first = static_cast<uint64_t>(group.ranks.first());
    for (;;) {
      const PartialSignature& sig = signature(g, t);
      for (const uint32_t slot : shapes_[sig.shape].object_slots) {
        const SlotState& s = sig.slots[slot];
        const int64_t definition = s.alive != 0 ? s.first : s.values.first();
        if (places_.in(definition, first)) return s.alive != 0 ? definition : -2;
      }
      const std::vector<uint32_t>& requests = shapes_[sig.shape].requests;
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
    GroupView view(p_.groups[g], shapes_, places_);
    base::RunList mes;
    for (uint64_t i = 0; i < p_.groups[g].ranks.size(); ++i) mes.append(view.place(t, i).me);
    return mes_[{g, context}] = std::move(mes);
  }

  int64_t table(const base::NestedRuns& values) {
    base::RunList list = values.runs();
    base::ByteWriter key;
    list.write(key);
    const auto [index, is_new] = tables_.add(key.take());
    if (is_new) out_.tables.push_back(std::move(list));
    return index;
  }

  // True, and `to` narrowed, when one signature can stand for both.
  bool join(Shared& to, const Shared& from, size_t g, uint32_t t) {
    std::vector<SlotState> slots = to.slots;
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].alive == 0) {
        if (!holds(to.exprs[i], from, i, g, t)) return false;
        continue;
      }
      if (from.slots[i].alive == 0) return false;
      const bool fixed = ((slots[i].alive | from.slots[i].alive) & SlotState::kSlopeFixed) != 0;
      intersect(slots[i], to.first, from.slots[i], from.first);
      if (slots[i].alive == 0 || (!fixed && !is_simple(slots[i]))) return false;
    }
    to.slots = std::move(slots);
    return true;
  }

  // Whether what a larger group has for a slot is true for terminal t of group g as well: a border
  // of a mesh has the coordinates and neighbours of the inside, and simpler words for them.
  bool holds(const Expr& e, const Shared& from, size_t i, size_t g, uint32_t t) {
    if (from.slots[i].alive == 0 && e == from.exprs[i]) return true;
    const SlotState own = signature(g, t).slots[i];
    const int64_t first = own.alive != 0 ? own.first : own.values.first();
    const std::vector<base::RunList> no_tables;
    if (evaluate(e, from.first, 0, no_tables) != first) return false;
    const base::RunList& mes = all_places(g, t);
    if (own.alive == 0) return explains(e, own.values.runs(), mes, from.first.size);
    const Expr simple = choose(own, from.first);
    base::RunList values;
    if (simple.kind == Expr::Kind::kConst) {
      values.append_run(simple.a, 0, mes.size());
      return explains(e, values, mes, from.first.size);
    }
    for (const base::RunList::Run& run : mes.runs()) {
      for (uint64_t k = 0; k < run.count; ++k) {
        const Place place{run.start + run.step * static_cast<int64_t>(k), from.first.size};
        if (evaluate(e, place, 0, no_tables) != evaluate(simple, place, 0, no_tables)) return false;
      }
    }
    return true;
  }

  void set_exprs(const Shared& s) {
    std::vector<Expr>& exprs = out_.signatures[s.index].slots;
    exprs.resize(s.slots.size());
    for (size_t i = 0; i < s.slots.size(); ++i)
      exprs[i] = s.slots[i].alive != 0 ? choose(s.slots[i], s.first) : s.exprs[i];
  }

  void fill_rest() {
    out_.definitions = std::move(p_.definitions);
    out_.grammars = std::move(p_.grammars);
    out_.losses = std::move(p_.losses);
    out_.meta.text = std::move(p_.text);
    out_.meta.hosts = std::move(p_.hosts);
    out_.meta.ranks = p_.world_size;
    out_.meta.duration_ns = p_.duration_ns;
    const uint64_t missing = p_.world_size - p_.ranks.size();
    take_places(p_, out_);
    if (missing == 0) {
      out_.meta.host_of_rank = p_.host_of_rank.runs();
      for (const TotalCodes& t : p_.totals) out_.totals.push_back(totals_of(t));
      out_.cost = cost_of(out_.totals);
      take_own_work(p_, out_);
      return;
    }
    out_.totals.resize(p_.world_size);
    uint64_t next = 0;
    const base::RunList ranks = p_.ranks.runs(), host_of_rank = p_.host_of_rank.runs();
    for (uint64_t i = 0; i < ranks.size(); ++i) {
      const auto rank = static_cast<uint64_t>(ranks.at(i));
      out_.meta.host_of_rank.append_run(-1, 0, rank - next);
      out_.meta.host_of_rank.append(host_of_rank.at(i));
      out_.totals[rank] = totals_of(p_.totals[i]);
      next = rank + 1;
    }
    out_.cost = cost_of(out_.totals);
    take_own_work(p_, out_);
    out_.meta.host_of_rank.append_run(-1, 0, p_.world_size - next);
    out_.meta.complete = false;
    out_.losses.push_back(Loss{"rank_missing", 0, -1, std::to_string(missing) + " ranks"});
  }

  struct Known {
    size_t group = SIZE_MAX;
    uint32_t terminal = 0;
    PartialSignature signature;
  };
  static constexpr uint32_t kKnown = 4;

  PartialTrace p_;
  Known known_[kKnown];
  std::vector<ShapeInfo> shapes_;
  Places places_;
  std::vector<size_t> by_size_;
  std::vector<std::vector<uint32_t>> depth_;
  std::vector<std::vector<Place>> firsts_;  // by group and terminal: place of the first rank
  std::vector<std::vector<PartialLocation>> locations_;  // by group
  uint32_t max_depth_ = 0;
  std::unordered_map<std::string, SameShape> shared_;
  Interner tables_;
  std::map<std::pair<size_t, int64_t>, base::RunList> mes_;  // by group and deciding definition
  TraceData out_;
};

}  // namespace

base::Result<TraceData> finish(PartialTrace partial) { return Finisher(std::move(partial)).run(); }

}  // namespace refrain::format
