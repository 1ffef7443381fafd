// Two records of neighbouring ranks become one. Groups of both that made the same calls become one
// group, whose slots then say what explains the values on all of its ranks; groups without a
// partner stay as they are. Definitions, shapes and grammars are united first, so that equal ones
// have one index and can be compared by it.

#include "format/merge/merge.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "format/merge/group.h"
#include "format/merge/infer_rank_expr.h"
#include "format/merge/intern.h"
#include "format/merge/renumber.h"
#include "grammar/skeleton.h"

namespace refrain::format {

namespace {

// The definition of the call site, or -1.
uint32_t site_of(const SignatureList& all, size_t t, const ShapeStructure& structure) {
  if (structure.slots.empty() || structure.slots[0] != SlotNature::kDefinition) return UINT32_MAX;
  if (!all.has_states()) return static_cast<uint32_t>(all.value(t, 0));
  const SlotState s = all.state(t, 0);
  return s.alive != 0 ? static_cast<uint32_t>(s.first) : UINT32_MAX;
}

// Equal numbers for grammars that differ in counts only. With one grammar there is nothing to
// compare.
std::vector<uint32_t> skeletons_of(const std::vector<grammar::Grammar>& grammars) {
  if (grammars.size() == 1) return {0};
  Interner known;
  std::vector<uint32_t> out;
  out.reserve(grammars.size());
  for (const grammar::Grammar& g : grammars) out.push_back(known.add(skeleton_key(g)).first);
  return out;
}

uint32_t skeleton_of(const PartialLocation& l, const std::vector<uint32_t>& skeletons) {
  return skeletons[static_cast<size_t>(l.grammars.first())];
}

// What two groups must have in common to become one: calls of equal form in equal order, from equal
// places. Ranks that do something else in another part of the program have nothing in common that
// expressions could say.
// `skeletons`: by grammar, equal where they differ in counts only.
bool same_calls(const PartialGroup& a, const PartialGroup& b, const ShapeTable& shapes,
                const std::vector<uint32_t>& skeletons) {
  if (a.locations.size() != b.locations.size() || a.signatures.size() != b.signatures.size())
    return false;
  for (size_t i = 0; i < a.locations.size(); ++i) {
    if (a.locations[i].thread != b.locations[i].thread ||
        skeleton_of(a.locations[i], skeletons) != skeleton_of(b.locations[i], skeletons))
      return false;
  }
  const SignatureList &x = a.signatures, &y = b.signatures;
  // Shapes are numbers of one table now (merge_groups): equal numbers are equal shapes.
  if (x.shapes().equal_until(y.shapes()) < x.size()) return false;
  // Equal numbers are equal places.
  for (size_t t = x.is_simple() && y.is_simple() ? x.has_numbers_of(y) : 0; t < x.size(); ++t) {
    const ShapeStructure& structure = shapes.structure(x.shape(t));
    if (site_of(x, t, structure) != site_of(y, t, structure)) return false;
  }
  return true;
}

// Equal where these are the same.
uint64_t calls_hash(const PartialGroup& g, const ShapeTable& shapes,
                    const std::vector<uint32_t>& skeletons) {
  uint64_t sum = g.locations.size();
  const auto add = [&sum](uint64_t v) {
    sum = (sum ^ v) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
  };
  for (const PartialLocation& l : g.locations)
    add(uint64_t{l.thread} << 32 | skeleton_of(l, skeletons));
  for (size_t t = 0; t < g.signatures.size(); ++t) {
    const uint32_t shape = g.signatures.shape(t);
    add(uint64_t{shape} << 32 | site_of(g.signatures, t, shapes.structure(shape)));
  }
  return sum;
}

// Merges the slot values of `b` into `a`; the ranks of both are still apart.
class Combiner {
 public:
  Combiner(PartialGroup& a, PartialGroup& b, const ShapeTable& shapes, CommPlaces& places)
      : a_(a), b_(b), shapes_(shapes), view_a_(a, shapes, places), view_b_(b, shapes, places) {}

  void run() {
    // Values become states on the way, one signature after the other; places of later ones are
    // found through definitions, which stand where they stood.
    SignatureList& a = a_.signatures;
    was_plain_ = !a.has_states();
    // The longest prefix in which ranks do the same is settled without a look at single slots: that
    // is most of most programs, and this runs on every rank within MPI_Finalize.
    const size_t settled = settled_at_once();
    if (settled == a.size()) {
      a.settle_all();
    } else {
      a.make_states(settled);
      for (size_t t = settled; t < a.size(); ++t) merge_one(static_cast<uint32_t>(t));
    }
    SignatureList& b = b_.signatures;
    add_all(a.durations(), b.durations());
    if (!a.gaps().empty() || !b.gaps().empty()) add_all(a.gaps(), b.gaps());
    for (size_t l = 0; l < a_.locations.size(); ++l)
      a_.locations[l].grammars.append_all(b_.locations[l].grammars);
    // Last, as the views on both groups count by their own ranks until here.
    a_.ranks.append_all(b_.ranks);
  }

 private:
  static constexpr uint8_t kShifts =
      SlotState::kModAlive | SlotState::kModBelowAlive | SlotState::kXorAlive;

  void merge_one(uint32_t t) {
    structure_ = &shapes_.structure(a_.signatures.shape(t));
    has_places_ = false;
    if (settles(t)) return;
    for (size_t k = 0; k < structure_->slots.size(); ++k) slot(t, k);
  }

  // How many signatures from the first on settles() is true for, where that can be said of many at
  // once: ranks that do the same have tables that are equal byte by byte.
  size_t settled_at_once() {
    const SignatureList& a = a_.signatures;
    const SignatureList& b = b_.signatures;
    if (!a.is_simple() || !b.is_simple()) return 0;
    const size_t same = a.has_numbers_of(b);
    if (!was_plain_ || b.has_states()) return same;
    for (size_t t = 0; t < same; ++t) {
      structure_ = &shapes_.structure(a.shape(t));
      has_places_ = false;
      if (!may_settle(static_cast<uint32_t>(t))) return t;
      // The answer depends on the communicator alone, so it holds for all that follow on the same
      // objects.
      t = like_settled_until(t, same) - 1;
    }
    return same;
  }

  // Behind one that may_settle(): until which one all have its shape and work on the same objects.
  size_t like_settled_until(size_t t, size_t end) const {
    const SignatureList& a = a_.signatures;
    const PagedArray<uint32_t>& words = a.numbers().words();
    const uint32_t shape = a.shape(t);
    const size_t slots = structure_->slots.size();
    size_t at = a.first_number(t++);
    const uint32_t* const y = settled_ == UINT32_MAX ? nullptr : words.in_a_row(at, slots);
    for (; y != nullptr && t < end && a.shape(t) == shape; ++t) {
      const uint32_t* const x = words.in_a_row(at += slots, slots);
      if (x == nullptr) break;
      for (const uint32_t k : structure_->object_slots)
        if (x[k] != y[k]) return t;
    }
    return t;
  }

  // Two ranks of one communicator; of others more functions may go through both points.
  bool may_settle(uint32_t t) {
    if (!is_like_settled(t)) find_places(t);
    if (first_a_.me == first_b_.me || first_a_.size != first_b_.size) return false;
    settled_ = shapes_.requests(a_.signatures.shape(t)).empty() ? t : UINT32_MAX;
    settled_structure_ = structure_;
    return true;
  }

  // Where calls are not alike, most of what ranks have in common is one value in each slot. What
  // slot() makes of it, at a fraction of the instructions.
  bool settles(uint32_t t) {
    SignatureList& a = a_.signatures;
    const SignatureList& b = b_.signatures;
    const bool is_plain = was_plain_ && !b.has_states();
    if (!(was_plain_ || a.is_settled(t)) || !(!b.has_states() || b.is_settled(t)) ||
        !a.has_numbers_of(b, t))
      return false;
    // Values were seen once on either side. Whether two equal ones are a constant, or two points of
    // mod or xor as well, depends on the places.
    if (is_plain && !may_settle(t)) return false;
    if (!is_plain) settled_ = UINT32_MAX;
    a.settle(t);
    return true;
  }

  // Whether its places are those of the one before that was settled: both work on the same objects,
  // and requests have no say in it.
  bool is_like_settled(uint32_t t) const {
    const SignatureList& a = a_.signatures;
    if (settled_ == UINT32_MAX || settled_structure_ != structure_ ||
        !shapes_.requests(a.shape(t)).empty())
      return false;
    const uint32_t *const x = a.words(t), *const y = a.words(settled_);
    return x != nullptr && y != nullptr &&
           std::ranges::all_of(structure_->object_slots, [&](uint32_t k) { return x[k] == y[k]; });
  }

  void slot(uint32_t t, size_t k) {
    SignatureList& a = a_.signatures;
    const SignatureList& b = b_.signatures;
    const bool is_int = structure_->slots[k] == SlotNature::kInt;
    // Definitions are never computed with, so the place does not matter.
    if ((was_plain_ || !b.has_states()) && is_int) find_places(t);
    SlotState x = a.state(t, k);
    // States are made in memory as "all alive"; what the first value rules out is seen only with
    // its place.
    if (was_plain_) x = first_sample(structure_->slots[k], x.first, first_a_);
    const SlotState y = state_of(b, *structure_, t, k, first_b_);
    const bool both_alive = x.alive != 0 && y.alive != 0;
    if (both_alive) {
      // Most of all: one value, seen on several ranks of each, and nothing else explains it.
      if (x.first == y.first && x.is_constant() && y.is_constant() &&
          ((x.alive | y.alive) & SlotState::kSlopeFixed) != 0 && (x.alive & y.alive & kShifts) == 0)
        return a.set_state(t, k, {SlotState::kSettled, x.first, 0});
      find_places(t);
      SlotState common = x;
      intersect(common, first_a_, y, first_b_);
      if (common.alive != 0) return a.set_state(t, k, common);
    }
    // Nothing explains both: from here on the values themselves. A definition slot that gets a
    // table may be the communicator that later places depend on; its first values stay a's.
    find_places(t);
    base::NestedRuns values = x.alive != 0 ? materialise(x, first_a_, view_a_, t, a_.ranks.size())
                                           : std::move(a.values(t, k));
    values.append_all(y.alive != 0 ? materialise(y, first_b_, view_b_, t, b_.ranks.size())
                                   : b.values(t, k));
    a.set_values(t, k, std::move(values));
  }

  void find_places(uint32_t t) {
    if (has_places_) return;
    has_places_ = true;
    settled_ = UINT32_MAX;
    first_a_ = view_a_.first_place(t);
    first_b_ = view_b_.first_place(t);
  }

  void add_all(DurationList& to, DurationList& from) {
    const size_t n = a_.signatures.size();
    DurationList::Reader a(std::exchange(to, {}));
    DurationList::Reader b(std::exchange(from, {}));
    FlatDuration sum, more;
    for (size_t t = 0; t < n; ++t) {
      // Durations of a few calls are added as they are coded.
      if (to.add_few(a, b)) continue;
      a.next(sum);
      b.next(more);
      add_flat(sum, more);
      to.push_back(sum);
    }
  }

  PartialGroup& a_;
  PartialGroup& b_;
  const ShapeTable& shapes_;
  GroupView view_a_, view_b_;
  bool was_plain_ = false, has_places_ = false;
  CommPlace first_a_, first_b_;
  const ShapeStructure* structure_ = nullptr;
  // The last one of settles() whose places its own objects decided; UINT32_MAX: none.
  uint32_t settled_ = UINT32_MAX;
  const ShapeStructure* settled_structure_ = nullptr;
};

// As unite(), which makes a key of each: a grammar is as long as the program where no two calls are
// alike, and then mostly the same everywhere.
std::vector<uint32_t> unite_grammars(std::vector<grammar::Grammar>& to,
                                     std::vector<grammar::Grammar>& from) {
  const auto same = [](const grammar::Grammar& x, const grammar::Grammar& y) {
    return x.rule_end == y.rule_end && x.symbols == y.symbols;
  };
  if (from.size() > to.size() || !std::equal(from.begin(), from.end(), to.begin(), same))
    return unite(to, from);
  std::vector<uint32_t> map(from.size());
  std::iota(map.begin(), map.end(), 0u);
  return map;
}

void merge_groups(PartialTrace& a, PartialTrace& b, const std::vector<uint32_t>& definitions) {
  std::vector<uint32_t> shape_map;
  shape_map.reserve(b.shapes.size());
  for (size_t i = 0; i < b.shapes.size(); ++i) shape_map.push_back(a.shapes.add(b.shapes[i]));
  b.shapes.clear();
  const std::vector<uint32_t> grammar_map = unite_grammars(a.grammars, b.grammars);
  const std::vector<uint32_t> skeletons = skeletons_of(a.grammars);
  const bool same_definitions = is_identity(definitions), same_shapes = is_identity(shape_map),
             same_grammars = is_identity(grammar_map);
  for (PartialGroup& g : b.groups) {
    for (PartialLocation& l : g.locations)
      if (!same_grammars) l.grammars = renumber(l.grammars, grammar_map);
    if (same_definitions && same_shapes) continue;
    renumber_list(g.signatures, a.shapes, shape_map, definitions, same_definitions);
  }
  CommPlaces places(a.definitions, a.world_size);
  const size_t own = a.groups.size();
  // Two are compared as they are.
  const bool is_pair = own == 1 && b.groups.size() == 1;
  const auto hash = [&](const PartialGroup& g) {
    return is_pair ? 0 : calls_hash(g, a.shapes, skeletons);
  };
  std::unordered_multimap<uint64_t, size_t> known;
  for (size_t i = 0; i < own; ++i) known.emplace(hash(a.groups[i]), i);
  for (PartialGroup& g : b.groups) {
    const auto [begin, end] = known.equal_range(hash(g));
    const auto same = std::find_if(begin, end, [&](const auto& one) {
      return same_calls(a.groups[one.second], g, a.shapes, skeletons);
    });
    if (same != end) {
      Combiner(a.groups[same->second], g, a.shapes, places).run();
      // Freed at once: the peak of memory in MPI_Finalize is here.
      g = PartialGroup();
    } else {
      a.groups.push_back(std::move(g));
    }
  }
}

// Losses with the same reason and detail are one; unknown amounts stay apart from known ones.
void merge_losses(std::vector<LossRecord>& to, std::vector<LossRecord>& from) {
  for (LossRecord& f : from) {
    const auto same = std::find_if(to.begin(), to.end(), [&](const LossRecord& t) {
      return t.reason == f.reason && t.detail == f.detail && (t.calls == 0) == (f.calls == 0);
    });
    if (same == to.end()) {
      to.push_back(std::move(f));
      continue;
    }
    same->calls += f.calls;
    if (same->rank != f.rank) same->rank = -1;
  }
}

}  // namespace

base::Result<PartialTrace> merge(PartialTrace a, PartialTrace b) {
  if (a.world_size != b.world_size) return base::fail("cannot merge records of different worlds");
  if (b.ranks.empty()) return a;
  if (a.ranks.empty()) return b;
  // The tree pairs neighbours, so that lists of ranks can be appended and runs go on.
  if (a.ranks.last() >= b.ranks.first())
    return base::fail("cannot merge records: ranks out of order");

  // Definitions first, since everything else names them; equal ones of both sides get one index, by
  // their bytes and renumbered references.
  const std::vector<uint32_t> definitions =
      unite(a.definitions, b.definitions, [](Definition& d, const std::vector<uint32_t>& map) {
        for (uint32_t& r : d.refs) {
          if (r < map.size()) r = map[r];
        }
      });
  merge_groups(a, b, definitions);
  a.ranks.append_all(b.ranks);
  a.totals.insert(a.totals.end(), b.totals.begin(), b.totals.end());
  const std::vector<uint32_t> hosts = unite(a.hosts, b.hosts);
  a.host_of_rank.append_all(is_identity(hosts) ? b.host_of_rank : renumber(b.host_of_rank, hosts));
  const std::vector<uint32_t> places = unite(a.places, b.places);
  a.place_of_rank.append_all(is_identity(places) ? b.place_of_rank
                                                 : renumber(b.place_of_rank, places));
  a.own_work.insert(a.own_work.end(), std::make_move_iterator(b.own_work.begin()),
                    std::make_move_iterator(b.own_work.end()));
  merge_losses(a.losses, b.losses);
  a.text.merge(b.text);  // keeps a's value where both have the key
  a.programs.merge(std::move(b.programs));
  a.duration_ns = std::max(a.duration_ns, b.duration_ns);
  a.lacks_gaps = a.lacks_gaps || b.lacks_gaps;
  return a;
}

}  // namespace refrain::format
