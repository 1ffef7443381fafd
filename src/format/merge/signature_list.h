// SignatureList: the signatures of a group, in few bytes each.
//
// If no call repeats, there are millions of signatures, and rank 0 has those of all ranks: about
// forty bytes each, without an allocation for each one. Two lists are merged in place, in one pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/nested_runs.h"
#include "format/codes/paged_array.h"
#include "format/merge/duration_list.h"
#include "format/signatures/shape_table.h"

namespace refrain::format {

// Which functions of the rank still explain all values of a slot that were seen so far. Every one
// of them is fixed by the first rank's value (`first`) and, for affine ones, the slope, so nothing
// else needs to be kept.
struct SlotState {
  enum : uint8_t {
    kAffineAlive = 1,    // slope * (me - first me) + first
    kSlopeFixed = 2,     // two different `me` were seen
    kModAlive = 4,       // (me + a) mod size with 0 <= a
    kModBelowAlive = 8,  // the same with a < 0: where communicators differ in size, not the same
    kXorAlive = 16,      // me xor a
    kAllAlive = 1 | 4 | 8 | 16,
    // One value on several ranks, which no function of the rank but a constant explains.
    kSettled = kAffineAlive | kSlopeFixed,
  };
  uint8_t alive = kAllAlive;  // 0: the list has all values
  int64_t first = 0;
  int64_t slope = 0;
  // One value for all ranks is among what explains them.
  bool is_constant() const {
    return (alive & kAffineAlive) != 0 && ((alive & kSlopeFixed) == 0 || slope == 0);
  }
};

class SignatureList {
 public:
  size_t size() const { return shape_.size(); }
  bool empty() const { return shape_.empty(); }
  // Of several ranks; a list of one rank has plain values.
  bool has_states() const { return form_ != Form::kPlain; }
  // Of several: whether every slot is settled, of which nothing is kept then.
  bool is_all_settled() const { return form_ == Form::kSettled; }
  uint32_t shape(size_t terminal) const { return shape_[terminal]; }
  const PagedArray<uint32_t>& shapes() const { return shape_; }
  size_t slots(size_t terminal) const {
    const size_t end = terminal + 1 < size() ? begin_[terminal + 1] : numbers_.size();
    return end - begin_[terminal];
  }
  // Of one rank.
  int64_t value(size_t terminal, size_t k) const { return numbers_[begin_[terminal] + k]; }
  // Of several.
  SlotState state(size_t terminal, size_t k) const {
    const size_t at = begin_[terminal] + k;
    const uint8_t stands = is_all_settled() ? uint8_t{SlotState::kSettled} : alive_[at];
    if (stands == 0) return {0, 0, 0};
    const int64_t number = numbers_[at];
    if ((stands & kHasSlope) == 0) return {stands, number, 0};
    const Line& line = lines_[static_cast<size_t>(number)];
    return {static_cast<uint8_t>(stands ^ kHasSlope), line.first, line.slope};
  }
  // Of several: whether every slot of it has one value on all ranks, and nothing else explains
  // that.
  bool is_settled(size_t terminal) const {
    if (is_all_settled()) return true;
    const size_t begin = begin_[terminal], end = begin + slots(terminal);
    for (size_t at = begin; at < end; ++at)
      if (alive_[at] != SlotState::kSettled) return false;
    return true;
  }
  bool is_settled(size_t terminal, size_t k) const {
    return is_all_settled() || alive_[begin_[terminal] + k] == SlotState::kSettled;
  }
  // Whether the slot has the number that it has in `o`.
  bool has_number_of(const SignatureList& o, size_t terminal, size_t k) const {
    return numbers_[begin_[terminal] + k] == o.numbers_[o.begin_[terminal] + k];
  }
  // Whether each slot has the number that it has in `o`, where terminals have as many slots.
  bool has_numbers_of(const SignatureList& o, size_t terminal) const {
    const size_t begin = begin_[terminal], n = slots(terminal), other = o.begin_[terminal];
    return numbers_.equals(begin, o.numbers_, other, n);
  }
  size_t first_number(size_t terminal) const { return begin_[terminal]; }
  // All numbers of a terminal as words (format/codes/paged_array.h), or null.
  const uint32_t* words(size_t terminal) const {
    return numbers_.words().in_a_row(begin_[terminal], slots(terminal));
  }
  // Whether a number for each slot says all.
  bool is_simple() const { return form_ != Form::kStates; }
  // How many terminals from the first on surely have, where all have as many slots as in `o`.
  size_t has_numbers_of(const SignatureList& o) const;
  void settle(size_t terminal) {
    if (!is_all_settled()) alive_.fill(begin_[terminal], slots(terminal), SlotState::kSettled);
  }
  void settle(size_t terminal, size_t k) {
    if (!is_all_settled()) alive_[begin_[terminal] + k] = SlotState::kSettled;
  }
  // By position in the group, of a slot that nothing explains. A short list is unpacked into
  // `room`, which the result may be.
  const base::NestedRuns& values(size_t terminal, size_t k, base::NestedRuns& room) const {
    return list(terminal, k).values(room);
  }
  // The same as bytes (NestedRuns::write()).
  void write_values(size_t terminal, size_t k, base::ByteWriter& out) const {
    list(terminal, k).write(out);
  }
  // To be set anew.
  base::NestedRuns take_values(size_t terminal, size_t k);

  // One after the other, durations behind all of them.
  void begin(uint32_t shape) {
    begin_.push_back(static_cast<uint32_t>(numbers_.size()));
    shape_.push_back(shape);
  }
  void push_value(int64_t v) { numbers_.push_back(v); }
  void push_settled(int64_t v) {
    form_ = Form::kStates;
    alive_.push_back(SlotState::kSettled);
    numbers_.push_back(v);
  }
  void push_state(const SlotState& s);
  void push_values(base::NestedRuns values);
  // Numbers of whole signatures at once, as words (format/codes/paged_array.h).
  NumberArray& numbers() { return numbers_; }
  const NumberArray& numbers() const { return numbers_; }
  // `n` of a shape with so many slots, whose numbers are or will be there.
  void push_shapes(size_t n, uint32_t shape, size_t slots) {
    const size_t at = empty() ? 0 : begin_[size() - 1] + last_slots_;
    begin_.append_ascending(n, static_cast<uint32_t>(at), static_cast<uint32_t>(slots));
    shape_.append(n, shape);
    last_slots_ = static_cast<uint32_t>(slots);
  }
  // All of it, which is of several ranks then: every slot has one value on all of them.
  void settle_all() {
    form_ = Form::kSettled;
    alive_.clear();
  }

  // From here on a list of several ranks: every slot from that of `settled` terminals on is to be
  // set, if it was of one.
  void make_states(size_t settled);
  void set_shape(size_t terminal, uint32_t shape) { shape_[terminal] = shape; }
  void set_value(size_t terminal, size_t k, int64_t v) { numbers_.set(begin_[terminal] + k, v); }
  void set_state(size_t terminal, size_t k, const SlotState& s);
  void set_values(size_t terminal, size_t k, base::NestedRuns values);

  DurationList& durations() { return durations_; }
  const DurationList& durations() const { return durations_; }
  // Before the calls; empty: not known.
  DurationList& gaps() { return gaps_; }
  const DurationList& gaps() const { return gaps_; }
  // The shapes and numbers of another list, whose slots have one number each, as all of this have.
  void copy_numbers(const SignatureList& o) {
    shape_ = o.shape_;
    begin_ = o.begin_;
    numbers_ = o.numbers_;
    last_slots_ = o.last_slots_;
  }
  // Shapes and numbers go.
  void keep_statistics_only() {
    SignatureList kept;
    kept.durations_ = std::move(durations_);
    kept.gaps_ = std::move(gaps_);
    *this = std::move(kept);
  }
  // What was taken from bytes of somebody else (DurationList::take()) is copied.
  void own_durations() {
    durations_.own();
    gaps_.own();
  }
  // Whether every slot has one value, as that of one rank has.
  bool is_constant() const {
    bool good = true;
    alive_.for_each_page([&](const uint8_t* page, size_t n) {
      good =
          good && std::all_of(page, page + n, [](uint8_t a) { return a == SlotState::kSettled; });
    });
    return good;
  }
  // Of a list that is_constant(), which is of no use behind it.
  std::pair<PagedArray<uint32_t>, NumberArray> take_plain() {
    return {std::move(shape_), std::move(numbers_)};
  }

 private:
  enum : uint8_t { kHasSlope = 128 };
  enum class Form : uint8_t { kPlain, kSettled, kStates };
  struct Line {
    int64_t first, slope;
  };
  // Where no two calls are alike there are millions of lists, of a value for each of a few ranks:
  // a dozen bytes each, and more than ten times as much as NestedRuns.
  class List {
   public:
    explicit List(base::NestedRuns values);
    List(const List& o)
        : short_(o.short_),
          long_(o.long_ ? std::make_unique<base::NestedRuns>(*o.long_) : nullptr) {}
    List(List&&) = default;
    List& operator=(List o) {
      short_ = std::move(o.short_);
      long_ = std::move(o.long_);
      return *this;
    }
    const base::NestedRuns& values(base::NestedRuns& room) const;
    void write(base::ByteWriter& out) const;
    base::NestedRuns take();

   private:
    std::string short_;                       // as NestedRuns::write() has them
    std::unique_ptr<base::NestedRuns> long_;  // or null
  };
  const List& list(size_t terminal, size_t k) const {
    return lists_[static_cast<size_t>(numbers_[begin_[terminal] + k])];
  }
  // A slope that is not fixed says nothing.
  static bool has_slope(const SlotState& s) {
    return (s.alive & SlotState::kSlopeFixed) != 0 && s.slope != 0;
  }

  Form form_ = Form::kPlain;
  uint32_t last_slots_ = 0;     // of push_shapes()
  PagedArray<uint32_t> shape_;  // index into PartialTrace::shapes
  PagedArray<uint32_t> begin_;  // of its slots
  NumberArray numbers_;         // by slot: value, `first`, or index into lines_ or lists_
  PagedArray<uint8_t> alive_;   // by slot; only of Form::kStates
  PagedArray<Line> lines_;      // where the slope is not 0
  std::vector<List> lists_;
  DurationList durations_, gaps_;
};

}  // namespace refrain::format
