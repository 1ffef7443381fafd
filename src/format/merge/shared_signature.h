// Signatures of the file in the making, by shape, for ranks that may share them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/codes/paged_array.h"
#include "format/merge/infer_rank_expr.h"
#include "format/merge/signature_list.h"

namespace refrain::format {

// A signature of the file in the making: what its slots still allow, so that a later group with the
// same shape may join.
struct SharedSignature {
  uint32_t index = 0;  // into TraceData::signatures
  std::vector<SlotState> slots;
  std::vector<RankExpr> exprs;  // for slots that are not alive: table or Cartesian shift
  CommPlace first;
  bool has_table = false;
};

// Those that later groups may join, by number: five bytes a slot and twenty more each, without an
// allocation for each one, as ranks that have nothing in common leave all of theirs here.
class KeptSignatures {
 public:
  size_t size() const { return index_.size(); }
  // One without a table.
  void add(const SharedSignature& s) {
    states_.begin(0);
    for (const SlotState& slot : s.slots) states_.push_state(slot);
    if (std::any_of(s.slots.begin(), s.slots.end(), [](auto& slot) { return slot.alive == 0; }))
      exprs_.emplace(static_cast<uint32_t>(size()), s.exprs);
    index_.push_back(s.index);
    place_.push_back(number_of(s.first));
  }
  // Into TraceData::signatures.
  uint32_t index(uint32_t kept) const { return index_[kept]; }
  SlotState slot(uint32_t kept, size_t k) const { return states_.state(kept, k); }
  void set_slot(uint32_t kept, size_t k, const SlotState& s) { states_.set_state(kept, k, s); }
  size_t slots(uint32_t kept) const { return states_.slots(kept); }
  CommPlace first(uint32_t kept) const { return places_[place_[kept]]; }
  // Of a slot that is not alive.
  const RankExpr& expr(uint32_t kept, size_t k) const { return exprs_.at(kept)[k]; }

 private:
  // Most are those of the one before.
  uint32_t number_of(CommPlace place) {
    if (places_.empty() || places_.back().me != place.me || places_.back().size != place.size)
      places_.push_back(place);
    return static_cast<uint32_t>(places_.size() - 1);
  }

  SignatureList states_;
  PagedArray<uint32_t> index_, place_;
  std::vector<CommPlace> places_;
  std::unordered_map<uint32_t, std::vector<RankExpr>> exprs_;
};

// The numbers of all of one shape. A rank tells its own calls apart, so a group only joins what
// other groups made, and looks first behind the last one that it joined: equal programs have them
// in equal order.
class SameShape {
 public:
  // The group that is being placed. Signatures that it adds itself it does not find.
  void set_group(size_t group) {
    if (group_ == group) return;
    group_ = group;
    foreign_ = kept_.size();
    cursor_ = unsuccessful_ = 0;
  }

  // The first that `joins` accepts, behind the last one; nothing: null. One that is far from there
  // is not worth finding: each jump in a group's list of signatures takes more bytes than one more
  // signature of its own.
  template <class Joins>
  const uint32_t* find(Joins joins) {
    const size_t most = tries();
    for (size_t i = 0; i < most; ++i) {
      size_t at = cursor_ + i;
      while (at >= foreign_) at -= foreign_;
      if (!joins(kept_[at])) continue;
      cursor_ = at + 1;
      unsuccessful_ = 0;
      return &kept_[at];
    }
    ++unsuccessful_;
    return nullptr;
  }

  void add(uint32_t kept) { kept_.push_back(kept); }

 private:
  // So many are looked at, so that a program with very many signatures of one shape cannot make
  // MPI_Finalize quadratic; fewer while ranks turn out to have little in common.
  size_t tries() const { return std::min<size_t>(foreign_, unsuccessful_ < 32 ? 64 : 8); }

  std::vector<uint32_t> kept_;
  size_t group_ = SIZE_MAX;
  size_t foreign_ = 0;       // of other groups, which are the first ones
  size_t cursor_ = 0;        // where the next search begins
  size_t unsuccessful_ = 0;  // searches since the last one that found something
};

}  // namespace refrain::format
