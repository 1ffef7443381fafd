// Spawned: what becomes of the processes that MPI_Comm_spawn starts.
//
// They are a world of their own, and their trace is a file of its own, run.spawn1.rfn for the first
// that rank 0 of run.rfn starts. Launchers start them with their own environment, so nothing of
// ours reaches them: the MPI is asked to start `refrain record PROGRAM` instead, by a line of the
// shell that starts the program alone where there is no refrain. What is recorded of the call are
// the program's own words.
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
