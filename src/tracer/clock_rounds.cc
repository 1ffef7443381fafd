#include "tracer/clock_rounds.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

#include "real_functions.h"

#include "format/signatures/walk.h"
#include "mpi/call_ids.h"
#include "tracer/clock_trips.h"
#include "tracer/location.h"
#include "tracer/process.h"

namespace refrain::tracer {

namespace {

constexpr double kNsPerSecond = 1e9, kMaxSeconds = 1e9;
#ifndef REFRAIN_SMPI
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

// Of all members of the world, of this one alone.
bool spans_world(const Process& p, const CommInfo& c) {
  if (c.inter || c.size != p.size || c.local.size() != static_cast<uint64_t>(p.size)) return false;
  for (uint64_t i = 0; i < c.local.size(); ++i)
    if (c.local.at(i) < 0) return false;
  return true;
}
#endif

}  // namespace

uint64_t ClockRounds::interval_from_environment() {
  const char* const word = std::getenv("REFRAIN_CLOCK_INTERVAL");
  const double seconds = word != nullptr ? std::strtod(word, nullptr) : 0;
  return seconds > 0 && seconds <= kMaxSeconds ? static_cast<uint64_t>(seconds * kNsPerSecond) : 0;
}

#ifndef REFRAIN_SMPI

bool ClockRounds::may_count(mpi::CallId call) {
  switch (call) {
    case mpi::kMPI_Barrier:
    case mpi::kMPI_Allreduce:
    case mpi::kMPI_Allgather:
    case mpi::kMPI_Alltoall: return true;
    default: return false;
  }
}

// Without an error, on a communicator of all ranks, and with something to hand on, so that it ends
// nowhere before all have come.
bool ClockRounds::counts(const Process& p, uint32_t terminal, std::string_view signature) {
  if (by_terminal_.size() <= terminal) by_terminal_.resize(terminal + 1, Counts::kUnknown);
  Counts& known = by_terminal_[terminal];
  if (known != Counts::kUnknown) return known == Counts::kYes;
  known = Counts::kNo;
  const auto split = format::split_signature(signature);
  if (!split) return false;
  const auto fields = format::parse_fields(split->shape, split->values);
  if (!fields || fields->result) return false;
  const CommInfo* comm = nullptr;
  for (const format::Field& f : fields->parameters) {
    if (f.tag == format::FieldTag::kInt && f.value <= 0) return false;
    if (f.tag != format::FieldTag::kObject || f.number >= p.definitions.size()) continue;
    const auto def = static_cast<uint32_t>(f.number);
    if (p.definitions[def].kind != format::DefinitionKind::kComm || def >= p.comms.size()) continue;
    if (p.threads_anywhere &&
        def != p.handles.find(format::DefinitionKind::kComm, handle_key(MPI_COMM_WORLD)))
      return false;
    comm = __atomic_load_n(&p.comms[def], __ATOMIC_ACQUIRE);
  }
  if (comm != nullptr && spans_world(p, *comm)) known = Counts::kYes;
  return known == Counts::kYes;
}

bool ClockRounds::call_ended(Location& l, uint32_t terminal, ClockSync& sync,
                             ClockReading* reading) {
  Process& p = *l.process;
  if (!p.initialized || p.comm == MPI_COMM_NULL) return false;
  bool is_round = false;
  {
    const Process::Guard guard(p);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_over_ || l.first_terminal != p.first_terminal || terminal >= p.signatures.size())
      return false;
    if (first_terminal_ != p.first_terminal) by_terminal_.clear();
    first_terminal_ = p.first_terminal;
    if (!counts(p, terminal, p.signatures.at(terminal))) return false;
    is_round = ++count_ >= next_;
  }
  if (!is_round || round(p, sync, reading)) return is_round && reading->ticks != 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  p.lose("clocks_not_compared", "--clock-interval: not all ranks came to a round");
  return false;
}

// ---- messages: nobody waits for ever ----

bool ClockRounds::send(MPI_Comm comm, int to, const Message& message) {
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
bool ClockRounds::receive(MPI_Comm comm, int from, Kind first, Kind last, Message* message) {
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
    if (message->round > count_) return false;
    if (message->round == count_) return message->kind >= first && message->kind <= last;
  }
}

// How far the clock of `server` is ahead of ours.
bool ClockRounds::ask(MPI_Comm comm, int server, bool may_be_ours, int64_t* ahead) {
  return ask_clock(
      [&](bool is_last, int64_t* theirs) {
        Message ping, pong;
        ping.round = count_;
        ping.kind = is_last ? kLastPing : kPing;
        if (!send(comm, server, ping) || !receive(comm, server, kPong, kPong, &pong)) return false;
        *theirs = pong.value;
        return true;
      },
      may_be_ours, ahead);
}

bool ClockRounds::answer(MPI_Comm comm, int client) {
  Message ping, pong;
  do {
    if (!receive(comm, client, kPing, kLastPing, &ping)) return false;
    pong.round = count_;
    pong.kind = kPong;
    pong.value = monotonic_now();
    if (!send(comm, client, pong)) return false;
  } while (ping.kind != kLastPing);
  return true;
}

// ---- a round ----

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

// From above in the tree, and on to those below: other leaders first, which have further to go.
bool ClockRounds::take_verdict(const ClockSync& sync, Message* verdict) {
  const int in_host = sync.host() != MPI_COMM_NULL ? rank_in(sync.host()) : 0;
  if (sync.leaders() == MPI_COMM_NULL)
    return in_host > 0 && receive(sync.host(), 0, kVerdict, kVerdict, verdict);
  const int rank = rank_in(sync.leaders()), size = size_of(sync.leaders());
  int above = 1;  // the least power of two beyond our rank
  while (above <= rank) above *= 2;
  if (rank == 0)
    *verdict = decide(Clock::monotonic_ns());
  else if (!receive(sync.leaders(), rank - above / 2, kVerdict, kVerdict, verdict))
    return false;
  for (int known = above; rank + known < size; known *= 2)
    if (!send(sync.leaders(), rank + known, *verdict)) return false;
  const int members = sync.host() != MPI_COMM_NULL ? size_of(sync.host()) : 1;
  for (int member = 1; member < members; ++member)
    if (!send(sync.host(), member, *verdict)) return false;
  return true;
}

// As ClockSync::offset_along_tree().
bool ClockRounds::offset_along_tree(const ClockSync& sync, int64_t* offset) {
  const MPI_Comm leaders = sync.leaders();
  const int rank = rank_in(leaders), size = size_of(leaders);
  Message mine;
  mine.round = count_;
  mine.kind = kOffset;
  for (int known = 1; known < size; known *= 2) {
    if (rank < known && rank + known < size) {
      mine.value = *offset;
      if (!answer(leaders, rank + known) || !send(leaders, rank + known, mine)) return false;
    } else if (rank >= known && rank < 2 * known) {
      Message theirs;
      if (!ask(leaders, rank - known, sync.is_on_system_of_server(), offset) ||
          !receive(leaders, rank - known, kOffset, kOffset, &theirs))
        return false;
      *offset += theirs.value;
    }
  }
  return true;
}

bool ClockRounds::round(Process& p, const ClockSync& sync, ClockReading* reading) {
  Message verdict;
  if (!take_verdict(sync, &verdict)) return false;
  next_ = std::max(verdict.next, count_ + 1);
  if (verdict.value == 0) return true;
  Message mine;
  mine.round = count_;
  mine.kind = kOffset;
  if (sync.leaders() != MPI_COMM_NULL) {
    if (!offset_along_tree(sync, &mine.value)) return false;
    const int members = sync.host() != MPI_COMM_NULL ? size_of(sync.host()) : 1;
    for (int member = 1; member < members; ++member)
      if (!send(sync.host(), member, mine)) return false;
  } else if (!receive(sync.host(), 0, kOffset, kOffset, &mine)) {
    return false;
  }
  *reading = ClockSync::read(p, mine.value);
  return true;
}

void ClockRounds::drain(const ClockSync& sync) {
  for (const MPI_Comm comm : {sync.leaders(), sync.host()}) {
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
bool ClockRounds::may_count(mpi::CallId) { return false; }
bool ClockRounds::call_ended(Location&, uint32_t, ClockSync&, ClockReading*) { return false; }
void ClockRounds::drain(const ClockSync&) {}

#endif

}  // namespace refrain::tracer
