#include "tracer/messages/posted.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace refrain::tracer {

Posted& PostedTable::add(uint64_t request, std::unique_ptr<Posted> posted) {
  auto& list = by_request_[request];
  list.push_back(std::move(posted));
  return *list.back();
}

Posted* PostedTable::find(uint64_t request, const void* variable) {
  const auto found = by_request_.find(request);
  if (found == by_request_.end()) return nullptr;
  for (const auto& posted : found->second)
    if (posted->variable == variable) return posted.get();
  return found->second.front().get();
}

void PostedTable::remove(uint64_t request, const Posted* posted) {
  const auto found = by_request_.find(request);
  if (found == by_request_.end()) return;
  std::erase_if(found->second, [&](const auto& p) { return p.get() == posted; });
  if (found->second.empty()) by_request_.erase(found);
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
