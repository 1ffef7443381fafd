#include "tracer/startup/startup.h"

#include <string>

#include "base/no_cancel.h"
#include "mpi_runtime/queries.h"
#include "mpi_runtime/shared_handles.h"
#include "mpi_runtime/world.h"
#include "tracer/spool/spool.h"
#include "tracer/startup/cores.h"
#include "tracer/startup/join.h"
#include "tracer/startup/run_text.h"
#include "tracer/startup/spawned.h"
#include "tracer/state/complain.h"
#include "tracer/state/location.h"
#include "tracer/state/peers.h"
#include "tracer/symbolic/objects.h"
#include "tracer/times/call_times.h"

namespace refrain::tracer {

std::atomic<bool> g_mpi_was_seen{false};

namespace {

#ifndef REFRAIN_SMPI

// A rank without times would leave holes in every analysis, so all do without.
void forget_times(Process& p) {
  if (peers().mine == 0)
    complain(p, "the ranks do not agree about --timing: no times of calls are kept");
  p.times = nullptr;
  for (Location* const l : p.locations)
    if (l->times != nullptr) drop_times(*l);
}

// Clusters are found by all ranks together.
void forget_clusters(Process& p) {
  p.options.has_clusters = false;
  if (peers().mine != 0) return;
  constexpr const char* kWhy = "the ranks do not agree about --cluster";
  complain(p, (std::string(kWhy) + ": no rank stands for others").c_str());
  p.lose("not_clustered", kWhy);
}

// A communicator of the recorder's, and what all ranks must know of each other before the program
// goes on: both at once, as each takes several rounds. `run`: a number that is this run's.
bool exchange_setup(Process& p, uint64_t* run) {
  // All ranks give their spool files the same number, so that those of an earlier run which died
  // are not taken for ours. They may ask for different levels of thread support; how they agree on
  // ids must be one way.
  const uint64_t mine = Clock::monotonic_ns() ^ static_cast<uint64_t>(p.pid) << 40 ^ p.init_ticks;
  const uint64_t times = p.times != nullptr ? p.times->hash() : 0;
  const uint64_t clusters = p.options.has_clusters ? hash_of(p.options.clusters) : 0;
  uint64_t words[] = {p.threaded ? 1u : 0u, mine, times, ~times, clusters, ~clusters};
  const bool good = join_peers(p, words, 6);
  p.threads_anywhere = words[0] != 0;
  if (good && words[2] != ~words[3]) forget_times(p);
  if (good && words[4] != ~words[5]) forget_clusters(p);
  *run = words[1];
  return good;
}

void open_spool(Process& p, uint64_t run) {
  Spool::open(p, run, run_text(p));
  note_unrecorded(p);
  if (p.times != nullptr && p.sink != nullptr)
    for (const format::ClockPoint& point : p.times->points()) p.sink->clock_point(point);
}

#else

// SMPI: its ranks are threads, have none, and die together; thousands of spool files for one
// process are too many.
bool exchange_setup(Process& p, uint64_t*) { return join_peers(p, nullptr, 0); }
void open_spool(Process&, uint64_t) {}

#endif

}  // namespace

void world_is_up(Process& p, uint64_t init_ticks, void (*at_finalize)()) {
  const base::NoCancel no_cancel;
  const uint64_t begin = p.clock.ticks();
  g_mpi_was_seen.store(true);
  p.clock.refine();
  if (!p.initialized) {  // else a session was there before
    p.init_ticks = init_ticks;
    if (Location* const l = current_location(); l != nullptr) l->begin_run(init_ticks);
  }
  p.initialized = true;
  learn_world(&p.rank, &p.size, &world_group());
  uint64_t run = 0;
  if (!exchange_setup(p, &run)) return;
  p.run = run;
  note_parent(has_parent());
  return_errors(recorders());
  begin_run(p);
  if (p.times != nullptr) p.times->begin_clock(p, recorders());
  open_spool(p, run);
  define_world(p);
  p.ends_in_finalize = call_in_finalize(at_finalize);
  if (p.threaded)
    find_shared_handles(recorders(), [&p](uint64_t key) { p.requests.note_shared_handle(key); });
  // MPI_Init, which is recorded when this is done, measures its own work from its end on.
  if (Location* const l = current_location(); l != nullptr)
    l->own_time.add_inside(p.clock.ticks() - begin);
}

}  // namespace refrain::tracer
