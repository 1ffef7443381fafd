// EventQueue: the next begin or end of a call over all locations.
//
// A location has at most one event in the queue, so the queue has as many entries as there are
// locations and stays in the cache. It is a heap with four children per node. A push after a pop
// reuses the place at the top, which is the most frequent case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::analysis::waits {

enum class EventKind : uint8_t { kBegin, kEnd, kTimeout };

struct Event {
  uint64_t time = 0;
  EventKind kind = EventKind::kBegin;
  uint32_t location = 0;
};

class EventQueue {
 public:
  bool empty() const { return items_.size() == (has_hole_ ? 1 : 0); }

  void push(uint64_t time, EventKind kind, uint32_t location) {
    const Item item{time, uint64_t{static_cast<uint8_t>(kind)} << 32 | location};
    if (has_hole_) {
      has_hole_ = false;
      return sink(item);
    }
    size_t at = items_.size();
    items_.push_back(item);
    while (at > 0 && item < items_[(at - 1) / 4]) {
      items_[at] = items_[(at - 1) / 4];
      at = (at - 1) / 4;
    }
    items_[at] = item;
  }

  // In the order of time, of kinds, and of locations. Neither may be asked when it is empty.
  Event top() {
    fill_hole();
    const Item& item = items_[0];
    return {item.time, static_cast<EventKind>(item.rest >> 32), static_cast<uint32_t>(item.rest)};
  }
  void pop() {
    fill_hole();
    has_hole_ = true;
  }

  // Locations whose turn comes soon after the top: the next one first, then likely ones.
  template <class Visit>
  void for_next(Visit&& visit) const {
    const size_t end = items_.size() < 5 ? items_.size() : 5;
    if (end < 2) return;
    size_t least = 1;
    for (size_t i = 2; i < end; ++i)
      if (items_[i] < items_[least]) least = i;
    visit(static_cast<uint32_t>(items_[least].rest), true);
    for (size_t i = 1; i < end; ++i)
      if (i != least) visit(static_cast<uint32_t>(items_[i].rest), false);
  }

 private:
  struct Item {
    uint64_t time = 0, rest = 0;
    bool operator<(const Item& o) const { return time != o.time ? time < o.time : rest < o.rest; }
  };

  void fill_hole() {
    if (!has_hole_) return;
    has_hole_ = false;
    const Item last = items_.back();
    items_.pop_back();
    if (!items_.empty()) sink(last);
  }
  // Puts `item` where the top was.
  void sink(const Item item) {
    size_t at = 0;
    for (;;) {
      const size_t first = 4 * at + 1;
      if (first >= items_.size()) break;
      const size_t end = first + 4 < items_.size() ? first + 4 : items_.size();
      size_t least = first;
      for (size_t i = first + 1; i < end; ++i)
        if (items_[i] < items_[least]) least = i;
      if (!(items_[least] < item)) break;
      items_[at] = items_[least];
      at = least;
    }
    items_[at] = item;
  }

  std::vector<Item> items_;
  bool has_hole_ = false;  // the first item was popped
};

}  // namespace refrain::analysis::waits
