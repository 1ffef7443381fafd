#include "mpi_runtime/clocks/clock_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <string_view>
#include <utility>

#include "real_functions.h"

#include "mpi_runtime/clocks/clock_comms.h"
#include "mpi_runtime/clocks/clock_trips.h"
#include "mpi_runtime/patience.h"
#include "mpi_runtime/rank_comm.h"
#include "mpi_runtime/rank_exchange.h"

namespace refrain::mpi_runtime {

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

bool share_a_system(const RankComm& all, uint64_t mine) {
  uint64_t greatest_and_least[] = {mine, ~mine};
  return greatest_of_all(all, greatest_and_least, 2) && greatest_and_least[0] != 0 &&
         greatest_and_least[0] == ~greatest_and_least[1];
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

// Along the same tree as the offsets.
void compare_systems(ClockComms& comms, uint64_t mine) {
  const MPI_Comm leaders = comms.leaders;
  int rank = 0, size = 1;
  REFRAIN_REAL(PMPI_Comm_rank)(leaders, &rank);
  REFRAIN_REAL(PMPI_Comm_size)(leaders, &size);
  if (size == 1) return;
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) {
      REFRAIN_REAL(PMPI_Send)(&mine, 1, MPI_UINT64_T, rank + known, kTag, leaders);
    } else if (rank >= known && rank < 2 * known) {
      uint64_t theirs = 0;
      comms.is_on_system_of_server =
          REFRAIN_REAL(PMPI_Recv)(&theirs, 1, MPI_UINT64_T, rank - known, kTag, leaders,
                                  MPI_STATUS_IGNORE) == MPI_SUCCESS &&
          theirs == mine && mine != 0;
    }
  }
}

// In round k the first 2^k leaders, who know how far ahead rank 0 is, answer the next 2^k.
int64_t offset_along_tree(const ClockComms& comms) {
  const MPI_Comm leaders = comms.leaders;
  int rank = 0, size = 1;
  REFRAIN_REAL(PMPI_Comm_rank)(leaders, &rank);
  REFRAIN_REAL(PMPI_Comm_size)(leaders, &size);
  int64_t offset = 0;
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) {
      answer(leaders, rank + known);
      REFRAIN_REAL(PMPI_Send)(&offset, 1, MPI_INT64_T, rank + known, kTag, leaders);
    } else if (rank >= known && rank < 2 * known) {
      int64_t of_server = 0;
      offset = ask(leaders, rank - known, comms.is_on_system_of_server);
      REFRAIN_REAL(PMPI_Recv)
      (&of_server, 1, MPI_INT64_T, rank - known, kTag, leaders, MPI_STATUS_IGNORE);
      offset += of_server;
    }
  }
  return offset;
}

#endif

}  // namespace

#ifndef REFRAIN_SMPI

void ClockSync::start(const RankComm& all, int rank, bool has_rounds) {
  comms_ = new ClockComms;
  const uint64_t system = system_id();
  comms_->is_one_clock = share_a_system(all, system);
  if (comms_->is_one_clock) {
    if (has_rounds && !dup_patiently(all.comm, &comms_->host)) comms_->host = MPI_COMM_NULL;
    if (has_rounds && rank_in(all) == 0)
      REFRAIN_REAL(PMPI_Comm_dup)(MPI_COMM_SELF, &comms_->leaders);
    return;
  }
  if (REFRAIN_REAL(PMPI_Comm_split_type)(all.comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL,
                                         &comms_->host) != MPI_SUCCESS)
    comms_->host = MPI_COMM_NULL;
  int in_host = 0;
  if (comms_->host != MPI_COMM_NULL) REFRAIN_REAL(PMPI_Comm_rank)(comms_->host, &in_host);
  if (REFRAIN_REAL(PMPI_Comm_split)(all.comm, in_host == 0 ? 0 : MPI_UNDEFINED, rank,
                                    &comms_->leaders) != MPI_SUCCESS)
    comms_->leaders = MPI_COMM_NULL;
  if (comms_->leaders != MPI_COMM_NULL) compare_systems(*comms_, system);
}

ClockReading ClockSync::measure(const Clock& clock) {
  int64_t offset = 0;
  if (comms_ != nullptr && comms_->is_one_clock) return read(clock, offset);
  if (comms_ != nullptr && comms_->leaders != MPI_COMM_NULL) offset = offset_along_tree(*comms_);
  if (comms_ != nullptr && comms_->host != MPI_COMM_NULL)
    REFRAIN_REAL(PMPI_Bcast)(&offset, 1, MPI_INT64_T, 0, comms_->host);
  return read(clock, offset);
}

// The moment of the two is one, unless we were interrupted between them.
ClockReading ClockSync::read(const Clock& clock, int64_t offset) {
  constexpr int kTries = 5;
  ClockReading best;
  int64_t shortest = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const int64_t before = monotonic_now();
    const uint64_t ticks = clock.ticks();
    const int64_t took = monotonic_now() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {ticks, before + took / 2 + offset};
  }
  return best;
}

void ClockSync::stop() {
  if (comms_ == nullptr) return;
  if (comms_->host != MPI_COMM_NULL) REFRAIN_REAL(PMPI_Comm_free)(&comms_->host);
  if (comms_->leaders != MPI_COMM_NULL) REFRAIN_REAL(PMPI_Comm_free)(&comms_->leaders);
  delete std::exchange(comms_, nullptr);
}

#else

void ClockSync::start(const RankComm&, int, bool) {}

ClockReading ClockSync::measure(const Clock& clock) {
  const uint64_t ticks = clock.ticks();
  return {ticks, static_cast<int64_t>(ticks)};
}

void ClockSync::stop() {}

#endif

}  // namespace refrain::mpi_runtime
