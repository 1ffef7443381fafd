// ClockRounds: the clocks of the ranks compared while the program runs, for `record
// --clock-interval`: clocks that run unevenly are set right in between as well.
//
//   a collective call ends that all ranks of the world were in, and that none of them can have left
//   before all had come: MPI_Barrier, and MPI_Allreduce, MPI_Allgather, MPI_Alltoall of something
//      count 1 ... --the round's number--> rank 0 says along the tree: measure or not, and after
//                                          which of these calls the next round is
//
// Such calls come in the same order on all ranks: a rank cannot leave one before the others have
// come to it. So all ranks count alike, and who has decided tells the others when to listen next.
// Rounds are asked for about kRoundsPerInterval times in an interval.
//
// Laws: own communicators only (those of ClockSync), with a tag of its own; who has come to a round
// is inside of a call that all others have come to. All the same nobody waits for ever: where a
// rank does not come within kPatienceNs (it counts differently, because its recording was paused or
// has ended), whoever waited takes part in no further round, and MPI_Finalize measures as ever.
// With MPI_THREAD_MULTIPLE calls on MPI_COMM_WORLD count alone, of which there is one at a time.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "mpi/call_table.h"
#include "tracer/clock_sync.h"

namespace refrain::tracer {

struct Location;
class Process;

class ClockRounds {
 public:
  // From REFRAIN_CLOCK_INTERVAL, in seconds.
  static uint64_t interval_from_environment();

  explicit ClockRounds(uint64_t interval_ns) : interval_ns_(interval_ns) {}

  bool is_on() const { return interval_ns_ > 0; }
  uint64_t interval_ns() const { return interval_ns_; }
  static bool may_count(mpi::CallId call);
  // Behind a call that may count, of this signature. Whether the clock was measured.
  bool call_ended(Location& location, uint32_t terminal, ClockSync& sync, ClockReading* reading);
  // Messages that nobody waited for; before the communicators go.
  static void drain(const ClockSync& sync);

 private:
  struct Message {
    uint64_t round = 0, next = 0;
    int64_t value = 0;
    uint64_t kind = 0;
  };
  enum Kind : uint64_t { kVerdict = 1, kPing = 2, kLastPing = 3, kPong = 4, kOffset = 5 };

  bool counts(const Process& process, uint32_t terminal, std::string_view signature);
  bool round(Process& process, const ClockSync& sync, ClockReading* reading);
  Message decide(uint64_t now_ns);
  bool take_verdict(const ClockSync& sync, Message* verdict);
  bool offset_along_tree(const ClockSync& sync, int64_t* offset);
  bool ask(MPI_Comm comm, int server, bool may_be_ours, int64_t* ahead);
  bool answer(MPI_Comm comm, int client);
  static bool send(MPI_Comm comm, int to, const Message& message);
  bool receive(MPI_Comm comm, int from, Kind first, Kind last, Message* message);

  const uint64_t interval_ns_;
  std::mutex mutex_;
  bool is_over_ = false;  // no further rounds
  uint64_t count_ = 0, next_ = 1;
  // Rank 0: the last round, and the last one that measured.
  uint64_t round_count_ = 0, round_ns_ = 0, measured_ns_ = 0;
  enum class Counts : uint8_t { kUnknown, kNo, kYes };
  uint32_t first_terminal_ = 0;  // of the tables that the terminals belong to: see table_epochs.h
  std::vector<Counts> by_terminal_;
};

}  // namespace refrain::tracer
