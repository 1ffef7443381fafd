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

// Whether a blocking send of this size returns before its receive is posted, and before its
// receiver is in MPI again.
bool Measure::waits_for_nobody(uint64_t bytes) {
  std::vector<uint64_t> ns(kProbes);
  const uint64_t delay = kLeastDelay + 4 * long_ns(bytes);
  for (uint64_t& one : ns) {
    begin_probe();
    if (me_ == 0) {
      const uint64_t begin = now();
      MPI_Send(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
      one = now() - begin;
    } else {
      pass(delay);
      receive_one(bytes);
    }
  }
  return are_early("delayed", bytes, delay, 0.5, ns);
}

// Whether one returns when its receiver is in MPI, with another call than its receive: one that
// looks for messages of another kind. What these calls took does not count.
bool Measure::waits_for_receiver(uint64_t bytes) {
  std::vector<uint64_t> ns(kProbes);
  const uint64_t delay = kLeastDelay + 4 * long_ns(bytes);
  for (uint64_t& one : ns) {
    begin_probe();
    uint64_t probing = 0;
    if (me_ == 0) {
      const uint64_t begin = now();
      MPI_Send(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
      one = now() - begin;
      MPI_Recv(&probing, 1, MPI_UINT64_T, 1, kBack, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      one -= std::min(one, probing);
    } else {
      pass(delay);
      const uint64_t begin = now();
      int is_there = 0;
      for (int i = 0; i < kLooks; ++i)
        MPI_Iprobe(0, kNoTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
      probing = now() - begin;
      pass(delay);
      receive_one(bytes);
      MPI_Send(&probing, 1, MPI_UINT64_T, 0, kBack, MPI_COMM_WORLD);
    }
  }
  return are_early("probed", bytes, delay, 1.5, ns);
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
  instant_ = limit_ = last_good(0, [&](uint64_t bytes) { return waits_for_nobody(bytes); });
  if (instant_ == UINT64_MAX || !waits_for_receiver(instant_ + 1)) return;
  limit_ = last_good(instant_ + 1, [&](uint64_t bytes) { return waits_for_receiver(bytes); });
}

}  // namespace refrain::replay
