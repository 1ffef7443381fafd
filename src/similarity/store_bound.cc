// What SegmentStore does when there is no more room: loosen, unite, and spill last.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "similarity/distance.h"
#include "similarity/store.h"

namespace refrain::similarity {
namespace {

constexpr double kStep = 1.5;  // from one threshold to the next looser one
// Room is made until at most this part of what was used is: so that it is not made for each
// segment.
constexpr double kEnough = 0.75;

}  // namespace

template <class T>
bool SegmentStore::grow(grammar::PodVector<T>* vector, size_t needed) {
  if (needed <= vector->capacity()) return true;
  const size_t others = memory_bytes() - vector->capacity_bytes();
  if (others >= options_.max_memory_bytes) return false;
  const size_t allowed = (options_.max_memory_bytes - others) / sizeof(T);
  if (needed > allowed) return false;
  // Near the bound half of what is left, so that one of them does not take it all.
  const size_t twice = std::max<size_t>(16, 2 * vector->capacity());
  const size_t half = vector->capacity() + (allowed - vector->capacity()) / 2;
  return vector->reserve(std::max(needed, std::min(twice, half)));
}

// These are the vectors of store.cc.
template bool SegmentStore::grow(grammar::PodVector<double>*, size_t);
template bool SegmentStore::grow(grammar::PodVector<Representative>*, size_t);
template bool SegmentStore::grow(grammar::PodVector<Group>*, size_t);
template bool SegmentStore::grow(grammar::PodVector<Instance>*, size_t);

// `slots` is a power of two. The old index goes first: that of all groups is made from them.
bool SegmentStore::rehash(size_t slots) {
  const size_t others = memory_bytes() - index_.capacity_bytes();
  if (others + slots * sizeof(uint32_t) > options_.max_memory_bytes) return false;
  grammar::PodVector<uint32_t> index;
  if (!index.reserve(slots)) return false;
  std::memset(static_cast<void*>(&index[0]), 0, slots * sizeof(uint32_t));
  index_.swap(index);
  for (uint32_t g = 0; g < groups_.size(); ++g) index_group(g);
  return true;
}

size_t SegmentStore::used_bytes() const {
  return arena_.size() * sizeof(double) + reps_.size() * sizeof(Representative);
}

void SegmentStore::loosen() {
  ++totals_.loosenings;
  if (options_.method.method == Method::kIterK) {
    threshold_ = std::max(max_threshold_, std::floor(threshold_ / kStep));
  } else {
    const double small =
        options_.method.method == Method::kAbsDiff ? kSmallAbsoluteThreshold : kSmallThreshold;
    threshold_ = std::min(max_threshold_, threshold_ > 0 ? threshold_ * kStep : small);
  }
}

// Whether it made room at all. Never takes memory.
bool SegmentStore::make_room() {
  const size_t before = used_bytes();
  const size_t instances_before = log_.size();
  const size_t groups_before = groups_.size();
  const auto target = static_cast<size_t>(kEnough * static_cast<double>(before));
  flush_instances();
  while (used_bytes() > target && threshold_ != max_threshold_ &&
         options_.method.method != Method::kIterAvg) {
    loosen();
    unite_all();
  }
  while (used_bytes() > target && sink_ != nullptr && spill_oldest()) {
  }
  if (sink_ != nullptr) drop_empty_groups();
  return used_bytes() < before || log_.size() < instances_before || groups_.size() < groups_before;
}

void SegmentStore::unite_all() {
  const uint64_t before = totals_.united;
  for (uint32_t g = 0; g < groups_.size(); ++g) unite_group(g);
  if (totals_.united == before) return;
  rename_instances();
  compact();
}

// Each representative of the group, the last matched one first, is united with the first one before
// it that matches, or stays.
void SegmentStore::unite_group(uint32_t group) {
  const uint32_t first = groups_[group].first;
  if (first == kNone) return;
  const bool is_iter_k = options_.method.method == Method::kIterK;
  const auto keep = static_cast<uint32_t>(is_iter_k ? threshold_ : 0);
  uint32_t kept = 0;
  for (uint32_t r = first; r != kNone; r = reps_[r].next) {
    if (is_iter_k) {
      if (++kept > keep) unite(r, first);
      continue;
    }
    for (uint32_t s = first; s != r; s = reps_[s].next) {
      if (reps_[s].forward != kNone || !may_unite(&reps_[s], reps_[r])) continue;
      if (reps_[s].count >= reps_[r].count) {
        unite(r, s);
        break;
      }
      // The one with more segments stays, and may take more of those before it.
      unite(s, r);
    }
  }
}

// `a` learns which interval is elastic in both.
bool SegmentStore::may_unite(Representative* first, const Representative& b) const {
  Representative& a = *first;
  const size_t n = groups_[a.group].stamp_count;
  const double* x = &arena_[a.offset];
  const double* y = &arena_[b.offset];
  if (is_auto()) {
    uint32_t elastic = kRigid;
    if (!cluster_fits({x, a.count, a.elastic}, {y, b.count, b.elastic}, n, tolerance(), true,
                      &elastic))
      return false;
    a.elastic = elastic;
    return true;
  }
  const size_t skip = is_wave() ? n : 0;
  const size_t size = is_wave() ? wavelet_size(n) : n;
  return vectors_match(options_.method.method, threshold_, {x + skip, size}, a.max_value,
                       {y + skip, size}, b.max_value);
}

void SegmentStore::unite(uint32_t from, uint32_t into) {
  Representative& a = reps_[into];
  Representative& b = reps_[from];
  const size_t n = groups_[a.group].stamp_count;
  if (is_cluster()) {
    cluster_unite(&arena_[a.offset], &arena_[b.offset], n, is_auto());
  } else {
    const double apart = largest_difference({&arena_[a.offset], n}, {&arena_[b.offset], n});
    // At most, by the triangle inequality.
    a.error_ns = std::max(a.error_ns, b.error_ns + apart);
    a.relative_error =
        std::max(a.relative_error, b.relative_error + apart / std::max(1.0, b.shortest_ns));
  }
  if (a.elastic == kRigid) a.elastic = b.elastic;
  a.count += b.count;
  a.last_used = std::max(a.last_used, b.last_used);
  a.shortest_ns = std::min(a.shortest_ns, b.shortest_ns);
  b.forward = into;
  ++totals_.united;
}

uint32_t SegmentStore::resolve(uint32_t rep) const {
  while (reps_[rep].forward != kNone) rep = reps_[rep].forward;
  return rep;
}

void SegmentStore::rename_instances() {
  if (sink_ != nullptr) {
    for (uint32_t r = 0; r < reps_.size(); ++r)
      if (reps_[r].forward != kNone) sink_->united(reps_[r].id, reps_[resolve(r)].id);
  }
  if (reps_.empty()) return;
  const Representative* begin = &reps_[0];
  const Representative* end = begin + reps_.size();
  for (size_t i = 0; i < log_.size(); ++i) {
    const Representative* rep = std::lower_bound(
        begin, end, log_[i].id, [](const Representative& r, uint32_t id) { return r.id < id; });
    // Those that the sink has keep their ids.
    if (rep != end && rep->id == log_[i].id)
      log_[i].id = reps_[resolve(static_cast<uint32_t>(rep - begin))].id;
  }
}

// Moves what is left together: representatives and their vectors keep their order. A representative
// with `forward` is one to drop.
void SegmentStore::compact() {
  // The lists first, as long as numbers are the old ones.
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    Group& group = groups_[g];
    group.representatives = 0;
    uint32_t* link = &group.first;
    for (uint32_t r = group.first; r != kNone; r = reps_[r].next) {
      if (reps_[r].forward != kNone) continue;
      *link = r;
      link = &reps_[r].next;
      ++group.representatives;
    }
    *link = kNone;
  }
  // Then numbers: what is left gets its new one in `forward`, for the links.
  uint32_t left = 0;
  for (uint32_t r = 0; r < reps_.size(); ++r)
    reps_[r].forward = reps_[r].forward == kNone ? left++ : kNone;
  for (uint32_t g = 0; g < groups_.size(); ++g)
    if (groups_[g].first != kNone) groups_[g].first = reps_[groups_[g].first].forward;
  for (uint32_t r = 0; r < reps_.size(); ++r)
    if (reps_[r].forward != kNone && reps_[r].next != kNone)
      reps_[r].next = reps_[reps_[r].next].forward;
  size_t used = 0;
  for (uint32_t r = 0; r < reps_.size(); ++r) {
    Representative rep = reps_[r];
    if (rep.forward == kNone) continue;
    const size_t size = vector_size(groups_[rep.group].stamp_count);
    std::memmove(&arena_[used], &arena_[rep.offset], size * sizeof(double));
    rep.offset = used;
    used += size;
    const uint32_t place = rep.forward;
    rep.forward = kNone;
    reps_[place] = rep;
  }
  while (reps_.size() > left) reps_.pop_back();
  while (arena_.size() > used) arena_.pop_back();
}

// Hands about a quarter of the representatives to the sink: those not matched for longest. Whether
// any went.
bool SegmentStore::spill_oldest() {
  if (reps_.empty()) return false;
  const size_t target = (reps_.size() + 3) / 4;
  // The time before which that many were matched last, by halving: there is no memory to sort in.
  uint64_t low = 0;
  uint64_t high = clock_;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    size_t older = 0;
    for (size_t r = 0; r < reps_.size(); ++r) older += reps_[r].last_used <= middle ? 1 : 0;
    if (older >= target) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  bool any = false;
  for (uint32_t r = 0; r < reps_.size(); ++r) {
    if (reps_[r].last_used > low || !hand_over(reps_[r])) continue;
    reps_[r].forward = r;
    any = true;
  }
  if (any) compact();
  return any;
}

bool SegmentStore::hand_over(const Representative& rep) {
  const size_t n = groups_[rep.group].stamp_count;
  // Means need a place; a segment of this length has been in scratch_ before.
  if (is_cluster() && scratch_.capacity() < n) return false;
  RepresentativeView view;
  if (is_cluster()) {
    describe(rep, &scratch_[0], &view);
  } else {
    view = {rep.id,
            groups_[rep.group].context,
            groups_[rep.group].structure,
            rep.count,
            rep.error_ns,
            rep.relative_error,
            rep.shortest_ns,
            kRigid,
            false,
            {&arena_[rep.offset], n},
            {}};
  }
  if (!sink_->take_representative(view)) return false;
  totals_.error_ns = std::max(totals_.error_ns, view.error_ns);
  totals_.relative_error = std::max(totals_.relative_error, view.relative_error);
  ++totals_.spilled_representatives;
  return true;
}

// Those whose representatives have all gone. When their structure comes again it counts as new.
void SegmentStore::drop_empty_groups() {
  uint32_t left = 0;
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].first == kNone) continue;
    for (uint32_t r = groups_[g].first; r != kNone; r = reps_[r].next) reps_[r].group = left;
    groups_[left++] = groups_[g];
  }
  if (left == groups_.size()) return;
  while (groups_.size() > left) groups_.pop_back();
  std::memset(static_cast<void*>(&index_[0]), 0, index_.capacity_bytes());
  for (uint32_t g = 0; g < left; ++g) index_group(g);
}

}  // namespace refrain::similarity
