#include "tracer/startup.h"

#include "real_functions.h"
#include "tracer/call_times.h"
#include "tracer/complain.h"
#include "tracer/completion.h"
#include "tracer/cores.h"
#include "tracer/exit.h"
#include "tracer/finish.h"
#include "tracer/join.h"
#include "tracer/location.h"
#include "tracer/objects.h"
#include "tracer/peers.h"
#include "tracer/spawned.h"
#include "tracer/spool.h"

namespace refrain::tracer {

namespace {

#ifndef REFRAIN_SMPI

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the latest first, while MPI still
// works: programs hang what they have to do at the end there. Ours is the first one that is set, so
// theirs are over, and recorded, when it is deleted.
int at_finalize(MPI_Comm, int, void*, void*) {
  Process& p = process();
  if (p.finalize != nullptr) {
    end_in_finalize(p);
  } else if (Location* const l = current_location(); l != nullptr && p.comm != MPI_COMM_NULL) {
    // Nobody called our MPI_Finalize: it was taken from a handle of the MPI library, by dlsym().
    p.lose("not_seen", "MPI_Finalize and maybe others, from a handle of the MPI library");
    finish_world(*l);
  }
  return MPI_SUCCESS;
}

bool call_at_finalize() {
  int key = MPI_KEYVAL_INVALID;
  if (REFRAIN_REAL(PMPI_Comm_create_keyval)(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr) !=
      MPI_SUCCESS)
    return false;
  const int rc = REFRAIN_REAL(PMPI_Comm_set_attr)(MPI_COMM_SELF, key, nullptr);
  REFRAIN_REAL(PMPI_Comm_free_keyval)(&key);
  return rc == MPI_SUCCESS;
}

// A rank without times would leave holes in every analysis, so all do without.
void forget_times(Process& p) {
  if (peers().mine == 0)
    complain(p, "the ranks do not agree about --timing: no times of calls are kept");
  p.times = nullptr;
  for (Location* const l : p.locations)
    if (l->times != nullptr) drop_times(*l);
}

// A communicator of the recorder's, and what all ranks must know of each other before the program
// goes on: both at once, as each takes several rounds. `run`: a number that is this run's.
bool exchange_setup(Process& p, uint64_t* run) {
  // All ranks give their spool files the same number, so that those of an earlier run which died
  // are not taken for ours. They may ask for different levels of thread support; how they agree on
  // ids must be one way.
  const uint64_t mine = Clock::monotonic_ns() ^ static_cast<uint64_t>(p.pid) << 40 ^ p.init_ticks;
  const uint64_t times = p.times != nullptr ? p.times->hash() : 0;
  uint64_t words[] = {p.threaded ? 1u : 0u, mine, times, ~times};
  const bool good = join_peers(p, words, 4);
  p.threads_anywhere = words[0] != 0;
  if (good && words[2] != ~words[3]) forget_times(p);
  *run = words[1];
  return good;
}

void open_spool(Process& p, uint64_t run) {
  Spool::open(p, run);
  note_unrecorded(p);
  if (p.times != nullptr && p.spool != nullptr)
    for (const format::ClockPoint& point : p.times->points()) p.spool->clock_point(point);
}

#else

// SMPI: its ranks are threads, have none, and die together; thousands of spool files for one
// process are too many.
bool exchange_setup(Process& p, uint64_t*) { return join_peers(p, nullptr, 0); }
void open_spool(Process&, uint64_t) {}

// MPI_Finalize does not: what callbacks do in there is not recorded.
bool call_at_finalize() { return false; }

#endif

}  // namespace

void world_is_up(Process& p, uint64_t init_ticks) {
  const uint64_t begin = p.clock.ticks();
  g_mpi_was_seen.store(true);
  p.clock.refine();
  if (!p.initialized) p.init_ticks = init_ticks;  // else a session was there before
  p.initialized = true;
  REFRAIN_REAL(PMPI_Comm_rank)(MPI_COMM_WORLD, &p.rank);
  REFRAIN_REAL(PMPI_Comm_size)(MPI_COMM_WORLD, &p.size);
  if (p.world_group != MPI_GROUP_NULL) REFRAIN_REAL(PMPI_Group_free)(&p.world_group);
  REFRAIN_REAL(PMPI_Comm_group)(MPI_COMM_WORLD, &p.world_group);
  uint64_t run = 0;
  if (!exchange_setup(p, &run)) return;
  learn_parent();
  REFRAIN_REAL(PMPI_Comm_set_errhandler)(p.comm, MPI_ERRORS_RETURN);
  begin_run(p);
  if (p.times != nullptr) p.times->begin_clock(p);
  open_spool(p, run);
  define_world(p);
  p.ends_in_finalize = call_at_finalize();
  if (p.threaded) learn_shared_handles(p);
  // MPI_Init, which is recorded when this is done, measures its own work from its end on.
  if (Location* const l = current_location(); l != nullptr)
    l->own_time.add_inside(p.clock.ticks() - begin);
}

}  // namespace refrain::tracer
