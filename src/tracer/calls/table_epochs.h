// --memory: limits the memory of recording; what does not fit goes to the spool in parts.
//
//   signatures of the process   0 ........ 40000 | 40001 ..... 81000 | 81001 .....
//   in the spool                all of them, always: it is how a job that dies keeps them
//   in memory                                                         these: the tables
//   each location               grammar, memos, log: count from the first signature of its tables
//
// When the tables reach their limit they are emptied. The location that reached it finishes its
// part (grammar and statistics go to the spool) and counts from there. Every other location does
// the same at its next call without a memo; until then it needs no table. A signature that occurs
// again later gets a new number; MPI_Finalize unites equal signatures.
//
// Bounded are signatures, what is known of their durations, memos, grammars, the names of pools of
// requests, and the mapped part of the spool; it ends at half of the bound, so that there is room
// to finish a part. What exists for the program's own living objects, and definitions, stay.
//
// Laws: the lock is held, and whoever reads these tables holds it as well: under --memory every
// call that has to be encoded takes it once more (MPI_THREAD_MULTIPLE only). A call that repeats
// needs none of the tables and takes no lock, as ever. Names of pools stay as long as a request of
// any thread needs them, so all lanes hold still when tables begin anew. Numbers of requests and in
// signatures are those of all the process' signatures, and outlive the tables. Without a bound
// nothing here is called but make_room(), before a table grows by more than 64 KiB.
#pragma once

#include <cstddef>
#include <cstdint>

namespace refrain::tracer {

class Process;
struct Location;

// The option, in bytes.
void bound_memory(Process& process, uint64_t bytes);

// Before the tables of the process, or of the location, grow by `growth`: they begin anew if they
// would grow too much. False: there is no memory.
bool make_room(Location& location, size_t growth);

// The location's tables are no longer those of the process, or are to end. False: it cannot go on.
bool join_tables(Location& location);

// A memo has been made: when that was too much, the tables end with the next call.
void note_memo(Location& location);

}  // namespace refrain::tracer
