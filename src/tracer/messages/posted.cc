#include "tracer/messages/posted.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace refrain::tracer {

Posted& PostedTable::add(uint64_t request) {
  uint32_t index = made_;
  if (free_.empty()) {
    if (made_ % kBlock == 0) blocks_.push_back(std::make_unique<Posted[]>(kBlock));
    ++made_;
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Posted& posted = at(index);
  posted.index = index;
  ++count_;
  const uint32_t head = heads_.find_or_insert(request, index);
  if (head == KeyIndex::kMissing) return posted;
  Posted* last = &at(head);
  while (last->next != KeyIndex::kMissing) last = &at(last->next);
  last->next = index;
  return posted;
}

Posted* PostedTable::find(uint64_t request, const void* variable) {
  Posted* oldest = nullptr;
  for (uint32_t i = heads_.find(request); i != KeyIndex::kMissing; i = at(i).next) {
    Posted& one = at(i);
    if (one.is_claimed) continue;
    if (one.variable == variable) return &one;
    if (oldest == nullptr) oldest = &one;
  }
  return oldest;
}

void PostedTable::remove(uint64_t request, Posted* posted) {
  const uint32_t head = heads_.find(request);
  if (head == KeyIndex::kMissing) return;
  if (head == posted->index) {
    if (posted->next == KeyIndex::kMissing)
      heads_.erase(request);
    else
      heads_.put(request, posted->next);
  } else {
    Posted* before = &at(head);
    while (before->next != posted->index) {
      if (before->next == KeyIndex::kMissing) return;
      before = &at(before->next);
    }
    before->next = posted->next;
  }
  const uint32_t index = posted->index;
  *posted = Posted();
  free_.push_back(index);
  --count_;
}

std::vector<Fetch> FetchTable::take(uint64_t window, int target) {
  const auto found = by_window_.find(window);
  if (found == by_window_.end()) return {};
  auto& list = found->second;
  const auto taken = std::stable_partition(
      list.begin(), list.end(), [&](const Fetch& f) { return target >= 0 && f.target != target; });
  std::vector<Fetch> out(std::make_move_iterator(taken), std::make_move_iterator(list.end()));
  list.erase(taken, list.end());
  if (list.empty()) by_window_.erase(found);
  return out;
}

}  // namespace refrain::tracer
