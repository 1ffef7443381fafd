#include "format/merge/combine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "format/merge/group.h"
#include "format/merge/infer_rank_expr.h"

namespace refrain::format {

namespace {

// Merges the slot values of `b` into `a`; the ranks of both are still apart.
class Combiner {
 public:
  Combiner(PartialGroup& a, PartialGroup& b, const ShapeTable& shapes, CommPlaces& places)
      : a_(a), b_(b), shapes_(shapes), places_(places), view_a_(a, a.signatures, shapes, places) {}

  void run() {
    // Values become states on the way, one signature after the other; places of later ones are
    // found through definitions, which stand where they stood.
    SignatureList& a = a_.signatures;
    was_plain_ = !a.has_states();
    view_b_.emplace(b_, b_.is_like ? a : b_.signatures, shapes_, places_);
    // The common case first: ranks that do the same have equal tables, and then the cost is one
    // comparison of bytes for each table, not one for each slot.
    const size_t settled = settled_at_once();
    if (settled == a.size()) {
      a.settle_all();
    } else {
      if (b_.is_like) take_numbers_of_a();
      a.make_states(settled);
      for (size_t t = settled; t < a.size(); ++t) merge_one(static_cast<uint32_t>(t));
    }
    SignatureList& b = b_.signatures;
    // Durations are measured, so they differ between ranks even where all else is equal.
    add_all(a.durations(), b.durations());
    // Only one of both may have gaps: ranks can be recorded with unlike options.
    if (!a.gaps().empty() || !b.gaps().empty()) add_all(a.gaps(), b.gaps());
    // Groups are formed by structure, so both have the same locations in the same order.
    for (size_t l = 0; l < a_.locations.size(); ++l)
      a_.locations[l].grammars.append_all(b_.locations[l].grammars);
    a_.ranks.append_all(b_.ranks);
  }

 private:
  // `b` was told apart from `a` by a mark only, without a table of its own; merging changes the
  // table of `a`, so `b` needs one now. While those of `a` are still as `b` has them.
  void take_numbers_of_a() {
    b_.signatures.copy_numbers(a_.signatures);
    b_.is_like = false;
    view_b_.emplace(b_, b_.signatures, shapes_, places_);
  }

  // Laws that say more than "the same number": their places have to be looked at.
  static constexpr uint8_t kShifts =
      SlotState::kModAlive | SlotState::kModBelowAlive | SlotState::kXorAlive;

  void merge_one(uint32_t t) {
    structure_ = &shapes_.structure(a_.signatures.shape(t));
    has_places_ = false;
    if (settles(t)) return;
    for (size_t k = 0; k < structure_->slots.size(); ++k)
      if (!settles(t, k)) slot(t, k);
  }

  // How many signatures from the first on settles() is true for, where that can be said of many at
  // once: ranks that do the same have tables that are equal byte by byte.
  size_t settled_at_once() {
    const SignatureList& a = a_.signatures;
    const SignatureList& b = b_.signatures;
    if (!a.is_simple() || !b.is_simple()) return 0;
    const size_t same = b_.is_like ? a.size() : a.has_numbers_of(b);
    if (!was_plain_ || b.has_states()) return same;
    for (size_t t = 0; t < same; ++t) {
      structure_ = &shapes_.structure(a.shape(t));
      has_places_ = false;
      if (!may_settle(static_cast<uint32_t>(t))) return t;
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
    if (is_plain && !may_settle(t)) return false;
    if (!is_plain) settled_ = UINT32_MAX;
    a.settle(t);
    return true;
  }

  // The same for one slot: ranks that talk to their neighbours have one value in most of them.
  bool settles(uint32_t t, size_t k) {
    SignatureList& a = a_.signatures;
    const SignatureList& b = b_.signatures;
    if (!(was_plain_ || a.is_settled(t, k)) || !(!b.has_states() || b.is_settled(t, k)) ||
        !a.has_number_of(b, t, k))
      return false;
    if (was_plain_ && !b.has_states() && structure_->slots[k] == SlotNature::kInt) {
      find_places(t);
      if (first_a_.me == first_b_.me || first_a_.size != first_b_.size) return false;
    }
    a.settle(t, k);
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
    // A place is the own rank in, and the size of, the communicator of the call. Finding it follows
    // definitions, which is most of the cost of a slot.
    // Definitions are never computed with, so the place does not matter.
    if ((was_plain_ || !b.has_states()) && is_int) find_places(t);
    SlotState x = a.state(t, k);
    // A plain value was seen on one group of equal ranks: the laws that it fits are made here, at
    // its first comparison, not for all values beforehand.
    if (was_plain_) x = first_sample(structure_->slots[k], x.first, first_a_);
    const SlotState y = state_of(b, *structure_, t, k, first_b_);
    const bool both_alive = x.alive != 0 && y.alive != 0;
    if (both_alive) {
      // Most of all: one value, seen on several ranks of each, and nothing else explains it.
      if (x.first == y.first && x.is_constant() && y.is_constant() &&
          ((x.alive | y.alive) & SlotState::kSlopeFixed) != 0 && (x.alive & y.alive & kShifts) == 0)
        return a.set_state(t, k, {SlotState::kSettled, x.first, 0});
      find_places(t);
      // Laws can only die: what holds for all ranks holds for those of each half. So the order of
      // merging does not change the result.
      SlotState common = x;
      intersect(common, first_a_, y, first_b_);
      if (common.alive != 0) return a.set_state(t, k, common);
    }
    // Nothing explains both: from here on the values themselves. A definition slot that gets a
    // table may be the communicator that later places depend on; its first values stay a's.
    find_places(t);
    base::NestedRuns values =
        x.alive != 0 ? materialise(x, first_a_, view_a_, t, a_.ranks.size()) : a.take_values(t, k);
    base::NestedRuns room;
    values.append_all(y.alive != 0 ? materialise(y, first_b_, *view_b_, t, b_.ranks.size())
                                   : b.values(t, k, room));
    a.set_values(t, k, std::move(values));
  }

  // At most once for each signature, and for many not at all.
  void find_places(uint32_t t) {
    if (has_places_) return;
    has_places_ = true;
    settled_ = UINT32_MAX;
    first_a_ = view_a_.first_place(t);
    first_b_ = view_b_->first_place(t);
  }

  void add_all(DurationList& to, DurationList& from) {
    const size_t n = a_.signatures.size();
    DurationList::Reader a(std::exchange(to, {}));
    DurationList::Reader b(std::exchange(from, {}));
    FlatDuration sum, more;
    for (size_t t = 0; t < n; ++t) {
      // A signature that was called a few times only has its durations one by one: joined as they
      // are.
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
  CommPlaces& places_;
  GroupView view_a_;
  std::optional<GroupView> view_b_;
  bool was_plain_ = false, has_places_ = false;
  CommPlace first_a_, first_b_;
  const ShapeStructure* structure_ = nullptr;
  // The last one of settles() whose places its own objects decided; UINT32_MAX: none.
  uint32_t settled_ = UINT32_MAX;
  const ShapeStructure* settled_structure_ = nullptr;
};

}  // namespace

void combine(PartialGroup& a, PartialGroup& b, const ShapeTable& shapes, CommPlaces& places) {
  Combiner(a, b, shapes, places).run();
}

}  // namespace refrain::format
