// Collectives that some ranks have entered and not all have left.
#pragma once

#include <algorithm>
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
  void add(uint64_t at, NodeId who, uint64_t ideal_at) {
    if (count++ == 0 || at >= begin) begin = at, node = who;
    if (count == 1 || ideal_at > ideal) ideal = ideal_at;
  }
  void add(const LastEntry& other) { add(other.begin, other.node, other.ideal); }
};

// Members in the order of ranks, each of which needs those below it.
class Members {
 public:
  void add(int64_t position, const LastEntry& entry) {
    if (position < 0) return;
    const auto at = static_cast<size_t>(position);
    if (at >= entries_.size()) entries_.resize(at + 1);
    entries_[at] = entry;
    while (below_.size() <= entries_.size() && entries_[below_.size() - 1].count > 0) {
      below_.push_back(below_.back());
      below_.back().add(entries_[below_.size() - 2]);
    }
  }
  // So many from the lowest on are there.
  int64_t filled() const { return static_cast<int64_t>(below_.size()) - 1; }
  // The last of those below `position` that are there.
  LastEntry below(int64_t position) const {
    if (position <= filled()) return below_[static_cast<size_t>(std::max<int64_t>(position, 0))];
    LastEntry out = below_.back();
    const size_t end = std::min(entries_.size(), static_cast<size_t>(position));
    for (size_t i = below_.size() - 1; i < end; ++i)
      if (entries_[i].count > 0) out.add(entries_[i]);
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
  std::vector<LastEntry> entries_;                  // by position; those not there count 0
  std::vector<LastEntry> below_ = {LastEntry()};    // by position, as far as all are there
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
