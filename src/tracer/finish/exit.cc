// Runs behind the exit handlers and destructors of the program, and before those of the MPI
// library, which stands below the recorder. Also in processes that never use MPI: the children of a
// program inherit the preload.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "mpi_runtime/built_with.h"
#include "mpi_runtime/world.h"
#include "options/environment.h"
#include "tracer/finish/finish.h"
#include "tracer/messages/rank_log.h"
#include "tracer/startup/startup.h"
#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

namespace {

pid_t g_pid = 0;  // who loaded this library: children that fork() made have nothing to say

__attribute__((constructor)) void process_begins() { g_pid = getpid(); }

// A program may get MPI's functions from dlsym() with a handle of the MPI library: then they are
// those of the library, and nothing that is preloaded can stand before them.
void report_unseen_mpi() {
  if (!is_initialized() || !is_first_rank()) return;
  std::fprintf(stderr,
               "refrain: this program was not recorded: it took MPI_Init from a handle of the MPI "
               "library, by dlsym(), where Refrain cannot see it; RTLD_DEFAULT instead can be "
               "recorded\n");
}

__attribute__((destructor)) void process_ends() {
  if (getpid() != g_pid) return;
  end_rank_log();
#ifdef REFRAIN_HAS_MPI_Session_init
  hand_over_by_file();
#endif
  const bool is_off = std::strcmp(options::text_of(options::Variable::kRecord), "0") == 0;
  if (!g_mpi_was_seen.load() && !is_off) report_unseen_mpi();
}

}  // namespace

}  // namespace refrain::tracer
