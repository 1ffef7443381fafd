#include "events/by_rank/scope.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <utility>

namespace refrain::events {

Scope::Scope(const Trace& t, Choice choice, const Progress& progress, Tally& met)
    : trace(t), tally(met), choice_(std::move(choice)), progress_(progress) {
  // Ranks get new numbers from 0 on where only some were chosen: simulators have no gaps.
  positions_.assign(static_cast<size_t>(trace.rank_count()), -1);
  const auto take = [&](Rank rank) {
    if (!trace.group_of(rank)) return;  // an incomplete trace lacks it
    positions_[static_cast<size_t>(rank)] = static_cast<int64_t>(ranks.size());
    ranks.push_back(rank);
    for (const Location& location : trace.locations(rank)) calls_ += location.calls;
  };
  if (choice_.ranks.empty())
    for (Rank rank = 0; rank < trace.rank_count(); ++rank) take(rank);
  else
    for (const Rank rank : choice_.ranks) take(rank);
  expect_passes(1);
}

int64_t Scope::position(Rank rank) const {
  return rank >= 0 && static_cast<size_t>(rank) < positions_.size()
             ? positions_[static_cast<size_t>(rank)]
             : -1;
}

void give_back_memory() {
#ifdef __GLIBC__
  // glibc keeps freed memory of many small pieces for later; the bound on memory is about what the
  // system sees.
  malloc_trim(0);
#endif
}

}  // namespace refrain::events
