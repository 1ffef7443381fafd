// Location: a thread of a rank. Everything on the path of a call that is not shared lives here.
//
// current_location() is the single door to the recorder's state: thread-local storage, initial-exec
// model (below one nanosecond). A runtime with ranks as user-level threads would put its hook
// there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grammar/builder.h"
#include "tracer/addresses.h"
#include "tracer/encoder.h"

namespace refrain::tracer {

class Process;

struct Location {
  Location(Process& process, uint32_t thread);

  Process* process = nullptr;
  uint32_t thread = 0;
  int depth = 0;              // MPI calls under way on this thread
  mpi::CallId open_call = 0;  // the innermost recorded one of them
  uintptr_t open_frame = 0;   // stack frame of the outermost one
  bool in_recorder = false;   // the recorder itself is calling MPI
  grammar::Builder grammar;
  Encoder encoder;
  StackBounds stack;
  uint64_t in_mpi_ticks = 0;  // outermost calls only
  uint64_t outside_ticks = 0;
  uint64_t last_end_ticks = 0;
  uint64_t refused_calls = 0;  // calls that the grammar had no memory for

  // Call sites seen lately, by return address.
  struct SiteEntry {
    uintptr_t address = 0;
    uint32_t def = 0;
  };
  static constexpr size_t kSiteCache = 256;
  SiteEntry sites[kSiteCache];

  // Stack buffers by first use.
  std::vector<uintptr_t> stack_buffers;
};

// The calling thread's location, made on first use. nullptr when recording is over or impossible.
Location* current_location();

}  // namespace refrain::tracer
