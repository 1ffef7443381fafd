// The frames between an MPI call and the begin of the program, by the unwinding rules of their
// return addresses.
//
// Laws: reads only words of the calling thread's stack between the wrapper's frame and the end of
// the stack, which are mapped whatever a rule says. Gives up if a rule is unknown or gives an
// impossible result; then libunwind is used. Budget: 50 instructions a frame.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/paths/return_addresses.h"

namespace refrain::tracer {

class Process;
struct StackBounds;

// A call, as its wrapper sees it. Frames are where the caller's frame pointer is saved, right below
// the return address.
struct CallPlace {
  uintptr_t address;  // where the program goes on
  uintptr_t frame;    // below that return address
  uintptr_t wrapper;  // of the wrapper itself; a Fortran library stands between the two
};

// A frame on the way out. Slots: 0 where it is not in memory.
struct WalkedFrame {
  uintptr_t return_address;
  uintptr_t sp;            // stack pointer once it has returned
  uintptr_t return_slot;   // where the return address is saved
  uintptr_t pointer_slot;  // where the frame pointer is saved that its code uses or leaves alone
  uintptr_t stored_slot;   // what its rule reads beside that to find the next frame
  ReturnFacts facts;       // of the return address
  bool reads_pointer;      // its rule, to find the next frame
};

// The frames of a call, innermost first; the first one is the call's own.
struct Walk {
  // Frames looked at for the begin of the stack.
  static constexpr size_t kMaxFrames = 64;
  WalkedFrame frames[kMaxFrames];
  size_t count = 0;
  bool is_whole = false;  // up to the begin of the stack
};

// Stops when no frame further out can change the innermost `depth` of them, those of the recorder
// not counted. False: it gave up.
bool walk_by_rules(Process& process, ReturnAddresses& returns, const StackBounds& stack,
                   const CallPlace& call, size_t depth, Walk& walk);

// The same by libunwind: the whole stack.
void walk_by_libunwind(Process& process, ReturnAddresses& returns, const CallPlace& call,
                       Walk& walk);

}  // namespace refrain::tracer
