// Collectives that some ranks have entered and not all have left.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/waits/messages.h"

namespace refrain::analysis::waits {

struct InstanceHash {
  size_t operator()(const InstanceKey& k) const {
    uint64_t h = k.comm;
    for (const uint64_t v : {k.stream, k.number}) h = (h ^ v) * 0x9e3779b97f4a7c15U, h ^= h >> 29;
    return h;
  }
};

// The last of some ranks to enter.
struct LastEntry {
  uint64_t count = 0;
  uint64_t begin = 0;
  NodeId node = kNoNode;
  uint64_t ideal = 0;
  Rank rank = -1;
  void add(uint64_t at, NodeId who, Rank of, uint64_t ideal_at) {
    if (count++ == 0 || at >= begin) begin = at, node = who, rank = of;
    if (count == 1 || ideal_at > ideal) ideal = ideal_at;
  }
  void add(const LastEntry& other) {
    if (other.count == 0) return;
    if (count == 0 || other.begin >= begin)
      begin = other.begin, node = other.node, rank = other.rank;
    if (count == 0 || other.ideal > ideal) ideal = other.ideal;
    count += other.count;
  }
};

// Members in the order of ranks, each of which needs those below it. A tree over the positions:
// adding one and asking for those below another take the logarithm of their number.
class Members {
 public:
  void add(int64_t position, const LastEntry& entry) {
    if (position < 0) return;
    const auto at = static_cast<size_t>(position);
    if (at >= width_) grow(at);
    tree_[width_ + at] = entry;
    for (size_t i = (width_ + at) / 2; i > 0; i /= 2) join(i);
    while (filled_ < width_ && tree_[width_ + filled_].count > 0) ++filled_;
  }
  // So many from the lowest on are there.
  int64_t filled() const { return static_cast<int64_t>(filled_); }
  // The last of those below `position` that are there; of several, the highest.
  LastEntry below(int64_t position) const {
    LastEntry out;
    size_t end = position <= 0 ? 0 : std::min(static_cast<size_t>(position), width_);
    // From the largest part of the tree that has none beyond `end` to smaller ones.
    size_t node = 1;
    for (size_t width = width_; end > 0; width /= 2) {
      if (end >= width) {
        out.add(tree_[node]);
        end -= width;
        node = 2 * (node + 1);
      } else {
        node *= 2;
      }
    }
    return out;
  }

  // Location `who` waits for all that are below `position`.
  void hold(int64_t position, uint32_t who) {
    held_.emplace_back(position, who);
    std::push_heap(held_.begin(), held_.end(), std::greater<>());
  }
  // Those that wait no longer, one at a time.
  bool take_free(uint32_t& who) {
    if (held_.empty() || held_.front().first > filled()) return false;
    std::pop_heap(held_.begin(), held_.end(), std::greater<>());
    who = held_.back().second;
    held_.pop_back();
    return true;
  }

 private:
  void join(size_t i) {
    tree_[i] = tree_[2 * i];
    tree_[i].add(tree_[2 * i + 1]);
  }
  void grow(size_t at) {
    const std::vector<LastEntry> old(tree_.begin() + static_cast<ptrdiff_t>(width_), tree_.end());
    width_ = std::bit_ceil(at + 1);
    tree_.assign(2 * width_, LastEntry());
    std::copy(old.begin(), old.end(), tree_.begin() + static_cast<ptrdiff_t>(width_));
    for (size_t i = width_ - 1; i > 0; --i) join(i);
  }

  size_t width_ = 0, filled_ = 0;
  // Entry p is at width_ + p, those not there count 0; node i joins 2 i and 2 i + 1.
  std::vector<LastEntry> tree_;
  std::vector<std::pair<int64_t, uint32_t>> held_;  // a heap
};

struct Instance {
  uint64_t number = 0;    // of all instances; also names the window that it makes
  uint64_t expected = 0;  // ranks of this world
  uint64_t ended = 0;
  LastEntry all, root, leaves;
  uint64_t leaves_expected = 0;
  bool has_left = false;
  uint64_t first_end = 0;                  // of the first rank to leave; blocking forms only
  Members members;                         // of scans, and of files in the order of ranks
  FlatMap<int64_t, LastEntry> neighbours;  // of neighbourhoods: by number in the communicator
  // Of files: somebody left, or completed it, before the last one was there.
  bool is_loose = false, is_completed_loosely = false;
  std::vector<uint32_t> held;  // locations that wait for others to enter
};

class InstanceTable {
 public:
  explicit InstanceTable(size_t most) : most_(most) {}
  // nullptr: the table is full. Valid until it is left by all.
  Instance* enter(const InstanceKey& key, uint64_t expected) {
    const auto known = all_.find(key);
    if (known != all_.end()) return &known->second;
    if (all_.size() >= most_) {
      ++dropped_;
      return nullptr;
    }
    Instance& made = all_[key];
    made.number = made_++;
    made.expected = expected;
    return &made;
  }
  Instance* find(const InstanceKey& key) {
    const auto known = all_.find(key);
    return known == all_.end() ? nullptr : &known->second;
  }
  void leave(const InstanceKey& key) {
    const auto known = all_.find(key);
    if (known == all_.end() || ++known->second.ended < known->second.expected) return;
    neighbours_ -= known->second.neighbours.size();
    all_.erase(known);
  }
  // Of a neighbourhood. False: the table is full.
  bool add_neighbour(Instance& instance, int64_t who, const LastEntry& entry) {
    if (neighbours_ >= kMostNeighbours) {
      ++dropped_;
      return false;
    }
    instance.neighbours[who] = entry;
    ++neighbours_;
    return true;
  }
  size_t open() const { return all_.size(); }
  uint64_t dropped() const { return dropped_; }
  // Instances that some ranks never entered.
  uint64_t incomplete() const {
    uint64_t n = 0;
    for (const auto& [key, instance] : all_) n += instance.all.count < instance.expected ? 1 : 0;
    return n;
  }

 private:
  static constexpr size_t kMostNeighbours = 8'000'000;
  size_t most_, neighbours_ = 0;
  uint64_t made_ = 0, dropped_ = 0;
  std::unordered_map<InstanceKey, Instance, InstanceHash> all_;
};

}  // namespace refrain::analysis::waits
