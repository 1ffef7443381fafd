#include "blackboard/mpi/rings.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

namespace refrain::blackboard {
namespace {

// Memory of a rank for all rings that it reads, at most and at least for one.
constexpr size_t kMostRings = size_t{16} << 20, kMostRing = size_t{256} << 10,
                 kLeastRing = size_t{4} << 10;
constexpr MPI_Aint kWord = 8;

}  // namespace

MPI_Aint Rings::place_of_tail(int rank) const { return kWord * (1 + rank); }
MPI_Aint Rings::place_of_head(int rank) const { return kWord * (1 + size_ + rank); }
MPI_Aint Rings::place_of_ring(int rank) const {
  return kWord * (1 + 2 * size_) + static_cast<MPI_Aint>(ring_bytes_) * rank;
}

bool Rings::open(MPI_Comm comm) {
  if (PMPI_Comm_dup(comm, &comm_) != MPI_SUCCESS) return false;
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &size_);
  const size_t ranks = static_cast<size_t>(size_);
  ring_bytes_ = std::clamp(kMostRings / ranks / kWord * kWord, kLeastRing, kMostRing);
  written_.resize(ranks);
  taken_by_others_.resize(ranks);
  come_.resize(ranks);
  read_.resize(ranks);
  int is_good = open_window() ? 1 : 0, is_all = 0;
  const int error = PMPI_Allreduce(&is_good, &is_all, 1, MPI_INT, MPI_MIN, comm_);
  return error == MPI_SUCCESS && is_all != 0;
}

bool Rings::open_window() {
  const MPI_Aint bytes = place_of_ring(size_);
  if (PMPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm_, &memory_, &window_) != MPI_SUCCESS) {
    window_ = MPI_WIN_NULL;
    return false;
  }
  PMPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  if (PMPI_Win_lock_all(MPI_MODE_NOCHECK, window_) != MPI_SUCCESS) return false;
  std::memset(memory_, 0, static_cast<size_t>(place_of_ring(0)));
  return PMPI_Win_sync(window_) == MPI_SUCCESS && PMPI_Barrier(comm_) == MPI_SUCCESS;
}

void Rings::close() {
  if (sum_ != MPI_REQUEST_NULL) PMPI_Wait(&sum_, MPI_STATUS_IGNORE);
  if (window_ != MPI_WIN_NULL) {
    PMPI_Win_unlock_all(window_);
    PMPI_Win_free(&window_);
  }
  if (comm_ != MPI_COMM_NULL) PMPI_Comm_free(&comm_);
}

// A counter in the own window.
bool Rings::look(MPI_Aint place, uint64_t* value) {
  const uint64_t none = 0;
  return PMPI_Fetch_and_op(&none, value, MPI_UINT64_T, rank_, place, MPI_NO_OP, window_) ==
             MPI_SUCCESS &&
         PMPI_Win_flush(rank_, window_) == MPI_SUCCESS;
}

bool Rings::tell(int rank, MPI_Aint place, uint64_t value, MPI_Op op) {
  return PMPI_Accumulate(&value, 1, MPI_UINT64_T, rank, place, 1, MPI_UINT64_T, op, window_) ==
             MPI_SUCCESS &&
         PMPI_Win_flush(rank, window_) == MPI_SUCCESS;
}

bool Rings::put(int to, uint64_t at, const char* data, size_t bytes) {
  const int count = static_cast<int>(bytes);
  const MPI_Aint place = place_of_ring(rank_) + static_cast<MPI_Aint>(at % ring_bytes_);
  return PMPI_Put(data, count, MPI_BYTE, to, place, count, MPI_BYTE, window_) == MPI_SUCCESS;
}

int64_t Rings::write(int to, const char* data, size_t bytes) {
  const size_t t = static_cast<size_t>(to);
  const auto room = [&] { return ring_bytes_ - (written_[t] - taken_by_others_[t]); };
  if (room() < bytes && !look(place_of_head(to), &taken_by_others_[t])) return -1;
  const size_t now = std::min<size_t>(bytes, room());
  if (now == 0) return 0;
  const size_t first = std::min<size_t>(now, ring_bytes_ - written_[t] % ring_bytes_);
  if (!put(to, written_[t], data, first)) return -1;
  if (now > first && !put(to, written_[t] + first, data + first, now - first)) return -1;
  if (PMPI_Win_flush(to, window_) != MPI_SUCCESS) return -1;
  written_[t] += now;
  if (!tell(to, place_of_tail(rank_), written_[t], MPI_REPLACE) || !tell(to, 0, 1, MPI_SUM))
    return -1;
  return static_cast<int64_t>(now);
}

bool Rings::has_news() {
  uint64_t bell = 0;
  if (!look(0, &bell) || bell == bell_) return false;
  bell_ = bell;
  for (int rank = 0; rank < size_; ++rank)
    if (!look(place_of_tail(rank), &come_[static_cast<size_t>(rank)])) return false;
  PMPI_Win_sync(window_);
  return true;
}

int64_t Rings::read(int from, char* data, size_t capacity) {
  const size_t f = static_cast<size_t>(from);
  const size_t now = std::min<size_t>(capacity, come_[f] - read_[f]);
  if (now == 0) return 0;
  const char* const ring = memory_ + place_of_ring(from);
  const size_t at = read_[f] % ring_bytes_, first = std::min(now, ring_bytes_ - at);
  std::memcpy(data, ring + at, first);
  std::memcpy(data + first, ring, now - first);
  read_[f] += now;
  // The writer need not know at once: when nothing is left, or half of the ring is free.
  if (read_[f] != come_[f] && read_[f] / (ring_bytes_ / 2) == (read_[f] - now) / (ring_bytes_ / 2))
    return static_cast<int64_t>(now);
  return tell(from, place_of_head(rank_), read_[f], MPI_REPLACE) ? static_cast<int64_t>(now) : -1;
}

bool Rings::begin_sum(const Sums& own) {
  own_ = own;
  return PMPI_Iallreduce(own_.data(), totals_.data(), static_cast<int>(own_.size()), MPI_INT64_T,
                         MPI_SUM, comm_, &sum_) == MPI_SUCCESS;
}

int Rings::test_sum(Sums* totals) {
  int done = 0;
  if (PMPI_Test(&sum_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return -1;
  if (done != 0) *totals = totals_;
  return done;
}

void Rings::pause(int round) {
  constexpr int kSpins = 8, kYields = 256;
  constexpr long kMost_ns = 1'000'000, kStep_ns = 10'000;
  if (round < kSpins) return;
  if (round < kYields) {
    sched_yield();
    return;
  }
  const timespec time{0, std::min(kMost_ns, kStep_ns * (round - kYields + 1))};
  nanosleep(&time, nullptr);
}

}  // namespace refrain::blackboard
