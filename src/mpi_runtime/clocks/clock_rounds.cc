#include "mpi_runtime/clocks/clock_rounds.h"

#include <mpi.h>
#include <sched.h>

#include <algorithm>

#include "real_functions.h"

#include "mpi_runtime/clocks/clock_comms.h"
#include "mpi_runtime/clocks/clock_trips.h"

namespace refrain::mpi_runtime {

bool ClockRounds::is_over() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_over_;
}

#ifndef REFRAIN_SMPI

namespace {

constexpr int kTag = 2;
constexpr uint64_t kPatienceNs = 2'000'000'000, kPollNs = 20'000;
constexpr uint64_t kRoundsPerInterval = 8;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  REFRAIN_REAL(PMPI_Comm_rank)(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  REFRAIN_REAL(PMPI_Comm_size)(comm, &size);
  return size;
}

// Who shares a core with those that it waits for must let them run.
bool wait_for(MPI_Request* request, MPI_Status* status) {
  const uint64_t begin = Clock::monotonic_ns();
  for (;;) {
    int done = 0;
    if (REFRAIN_REAL(PMPI_Test)(request, &done, status) != MPI_SUCCESS) return false;
    if (done != 0) return true;
    const uint64_t waited = Clock::monotonic_ns() - begin;
    if (waited > kPatienceNs) return false;
    if (waited > kPollNs) sched_yield();
  }
}

}  // namespace

// One round, on this rank.
class ClockRound {
 public:
  using Message = ClockRounds::Message;

  ClockRound(ClockRounds& rounds, const ClockComms& comms)
      : rounds_(rounds), comms_(comms), number_(rounds.count_) {}

  // Whether all came. `reading` is left alone where rank 0 does not want the clocks measured.
  bool run(const Clock& clock, ClockReading* reading);

 private:
  bool take_verdict(Message* verdict);
  bool offset_along_tree(int64_t* offset);
  bool ask(MPI_Comm comm, int server, bool may_be_ours, int64_t* ahead);
  bool answer(MPI_Comm comm, int client);
  static bool send(MPI_Comm comm, int to, const Message& message);
  bool receive(MPI_Comm comm, int from, ClockRounds::Kind first, ClockRounds::Kind last,
               Message* message);

  ClockRounds& rounds_;
  const ClockComms& comms_;
  const uint64_t number_;
};

ClockRounds::Outcome ClockRounds::call_counted(const Clock& clock, const ClockSync& sync,
                                               ClockReading* reading) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_over_ || ++count_ < next_ || sync.comms() == nullptr) return Outcome::kNothing;
  }
  if (ClockRound(*this, *sync.comms()).run(clock, reading))
    return reading->ticks != 0 ? Outcome::kMeasured : Outcome::kNothing;
  const std::lock_guard<std::mutex> lock(mutex_);
  is_over_ = true;
  return Outcome::kNotAllCame;
}

// Rounds become at most twice as rare at once: the program may call less often from now on.
ClockRounds::Message ClockRounds::decide(uint64_t now_ns) {
  if (measured_ns_ == 0) measured_ns_ = round_ns_ = now_ns;  // MPI_Init has measured
  const uint64_t calls = count_ - round_count_, took_ns = std::max<uint64_t>(now_ns - round_ns_, 1);
  const double wanted = static_cast<double>(calls) *
                        static_cast<double>(interval_ns_ / kRoundsPerInterval) /
                        static_cast<double>(took_ns);
  const uint64_t step =
      wanted >= static_cast<double>(2 * calls) ? 2 * calls : static_cast<uint64_t>(wanted);
  Message verdict;
  verdict.round = count_;
  verdict.kind = kVerdict;
  verdict.next = count_ + std::max<uint64_t>(step, 1);
  verdict.value = now_ns - measured_ns_ >= interval_ns_ ? 1 : 0;
  round_count_ = count_;
  round_ns_ = now_ns;
  if (verdict.value != 0) measured_ns_ = now_ns;
  return verdict;
}

// ---- messages: nobody waits for ever ----

bool ClockRound::send(MPI_Comm comm, int to, const Message& message) {
  constexpr int kBytes = sizeof(Message);
  // Whoever does not take it leaves it to us for good.
  auto* const bytes = new Message(message);
  MPI_Request request = MPI_REQUEST_NULL;
  if (REFRAIN_REAL(PMPI_Isend)(bytes, kBytes, MPI_BYTE, to, kTag, comm, &request) != MPI_SUCCESS ||
      !wait_for(&request, MPI_STATUS_IGNORE))
    return false;
  delete bytes;
  return true;
}

// One of these kinds and of this round. Those of earlier rounds are from ranks that counted less.
bool ClockRound::receive(MPI_Comm comm, int from, ClockRounds::Kind first, ClockRounds::Kind last,
                         Message* message) {
  for (;;) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    if (REFRAIN_REAL(PMPI_Irecv)(message, sizeof *message, MPI_BYTE, from, kTag, comm, &request) !=
        MPI_SUCCESS)
      return false;
    if (!wait_for(&request, &status)) {
      if (request == MPI_REQUEST_NULL) return false;
      REFRAIN_REAL(PMPI_Cancel)(&request);
      REFRAIN_REAL(PMPI_Wait)(&request, &status);
      return false;
    }
    if (message->round > number_) return false;
    if (message->round == number_) return message->kind >= first && message->kind <= last;
  }
}

// How far the clock of `server` is ahead of ours.
bool ClockRound::ask(MPI_Comm comm, int server, bool may_be_ours, int64_t* ahead) {
  return ask_clock(
      [&](bool is_last, int64_t* theirs) {
        Message ping, pong;
        ping.round = number_;
        ping.kind = is_last ? ClockRounds::kLastPing : ClockRounds::kPing;
        if (!send(comm, server, ping) ||
            !receive(comm, server, ClockRounds::kPong, ClockRounds::kPong, &pong))
          return false;
        *theirs = pong.value;
        return true;
      },
      may_be_ours, ahead);
}

bool ClockRound::answer(MPI_Comm comm, int client) {
  Message ping, pong;
  do {
    if (!receive(comm, client, ClockRounds::kPing, ClockRounds::kLastPing, &ping)) return false;
    pong.round = number_;
    pong.kind = ClockRounds::kPong;
    pong.value = monotonic_now();
    if (!send(comm, client, pong)) return false;
  } while (ping.kind != ClockRounds::kLastPing);
  return true;
}

// From above in the tree, and on to those below: other leaders first, which have further to go.
bool ClockRound::take_verdict(Message* verdict) {
  const int in_host = comms_.host != MPI_COMM_NULL ? rank_in(comms_.host) : 0;
  if (comms_.leaders == MPI_COMM_NULL)
    return in_host > 0 &&
           receive(comms_.host, 0, ClockRounds::kVerdict, ClockRounds::kVerdict, verdict);
  const int rank = rank_in(comms_.leaders), size = size_of(comms_.leaders);
  int above = 1;  // the least power of two beyond our rank
  while (above <= rank) above *= 2;
  if (rank == 0)
    *verdict = rounds_.decide(Clock::monotonic_ns());
  else if (!receive(comms_.leaders, rank - above / 2, ClockRounds::kVerdict, ClockRounds::kVerdict,
                    verdict))
    return false;
  for (int known = above; rank + known < size; known *= 2)
    if (!send(comms_.leaders, rank + known, *verdict)) return false;
  const int members = comms_.host != MPI_COMM_NULL ? size_of(comms_.host) : 1;
  for (int member = 1; member < members; ++member)
    if (!send(comms_.host, member, *verdict)) return false;
  return true;
}

// As offset_along_tree() of clock_sync.cc.
bool ClockRound::offset_along_tree(int64_t* offset) {
  const MPI_Comm leaders = comms_.leaders;
  const int rank = rank_in(leaders), size = size_of(leaders);
  Message mine;
  mine.round = number_;
  mine.kind = ClockRounds::kOffset;
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) {
      mine.value = *offset;
      if (!answer(leaders, rank + known) || !send(leaders, rank + known, mine)) return false;
    } else if (rank >= known && rank < 2 * known) {
      Message theirs;
      if (!ask(leaders, rank - known, comms_.is_on_system_of_server, offset) ||
          !receive(leaders, rank - known, ClockRounds::kOffset, ClockRounds::kOffset, &theirs))
        return false;
      *offset += theirs.value;
    }
  }
  return true;
}

bool ClockRound::run(const Clock& clock, ClockReading* reading) {
  Message verdict;
  if (!take_verdict(&verdict)) return false;
  rounds_.next_ = std::max(verdict.next, number_ + 1);
  if (verdict.value == 0) return true;
  Message mine;
  mine.round = number_;
  mine.kind = ClockRounds::kOffset;
  if (comms_.leaders != MPI_COMM_NULL) {
    if (!offset_along_tree(&mine.value)) return false;
    const int members = comms_.host != MPI_COMM_NULL ? size_of(comms_.host) : 1;
    for (int member = 1; member < members; ++member)
      if (!send(comms_.host, member, mine)) return false;
  } else if (!receive(comms_.host, 0, ClockRounds::kOffset, ClockRounds::kOffset, &mine)) {
    return false;
  }
  *reading = ClockSync::read(clock, mine.value);
  return true;
}

void ClockRounds::drain(const ClockSync& sync) {
  if (sync.comms() == nullptr) return;
  for (const MPI_Comm comm : {sync.comms()->leaders, sync.comms()->host}) {
    if (comm == MPI_COMM_NULL) continue;
    for (;;) {
      int there = 0;
      MPI_Status status;
      Message message;
      if (REFRAIN_REAL(PMPI_Iprobe)(MPI_ANY_SOURCE, kTag, comm, &there, &status) != MPI_SUCCESS ||
          there == 0 ||
          REFRAIN_REAL(PMPI_Recv)(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, kTag, comm,
                                  MPI_STATUS_IGNORE) != MPI_SUCCESS)
        break;
    }
  }
}

#else

// One clock, that of the simulation.
ClockRounds::Outcome ClockRounds::call_counted(const Clock&, const ClockSync&, ClockReading*) {
  return Outcome::kNothing;
}
void ClockRounds::drain(const ClockSync&) {}

#endif

}  // namespace refrain::mpi_runtime
