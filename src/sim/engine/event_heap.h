// EventHeap: what happens next. Events of one time come in the order in which they were added, so
// that a simulation has one result.
//
// A heap of four children a node in one array: half as deep as a binary one, and the children of a
// node are neighbours in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::sim {

struct Event {
  int64_t time = 0;
  uint64_t order = 0;  // kind in the lowest 4 bits
  uint32_t subject = 0;
  bool is_before(const Event& o) const { return time != o.time ? time < o.time : order < o.order; }
};

class EventHeap {
 public:
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  const Event& top() const { return all_.front(); }
  const std::vector<Event>& all() const { return all_; }  // the first is top()

  void add(int64_t time, uint8_t kind, uint32_t subject) {
    const Event event{time, ++order_ << 4 | kind, subject};
    size_t at = all_.size();
    all_.push_back(event);
    for (; at > 0; at = (at - 1) / 4) {
      const size_t above = (at - 1) / 4;
      if (!event.is_before(all_[above])) break;
      all_[at] = all_[above];
    }
    all_[at] = event;
  }

  Event take() {
    const Event out = all_.front();
    const Event last = all_.back();
    all_.pop_back();
    if (all_.empty()) return out;
    size_t at = 0;
    while (4 * at + 1 < all_.size()) {
      size_t least = 4 * at + 1;
      const size_t end = least + 4 < all_.size() ? least + 4 : all_.size();
      for (size_t i = least + 1; i < end; ++i)
        if (all_[i].is_before(all_[least])) least = i;
      if (!all_[least].is_before(last)) break;
      all_[at] = all_[least];
      at = least;
    }
    all_[at] = last;
    return out;
  }

 private:
  std::vector<Event> all_;
  uint64_t order_ = 0;
};

}  // namespace refrain::sim
