// The virtual world: in a job with an analyser, a program that was started by `record --live` has
// an MPI_COMM_WORLD of its own ranks.
//
//   program -> MPI_Send(MPI_COMM_WORLD) (wrapper, which records these arguments)
//                 -> world_MPI_Send -> MPI's MPI_Send(the program's communicator)
//
// Functions between the wrappers and MPI (tools/gen/world.py) replace the handle in the forwarded
// call only, so the trace is that of a job without an analyser, and recorder parts that say
// MPI_COMM_WORLD mean the program's. Without an analyser they are not there, and cost nothing.
// Where MPI gives such a communicator to the program (callbacks of attributes and error handlers),
// it is MPI_COMM_WORLD again (world_attributes.cc, world_handlers.cc).
//
// The idea is the virtualisation of the online-coupling paper (§III).
#pragma once

#include <mpi.h>

#include <cstdint>

namespace refrain::tracer {

#ifndef REFRAIN_SMPI

struct WorldHandles {
  bool is_on = false;
  MPI_Comm comm = MPI_COMM_WORLD;  // the program's world while there is one
  int copy_key = 0;  // set on it and its copies, where MPI keeps attributes of the real one
  bool has_copy_key = false;  // apart from them
  int appnum = -1;
};
// Hidden: functions of each call read it, without a table of addresses in between.
[[gnu::visibility("hidden")]] extern WorldHandles g_world;

// Budget: a comparison and a move in each call with a communicator. For functions that are there
// only in a job with an analyser.
inline MPI_Comm in_world(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? g_world.comm : comm; }
// The way back, for callbacks. Errors that belong to no communicator come with the real world.
inline MPI_Comm out_of_world(MPI_Comm comm) {
  return g_world.is_on && comm == g_world.comm ? MPI_COMM_WORLD : comm;
}

// The frame of the innermost function of ours that stands for a callback of the program; 0: none.
// Calls that the callback makes are the program's.
extern thread_local uintptr_t g_callback_frame;
// By the place of its return address.
inline bool is_callback_frame(uintptr_t return_slot) {
  return g_callback_frame != 0 && return_slot == g_callback_frame + sizeof(void*);
}
class CallbackFrame {
 public:
  explicit CallbackFrame(void* frame) : before_(g_callback_frame) {
    g_callback_frame = reinterpret_cast<uintptr_t>(frame);
  }
  ~CallbackFrame() { g_callback_frame = before_; }
  CallbackFrame(const CallbackFrame&) = delete;
  CallbackFrame& operator=(const CallbackFrame&) = delete;

 private:
  const uintptr_t before_;
};

// Right after MPI_Init, before anything else of MPI is asked: does nothing without `record --live`,
// prints a line where there is no analyser. A rank of the job that takes no part ends the job with
// status 2. A second call does nothing.
void enter_world();
// Before MPI_Init. A library between the program and MPI may have an MPI_Init of its own, and use
// MPI in it (refrain/coupling.h): the world is entered as soon as the MPI_Init that it calls is
// through.
void enter_world_in_inner_init();

// ---- for Fortran entry points that reach no C function (fortran_bodies.cc) ----

bool is_predefined_attribute(int keyval);
// The communicator to ask for an attribute, where the program says `comm`.
MPI_Fint fortran_holder(MPI_Fint comm, int keyval);
MPI_Fint fortran_in_world(MPI_Fint comm);
// A callback that gets MPI_COMM_WORLD back, in place of the program's.
void* fortran_handler_in_world(void* function);
// While it lives, this thread makes a keyval for Fortran: MPICH's Fortran layer then calls the C
// function with Fortran's callbacks, which no function of C may stand for.
class FortranKeyval {
 public:
  FortranKeyval();
  ~FortranKeyval();
  FortranKeyval(const FortranKeyval&) = delete;
  FortranKeyval& operator=(const FortranKeyval&) = delete;
};
// The same for two callbacks; returns the extra state that MPI is to have then. It is as `wide` as
// an address where MPI_Comm_create_keyval is meant, else an integer.
void* fortran_attribute_in_world(bool wide, void** copy, void** remove, void* extra);

#else

inline MPI_Comm in_world(MPI_Comm comm) { return comm; }
inline bool is_callback_frame(uintptr_t) { return false; }
inline void enter_world() {}
inline void enter_world_in_inner_init() {}

#endif

}  // namespace refrain::tracer
