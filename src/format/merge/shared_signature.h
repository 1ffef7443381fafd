// Signatures of the file in the making, by shape, for ranks that may share them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/merge/infer_rank_expr.h"

namespace refrain::format {

// A signature of the file in the making: what its slots still allow, so that a later group with the
// same shape may join.
struct SharedSignature {
  uint32_t index = 0;  // into TraceData::signatures
  std::vector<SlotState> slots;
  std::vector<RankExpr> exprs;  // for slots that are not alive: table or Cartesian shift
  CommPlace first;
  bool has_table = false;

  // As it is kept for later groups: without expressions where none is asked for.
  SharedSignature kept() const {
    const bool is_all_alive =
        std::all_of(slots.begin(), slots.end(), [](const SlotState& s) { return s.alive != 0; });
    return {index, slots, is_all_alive ? std::vector<RankExpr>{} : exprs, first, false};
  }

  // Of the values that its slots have on its first rank.
  uint64_t hash() const {
    uint64_t h = 0;
    for (const SlotState& s : slots) {
      h = (h ^ static_cast<uint64_t>(s.first)) * 0x9e3779b97f4a7c15u;
      h ^= h >> 32;
    }
    return h;
  }
};

// All of one shape. A rank tells its own calls apart, so a group only joins what other groups made,
// and looks first behind the last one that it joined: equal programs have them in equal order.
class SameShape {
 public:
  // The group that is being placed. Signatures that it adds itself it does not find.
  void set_group(size_t group) {
    if (group_ == group) return;
    group_ = group;
    foreign_ = entries_.size();
    cursor_ = unsuccessful_ = 0;
  }

  // The first that `joins` accepts: behind the last one, with equal values, or not far behind.
  // Nothing: null.
  template <class Joins>
  SharedSignature* find(const SharedSignature& mine, Joins joins) {
    const size_t most = tries();
    for (size_t i = 0; i < most; ++i) {
      if (i == 1)
        if (const auto equal = by_values_.find(mine.hash());
            equal != by_values_.end() && equal->second < foreign_ && joins(entries_[equal->second]))
          return found(equal->second);
      size_t at = cursor_ + i;
      while (at >= foreign_) at -= foreign_;
      if (joins(entries_[at])) return found(at);
    }
    ++unsuccessful_;
    return nullptr;
  }

  void add(const SharedSignature& s) {
    by_values_.try_emplace(s.hash(), entries_.size());
    entries_.push_back(s.kept());
  }

 private:
  // So many are looked at, so that a program with very many signatures of one shape cannot make
  // MPI_Finalize quadratic; fewer while ranks turn out to have little in common.
  size_t tries() const { return std::min<size_t>(foreign_, unsuccessful_ < 32 ? 64 : 8); }
  SharedSignature* found(size_t at) {
    cursor_ = at + 1;
    unsuccessful_ = 0;
    return &entries_[at];
  }

  std::vector<SharedSignature> entries_;
  std::unordered_map<uint64_t, size_t> by_values_;
  size_t group_ = SIZE_MAX;
  size_t foreign_ = 0;       // entries of other groups, which are the first ones
  size_t cursor_ = 0;        // where the next search begins
  size_t unsuccessful_ = 0;  // searches since the last one that found something
};

}  // namespace refrain::format
