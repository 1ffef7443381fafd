// Signatures of the file in the making, by shape, for ranks that may share them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

  // The first that `joins` accepts, behind the last one; nothing: null. One that is far from there
  // is not worth finding: each jump in a group's list of signatures takes more bytes than one more
  // signature of its own.
  template <class Joins>
  SharedSignature* find(Joins joins) {
    const size_t most = tries();
    for (size_t i = 0; i < most; ++i) {
      size_t at = cursor_ + i;
      while (at >= foreign_) at -= foreign_;
      if (!joins(entries_[at])) continue;
      cursor_ = at + 1;
      unsuccessful_ = 0;
      return &entries_[at];
    }
    ++unsuccessful_;
    return nullptr;
  }

  void add(const SharedSignature& s) { entries_.push_back(s.kept()); }

 private:
  // So many are looked at, so that a program with very many signatures of one shape cannot make
  // MPI_Finalize quadratic; fewer while ranks turn out to have little in common.
  size_t tries() const { return std::min<size_t>(foreign_, unsuccessful_ < 32 ? 64 : 8); }

  std::vector<SharedSignature> entries_;
  size_t group_ = SIZE_MAX;
  size_t foreign_ = 0;       // entries of other groups, which are the first ones
  size_t cursor_ = 0;        // where the next search begins
  size_t unsuccessful_ = 0;  // searches since the last one that found something
};

}  // namespace refrain::format
