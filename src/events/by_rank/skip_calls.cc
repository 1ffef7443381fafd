// Leaving out calls of a rank that repeats itself.
#include "events/by_rank/rank_events.h"

namespace refrain::events {

uint64_t RankEvents::next_seq() {
  if (!is_open_) open();
  return threads_.size() == 1 && threads_[0].has_call ? threads_[0].staged.seq : UINT64_MAX;
}

bool RankEvents::skip(uint64_t calls) {
  const uint64_t seq = next_seq();
  if (seq == UINT64_MAX) return false;
  Thread& thread = threads_[0];
  if (!thread.calls->skip_to(seq + calls)) return false;
  thread.has_call = thread.calls->next(thread.staged);
  return true;
}

}  // namespace refrain::events
