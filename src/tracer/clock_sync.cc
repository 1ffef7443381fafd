#include "tracer/clock_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "real_functions.h"

#include "tracer/clock_trips.h"
#include "tracer/process.h"

namespace refrain::tracer {

namespace {

#ifndef REFRAIN_SMPI

constexpr int kTag = 1;

uint64_t add_to_hash(uint64_t hash, std::string_view text) {
  constexpr uint64_t kPrime = 0x100000001b3u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

// The system that runs, since it was started, and the processes whose clock it shifts alike; 0: it
// does not say.
uint64_t system_id() {
  constexpr uint64_t kFirst = 0xcbf29ce484222325u;
  char text[128];
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read(file, text, sizeof text);
  close(file);
  if (got <= 0) return 0;
  const uint64_t hash = add_to_hash(kFirst, {text, static_cast<size_t>(got)});
  const ssize_t space = readlink("/proc/self/ns/time", text, sizeof text);  // not on older ones
  return space <= 0 ? hash : add_to_hash(hash, {text, static_cast<size_t>(space)});
}

int64_t ask(MPI_Comm comm, int server, bool may_be_ours) {
  int64_t ahead = 0;
  ask_clock(
      [&](bool is_last, int64_t* theirs) {
        const char more = is_last ? 0 : 1;
        return REFRAIN_REAL(PMPI_Send)(&more, 1, MPI_CHAR, server, kTag, comm) == MPI_SUCCESS &&
               REFRAIN_REAL(PMPI_Recv)(theirs, 1, MPI_INT64_T, server, kTag, comm,
                                       MPI_STATUS_IGNORE) == MPI_SUCCESS;
      },
      may_be_ours, &ahead);
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
  if (leaders_ != MPI_COMM_NULL) compare_systems();
}

// Along the same tree as the offsets.
void ClockSync::compare_systems() {
  int rank = 0, size = 1;
  REFRAIN_REAL(PMPI_Comm_rank)(leaders_, &rank);
  REFRAIN_REAL(PMPI_Comm_size)(leaders_, &size);
  if (size == 1) return;
  const uint64_t mine = system_id();
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) {
      REFRAIN_REAL(PMPI_Send)(&mine, 1, MPI_UINT64_T, rank + known, kTag, leaders_);
    } else if (rank >= known && rank < 2 * known) {
      uint64_t theirs = 0;
      is_on_system_of_server_ =
          REFRAIN_REAL(PMPI_Recv)(&theirs, 1, MPI_UINT64_T, rank - known, kTag, leaders_,
                                  MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          theirs == mine && mine != 0;
    }
  }
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
      offset = ask(leaders_, rank - known, is_on_system_of_server_);
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
