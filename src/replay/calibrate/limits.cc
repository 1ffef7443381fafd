// Up to which sizes sends are complete at once, and when their receiver is in MPI.
#include <algorithm>

#include "replay/calibrate/measure.h"

namespace refrain::replay {
namespace {

constexpr int kNoTag = 5;   // of messages that nobody sends
constexpr int kProbes = 5;  // of a size; most of them decide
constexpr int kLooks = 100;
constexpr uint64_t kLeastDelay = 100'000;

}  // namespace

// Both are there: a sender that is late would find its receive posted. And the receiver has left
// MPI, where it would take what comes right behind the token.
void Measure::begin_probe() {
  constexpr uint64_t kAside = 5'000;
  token(1);
  token(0);
  if (me_ == 0) pass(kAside);
}

// Whether sends returned in less than this share of the delay, of those that rank 0 has timed. Most
// of them decide: a busy machine makes one late that does not wait, and another one find its
// receiver at a later place than it seems.
bool Measure::are_early(const char* test, uint64_t bytes, uint64_t delay, double share,
                        std::vector<uint64_t>& ns) {
  std::vector<uint64_t> sorted = ns;
  std::sort(sorted.begin(), sorted.end());
  const uint64_t median = sorted[sorted.size() / 2];
  int is_early = static_cast<double>(median) <= share * static_cast<double>(delay) ? 1 : 0;
  MPI_Bcast(&is_early, 1, MPI_INT, 0, MPI_COMM_WORLD);
  write(test, bytes, ",\"delay_ns\":" + std::to_string(delay), ns, 0);
  return is_early == 1;
}

// Whether a blocking send of this size returns before its receive is posted: while its receiver is
// outside of MPI, or not before it is in MPI with other calls, which look for messages of another
// kind. What these calls took does not count.
bool Measure::returns_before_receive(uint64_t bytes, Receiver receiver) {
  const bool looks = receiver == Receiver::kInOtherCalls;
  std::vector<uint64_t> ns(kProbes);
  const uint64_t delay = kLeastDelay + 4 * long_ns(bytes);
  for (uint64_t& one : ns) {
    begin_probe();
    uint64_t looking = 0;
    if (me_ == 0) {
      const uint64_t begin = now();
      MPI_Send(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
      one = now() - begin;
      if (!looks) continue;
      MPI_Recv(&looking, 1, MPI_UINT64_T, 1, kBack, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      one -= std::min(one, looking);
      continue;
    }
    pass(delay);
    if (looks) {
      const uint64_t begin = now();
      int is_there = 0;
      for (int i = 0; i < kLooks; ++i)
        MPI_Iprobe(0, kNoTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      looking = now() - begin;
      pass(delay);
    }
    receive_one(bytes);
    if (looks) MPI_Send(&looking, 1, MPI_UINT64_T, 0, kBack, MPI_COMM_WORLD);
  }
  // The receive is posted after one delay, or after two, with the other calls in between.
  return looks ? are_early("probed", bytes, delay, 1.5, ns)
               : are_early("delayed", bytes, delay, 0.5, ns);
}

// Powers of two, then halves of what is between two of them.
uint64_t Measure::last_good(uint64_t good, const std::function<bool(uint64_t)>& is_good) const {
  uint64_t bad = 0, next = 1;
  while (next <= good) next *= 2;
  for (; bad == 0 && next <= options_.most_bytes; next *= 2) (is_good(next) ? good : bad) = next;
  if (bad == 0 && good < options_.most_bytes && !is_good(options_.most_bytes))
    bad = options_.most_bytes;
  if (bad == 0) return UINT64_MAX;
  while (bad - good > 1) {
    const uint64_t middle = good + (bad - good) / 2;
    (is_good(middle) ? good : bad) = middle;
  }
  return good;
}

void Measure::find_limits() {
  const auto to_one_outside = [&](uint64_t bytes) {
    return returns_before_receive(bytes, Receiver::kOutsideMpi);
  };
  const auto to_one_inside = [&](uint64_t bytes) {
    return returns_before_receive(bytes, Receiver::kInOtherCalls);
  };
  instant_ = limit_ = last_good(0, to_one_outside);
  if (instant_ == UINT64_MAX || !to_one_inside(instant_ + 1)) return;
  limit_ = last_good(instant_ + 1, to_one_inside);
}

}  // namespace refrain::replay
