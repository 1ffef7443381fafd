#include "tracer/spool/exit_sign.h"

#include "tracer/spool/spool.h"
#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

namespace {

using format::spool::State;

// Known without making a Process: exit handlers run in programs that never used MPI, too.
Spool* g_spool = nullptr;

bool is_recording() {
  return g_spool != nullptr && !has_slow_path_reason(slow_path_reasons::kNotRecording);
}

__attribute__((destructor)) void process_exits() {
  if (is_recording()) g_spool->set_state(State::kExited);
}

void change(State from, State to) {
  if (is_recording() && g_spool->state() == from) g_spool->set_state(to);
}

}  // namespace

void watch_exit(Spool& spool) { g_spool = &spool; }

void note_end_by_mpi() { change(State::kRunning, State::kExited); }
void take_back_end_by_mpi() { change(State::kExited, State::kRunning); }

}  // namespace refrain::tracer
