#include "format/merge/signature_list.h"

namespace refrain::format {

SignatureList::List::List(base::NestedRuns values) {
  constexpr uint64_t kShort = 8;  // items: unpacked in little time
  if (values.item_count() > kShort) {
    long_ = std::make_unique<base::NestedRuns>(std::move(values));
    return;
  }
  base::ByteWriter out;
  values.write(out);
  short_ = out.view();  // as much memory as it needs
}

const base::NestedRuns& SignatureList::List::values(base::NestedRuns& room) const {
  if (long_ != nullptr) return *long_;
  base::ByteReader in(short_);
  room = base::NestedRuns::read(in, UINT64_MAX);
  return room;
}

void SignatureList::List::write(base::ByteWriter& out) const {
  long_ != nullptr ? long_->write(out) : out.put_bytes(short_.data(), short_.size());
}

base::NestedRuns SignatureList::List::take() {
  base::NestedRuns room;
  if (long_ != nullptr) {
    room = std::move(*long_);
    long_.reset();
  } else {
    values(room);
    std::string().swap(short_);
  }
  return room;
}

base::NestedRuns SignatureList::take_values(size_t terminal, size_t k) {
  return lists_[static_cast<size_t>(numbers_[begin_[terminal] + k])].take();
}

void SignatureList::push_state(const SlotState& s) {
  form_ = Form::kStates;
  if (!has_slope(s)) {
    alive_.push_back(s.alive);
    numbers_.push_back(s.first);
    return;
  }
  // Few slots have a slope. Those have their two numbers elsewhere, and its index here, so that all
  // others take one number and one byte.
  alive_.push_back(s.alive | kHasSlope);
  numbers_.push_back(static_cast<int64_t>(lines_.size()));
  lines_.push_back(Line{s.first, s.slope});
}

void SignatureList::push_values(base::NestedRuns values) {
  form_ = Form::kStates;
  alive_.push_back(0);
  numbers_.push_back(static_cast<int64_t>(lists_.size()));
  lists_.emplace_back(std::move(values));
}

void SignatureList::make_states(size_t settled) {
  if (form_ == Form::kStates) return;
  const size_t slots = numbers_.size();
  // Those that the merge has settled already, and behind them those that still are plain values.
  const size_t until = form_ == Form::kSettled || settled >= size() ? slots : begin_[settled];
  form_ = Form::kStates;
  alive_.append(until, SlotState::kSettled);
  alive_.append(slots - until, SlotState::kAllAlive);
}

size_t SignatureList::has_numbers_of(const SignatureList& o) const {
  const size_t slots = numbers_.equal_until(o.numbers_);
  if (slots == numbers_.size()) return size();
  // Lists differ in numbers, but are asked for signatures: the last one whose numbers all lie
  // before the difference.
  size_t low = 0, high = size();  // the last one that begins no later
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (begin_[middle] <= slots ? low : high) = middle;
  }
  return low;
}

void SignatureList::set_state(size_t terminal, size_t k, const SlotState& s) {
  const size_t at = begin_[terminal] + k;
  uint8_t& stands = alive_[at];
  if (!has_slope(s)) {
    if (stands == 0 || (stands & kHasSlope) != 0 || numbers_[at] != s.first)
      numbers_.set(at, s.first);
    stands = s.alive;
  } else if ((stands & kHasSlope) != 0) {
    lines_[static_cast<size_t>(numbers_[at])] = Line{s.first, s.slope};
    stands = s.alive | kHasSlope;
  } else {
    stands = s.alive | kHasSlope;
    numbers_.set(at, static_cast<int64_t>(lines_.size()));
    lines_.push_back(Line{s.first, s.slope});
  }
}

void SignatureList::set_values(size_t terminal, size_t k, base::NestedRuns values) {
  const size_t at = begin_[terminal] + k;
  // It has a list already, which is replaced; a second one would never be freed.
  if (alive_[at] == 0) {
    lists_[static_cast<size_t>(numbers_[at])] = List(std::move(values));
    return;
  }
  alive_[at] = 0;
  numbers_.set(at, static_cast<int64_t>(lists_.size()));
  lists_.emplace_back(std::move(values));
}

}  // namespace refrain::format
