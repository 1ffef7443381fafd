// Memory that `refrain solo --concurrent` shares with the ranks that it runs at the same time: a
// file of together_bytes() bytes, mapped by all of them, zero at first.
//
// In place, ranks of a node share memory and caches for as long as both compute, and wait for each
// other. Alone they would begin when each has read its trace, and drift apart. So each rank says
// when it is in MPI, and where the trace has times, until when its unit lasted in place; a rank
// goes on with its next unit once no other one is behind that in recorded time. The one that is
// furthest behind never waits, so the ranks always get on.
//
// Threads: any; everything is atomic. A rank that ends, however, is taken out by the process that
// started it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace refrain::options {

struct alignas(64) TogetherLane {  // of a rank: a cache line of its own
  std::atomic<uint32_t> has_begun{0};
  // Recorded time, in ns of the common clock, until which the rank has got, or will with the unit
  // that it computes.
  std::atomic<uint64_t> reached_ns{0};
};

constexpr size_t together_bytes(size_t ranks) { return ranks * sizeof(TogetherLane); }

// Nobody waits for that rank any more.
inline void leave_together(TogetherLane& lane) {
  lane.reached_ns.store(UINT64_MAX);
  lane.has_begun.store(1);
}

static_assert(std::atomic<uint64_t>::is_always_lock_free);

}  // namespace refrain::options
