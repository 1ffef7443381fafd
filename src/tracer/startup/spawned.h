// Spawned: starts the processes of MPI_Comm_spawn with a recorder.
//
// They have a world of their own and a trace of their own, run.spawn1.rfn for the first job that
// rank 0 of run.rfn starts. The launcher starts them with its own environment, which lacks the
// recorder's variables. So MPI is asked to start `refrain record PROGRAM` instead, through a shell
// line that starts the program alone if there is no refrain. The call is recorded with the
// program's own parameters.
#pragma once

#include <map>
#include <string>

#include "format/merge/programs.h"

namespace refrain::tracer {

class Process;

// A world that this process has started, as the root of a spawn.
struct StartedJob {
  format::SpawnedJob job;
  bool is_wrapped = false;  // by us; else it records itself, or not at all
  bool is_known = false;    // that it is not recorded: it is lost already
};
void spawn_started(Process& process, StartedJob job);
int spawned_count();

// MPI is up: whether this world was spawned.
void note_parent(bool has_parent);
bool is_spawned_world();

// In MPI_Finalize: jobs that nothing is to be seen of are lost.
void check_spawned(Process& process);

// What this process has started, for its record: see format/merge/programs.h.
void add_spawned(std::map<std::string, std::string>& text);

}  // namespace refrain::tracer
