#include "tracer/together.h"

#include <time.h>

#include <algorithm>

#include "real_functions.h"

#include "tracer/clock.h"

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

bool as_rank_0_says(Process& p, uint64_t* value) {
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

}  // namespace refrain::tracer
