// Location: the record of a thread of a rank: its calls so far, and the state for appending another
// call. RecordedThread adds the state for making signatures; every location is one.
//
// current_location() in current.h is the only access.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "grammar/builder.h"
#include "mpi/call_table.h"
#include "tracer/code/addresses.h"
#include "tracer/state/call_memo.h"
#include "tracer/state/current.h"
#include "tracer/state/own_time.h"
#include "tracer/state/spool_log.h"

namespace refrain::tracer {

class GapLog;
class Process;
class TimeLog;
struct LogThread;
struct RequestLane;

struct Location {
  Location(Process& process, uint32_t thread);

  Process* process = nullptr;
  uint32_t thread = 0;
  int depth = 0;              // MPI calls under way on this thread
  mpi::CallId open_call = 0;  // the innermost recorded one of them, if there are any
  uintptr_t open_frame = 0;   // stack frame of the outermost one
  uintptr_t open_return = 0;  // the return address that stands in it
  bool in_recorder = false;   // the recorder itself is calling MPI
  grammar::Builder grammar;
  SpoolLog spool;
  StackBounds stack;
  uint64_t in_mpi_ticks = 0;  // outermost calls only
  uint64_t first_begin_ticks = 0, last_end_ticks = 0;
  uint64_t outside_ticks() const {
    if (first_begin_ticks == 0) return 0;  // the run has begun, and none of its calls has ended
    const uint64_t span = last_end_ticks - first_begin_ticks;
    return span > in_mpi_ticks ? span - in_mpi_ticks : 0;
  }
  // The run begins with the call under way, MPI_Init or the first session. Calls before it, as
  // constructors of libraries make them, are recorded, but the time between them is no part of it.
  void begin_run(uint64_t begin_ticks);
  OwnTime own_time;
  // The recorder's work behind the last call goes on until now.
  void note_own_work(uint64_t now_ticks);
  uint64_t refused_calls = 0;  // calls that the grammar had no memory for
  // What grammar, memos and log count terminals from, and the tables that they belong to:
  // table_epochs.h.
  uint32_t first_terminal = 0, tables = 0;

  TimeLog* times = nullptr;  // null: no times of single calls; never freed
  GapLog* gaps = nullptr;    // null: no gaps; never freed

  LogThread* log = nullptr;  // null: no messages are logged yet; never freed
  int recorded_depth = 0;    // the depth of the innermost call inside of others that is recorded

  RequestLane* requests = nullptr;  // this thread's; never null
  CallMemos memos;
  // By terminal: the pool of the request that its calls make.
  std::vector<uint32_t> pool_of_terminal;
};

// Calls of the location so far.
inline uint64_t calls_of(const Location& l) { return l.spool.calls_before + l.grammar.length(); }

// No times of its calls are kept from now on; see time_log.h.
void drop_times(Location& location);
// The time before each of its calls is kept; see gap_log.h.
void keep_gaps(Location& location);
// MPI_THREAD_MULTIPLE was granted: see Tables::begin_threads().
void begin_threads(Location& location);
// The thread of this location ends; it may call again all the same, in a destructor of its own.
void end_thread(Location& location);
// One more of the calling rank: numbers it, and makes it known. `make`: new, of this process.
Location* add_location(Location* (*make)(Process& process, uint32_t thread));

}  // namespace refrain::tracer
