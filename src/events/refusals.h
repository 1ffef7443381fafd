// Functions of a trace whose calls cannot be made again: for replays and for generated programs.
//
// What nobody can make stands in spec/mpi/calls (reissue=refused:WHY); whoever makes calls adds
// what it cannot make itself.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::events {

// A function that is called, and why it cannot be called again.
struct Refusal {
  CallId call = 0;
  Rank rank = 0;                      // the first one that calls it
  DefinitionId site = kNoDefinition;  // where, the first time
  uint64_t calls = 0;                 // of all ranks
  std::string why;                    // the end of a sentence
};

// Why nobody can make calls of the function, as the end of a sentence; empty: it can be done.
std::string why_never_made(CallId call);

// Whether the call is about an object that MPI made for its own use, and so not made again: its
// handle has no value. Where MPI_File_close and MPI_Win_free free such a communicator, they call
// the program's functions of attributes, which may ask for its size. Only calls on which no other
// one depends: what was made while nothing was recorded has no handle either, and messages there
// have other ends. One that failed may have been given no handle of anything.
bool is_about_mpis_own(const Signature& call);

// The functions of the trace for which `why_not` gives a reason, in the order of their ids; it is
// asked once for each. O(signatures): the grammars are not expanded.
std::vector<Refusal> refusals(const Trace& trace,
                              const std::function<std::string(CallId)>& why_not);

// Fails where ranks stand for others that made other calls: their messages have no other end
// (ErrorCode::kUnsupported).
Status check_clusters(const Trace& trace);

}  // namespace refrain::events
