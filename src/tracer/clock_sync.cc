#include "tracer/clock_sync.h"

#include "real_functions.h"

#include "tracer/clock_trips.h"
#include "tracer/process.h"

namespace refrain::tracer {

namespace {

#ifndef REFRAIN_SMPI

constexpr int kTag = 1;

int64_t ask(MPI_Comm comm, int server) {
  int64_t ahead = 0;
  ask_clock(
      [&](bool is_last, int64_t* theirs) {
        const char more = is_last ? 0 : 1;
        return REFRAIN_REAL(PMPI_Send)(&more, 1, MPI_CHAR, server, kTag, comm) == MPI_SUCCESS &&
               REFRAIN_REAL(PMPI_Recv)(theirs, 1, MPI_INT64_T, server, kTag, comm,
                                       MPI_STATUS_IGNORE) == MPI_SUCCESS;
      },
      &ahead);
  return ahead;
}

void answer(MPI_Comm comm, int client) {
  const auto send = REFRAIN_REAL(PMPI_Send);
  const auto receive = REFRAIN_REAL(PMPI_Recv);
  for (char more = 1; more != 0;) {
    if (receive(&more, 1, MPI_CHAR, client, kTag, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
    const int64_t mine = monotonic_now();
    if (send(&mine, 1, MPI_INT64_T, client, kTag, comm) != MPI_SUCCESS) return;
  }
}

#endif

}  // namespace

#ifndef REFRAIN_SMPI

void ClockSync::start(Process& p) {
  if (REFRAIN_REAL(PMPI_Comm_split_type)(p.comm, MPI_COMM_TYPE_SHARED, p.rank, MPI_INFO_NULL,
                                         &host_) != MPI_SUCCESS) {
    host_ = MPI_COMM_NULL;
  }
  int rank = 0;
  if (host_ != MPI_COMM_NULL) REFRAIN_REAL(PMPI_Comm_rank)(host_, &rank);
  if (REFRAIN_REAL(PMPI_Comm_split)(p.comm, rank == 0 ? 0 : MPI_UNDEFINED, p.rank, &leaders_) !=
      MPI_SUCCESS)
    leaders_ = MPI_COMM_NULL;
}

// In round k the first 2^k leaders, who know how far ahead rank 0 is, answer the next 2^k.
int64_t ClockSync::offset_along_tree() const {
  int rank = 0, size = 1;
  REFRAIN_REAL(PMPI_Comm_rank)(leaders_, &rank);
  REFRAIN_REAL(PMPI_Comm_size)(leaders_, &size);
  int64_t offset = 0;
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) {
      answer(leaders_, rank + known);
      REFRAIN_REAL(PMPI_Send)(&offset, 1, MPI_INT64_T, rank + known, kTag, leaders_);
    } else if (rank >= known && rank < 2 * known) {
      int64_t of_server = 0;
      offset = ask(leaders_, rank - known);
      REFRAIN_REAL(PMPI_Recv)
      (&of_server, 1, MPI_INT64_T, rank - known, kTag, leaders_, MPI_STATUS_IGNORE);
      offset += of_server;
    }
  }
  return offset;
}

ClockReading ClockSync::measure(Process& p) {
  int64_t offset = 0;
  if (leaders_ != MPI_COMM_NULL) offset = offset_along_tree();
  if (host_ != MPI_COMM_NULL) REFRAIN_REAL(PMPI_Bcast)(&offset, 1, MPI_INT64_T, 0, host_);
  return read(p, offset);
}

// The moment of the two is one, unless we were interrupted between them.
ClockReading ClockSync::read(const Process& p, int64_t offset) {
  constexpr int kTries = 5;
  ClockReading best;
  int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const int64_t before = monotonic_now();
    const uint64_t ticks = p.clock.ticks();
    const int64_t took = monotonic_now() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {ticks, before + took / 2 + offset};
  }
  return best;
}

void ClockSync::stop() {
  if (host_ != MPI_COMM_NULL) REFRAIN_REAL(PMPI_Comm_free)(&host_);
  if (leaders_ != MPI_COMM_NULL) REFRAIN_REAL(PMPI_Comm_free)(&leaders_);
}

#else

void ClockSync::start(Process&) {}

ClockReading ClockSync::measure(Process& p) {
  const uint64_t ticks = p.clock.ticks();
  return {ticks, static_cast<int64_t>(ticks)};
}

void ClockSync::stop() {}

#endif

}  // namespace refrain::tracer
