#include "tracer/rank_exchange.h"

#include <time.h>

#include <algorithm>

#include "real_functions.h"

#include "tracer/clock.h"
#include "tracer/memory.h"
#include "tracer/peers.h"

namespace refrain::tracer {

namespace {

#ifndef REFRAIN_SMPI

constexpr uint64_t kPollNs =
    20'000;  // before the first sleep: where cores are free, that is enough
constexpr uint64_t kMinSleepNs = 20'000, kMaxSleepNs = 2'000'000;

void sleep_ns(uint64_t ns) {
  timespec t{};
  t.tv_nsec = static_cast<long>(ns);
  nanosleep(&t, nullptr);  // a signal may end it early
}

int wait_for(MPI_Request& request) {
  const auto test = REFRAIN_REAL(PMPI_Test);
  const uint64_t begin = Clock::monotonic_ns();
  for (;;) {
    int done = 0;
    const int rc = test(&request, &done, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS || done != 0) return rc;
    const uint64_t waited = Clock::monotonic_ns() - begin;
    if (waited > kPollNs) sleep_ns(std::clamp(waited / 8, kMinSleepNs, kMaxSleepNs));
  }
}

// Starts what `start` says, and waits.
template <class Start>
bool patiently(Start start) {
  MPI_Request request = MPI_REQUEST_NULL;
  return start(&request) == MPI_SUCCESS && wait_for(request) == MPI_SUCCESS;
}

#endif

}  // namespace

#ifndef REFRAIN_SMPI

bool greatest_of_all(Process& p, uint64_t* values, int count) {
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Iallreduce)(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_MAX, p.comm,
                                         request);
  });
}

GreatestOfWorld::GreatestOfWorld(uint64_t* values, int count)
    : began_(REFRAIN_REAL(PMPI_Iallreduce)(MPI_IN_PLACE, values, count, MPI_UINT64_T, MPI_MAX,
                                           MPI_COMM_WORLD, &request_) == MPI_SUCCESS) {}

bool GreatestOfWorld::wait() { return began_ && wait_for(request_) == MPI_SUCCESS; }

// To few ranks straight from rank 0: along a tree each level waits for the one above it, asleep.
bool as_rank_0_says(Process& p, uint64_t* value) {
  constexpr int kFew = 64, kTag = 7;
  if (peers().count <= kFew && peers().mine != 0)
    return receive_patiently(p, value, sizeof *value, 0, kTag);
  if (peers().count <= kFew) {
    bool good = true;
    for (int peer = 1; peer < peers().count; ++peer)
      good = send_patiently(p, value, sizeof *value, peer, kTag) && good;
    return good;
  }
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Ibcast)(value, 1, MPI_UINT64_T, 0, p.comm, request);
  });
}

bool wait_for_all(Process& p) {
  return patiently(
      [&](MPI_Request* request) { return REFRAIN_REAL(PMPI_Ibarrier)(p.comm, request); });
}

bool send_patiently(Process& p, const void* bytes, int count, int to, int tag) {
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Isend)(bytes, count, MPI_BYTE, to, tag, p.comm, request);
  });
}

bool receive_patiently(Process& p, void* bytes, int count, int from, int tag) {
  return patiently([&](MPI_Request* request) {
    return REFRAIN_REAL(PMPI_Irecv)(bytes, count, MPI_BYTE, from, tag, p.comm, request);
  });
}

#else

bool send_patiently(Process& p, const void* bytes, int count, int to, int tag) {
  return REFRAIN_REAL(PMPI_Send)(bytes, count, MPI_BYTE, to, tag, p.comm) == MPI_SUCCESS;
}

bool receive_patiently(Process& p, void* bytes, int count, int from, int tag) {
  return REFRAIN_REAL(PMPI_Recv)(bytes, count, MPI_BYTE, from, tag, p.comm, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS;
}

#endif

namespace {

// In pieces that an int can count.
constexpr uint64_t kPiece = uint64_t{1} << 30;
// What may be there without asking.
constexpr uint64_t kSmall = 64 * 1024;

}  // namespace

bool send_bytes(Process& p, std::string_view bytes, int to, int tag) {
  const uint64_t n = bytes.size();
  if (!send_patiently(p, &n, sizeof n, to, tag)) return false;
  for (uint64_t at = 0; at < n; at += kPiece) {
    const auto piece = static_cast<int>(n - at < kPiece ? n - at : kPiece);
    if (!send_patiently(p, bytes.data() + at, piece, to, tag)) return false;
  }
  return true;
}

bool receive_bytes(Process& p, std::string& bytes, int from, int tag) {
  uint64_t n = 0;
  if (!receive_patiently(p, &n, sizeof n, from, tag)) return false;
  const bool room = memory_for(8 * n + kSmall);
  if (room) bytes.resize(n);
  for (uint64_t at = 0; at < n; at += kPiece) {
    const auto piece = static_cast<int>(n - at < kPiece ? n - at : kPiece);
    char nowhere = 0;
    const bool came =
        receive_patiently(p, room ? bytes.data() + at : &nowhere, room ? piece : 1, from, tag);
    if (room && !came) return false;
  }
  return room;
}

}  // namespace refrain::tracer
