// Runs behind the exit handlers and destructors of the program, and before those of the MPI
// library, which stands below the recorder. Also in processes that never use MPI: the children of a
// program inherit the preload.
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>

#include "mpi_runtime/built_with.h"
#include "mpi_runtime/world.h"
#include "options/environment.h"
#include "tracer/finish/finish.h"
#include "tracer/messages/rank_log.h"
#include "tracer/spool/exit_sign.h"
#include "tracer/startup/startup.h"
#include "tracer/state/complain.h"
#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

namespace {

pid_t g_pid = 0;  // who loaded this library: children that fork() made have nothing to say

__attribute__((constructor)) void process_begins() { g_pid = getpid(); }

// A program may get MPI's functions from dlsym() with a handle of the MPI library, or from a
// library that it opened with RTLD_DEEPBIND, which looks in what it needs itself first: then they
// are those of the MPI library, and nothing that is preloaded can stand before them.
void report_unseen_mpi() {
  if (!is_initialized() || !is_first_rank()) return;
  say("this program was not recorded: Refrain did not see its MPI_Init, which it "
      "took from a handle of the MPI library, by dlsym() (RTLD_DEFAULT instead can be "
      "recorded), or called in a library that it opened by dlopen() with RTLD_DEEPBIND "
      "(without that flag it can be recorded)");
}

__attribute__((destructor)) void process_ends() {
  if (getpid() != g_pid) return;
  end_rank_log();
#ifdef REFRAIN_HAS_MPI_Session_init
  hand_over_by_file();
#endif
  say_unfinished("ends without MPI_Finalize");
  const bool is_off = std::strcmp(options::text_of(options::Variable::kRecord), "0") == 0;
  if (!g_mpi_was_seen.load() && !is_off) report_unseen_mpi();
}

}  // namespace

}  // namespace refrain::tracer

// What MPI_ERRORS_ARE_FATAL comes to in each library: they tell the launcher, which kills the
// process before any exit handler runs, or end it by _exit(). These functions are seen because the
// libraries call them as they would another library's; where one is built otherwise, nothing is
// missing but this sign.
#ifdef OPEN_MPI
extern "C" __attribute__((visibility("default"))) int ompi_mpi_abort(void* comm, int code) {
  using Abort = int (*)(void*, int);
  static const auto real = reinterpret_cast<Abort>(dlsym(RTLD_NEXT, "ompi_mpi_abort"));
  refrain::tracer::note_end_by_mpi();
  refrain::tracer::say_unfinished("is ended by MPI");
  if (real == nullptr) _exit(code);
  return real(comm, code);
}
#elif defined(MPICH_VERSION)
namespace {

// Comes back where errors are returned, or the program's own handler does.
int forward_error(const char* name, void* object, const char* function, int code) {
  using ErrorReturn = int (*)(void*, const char*, int);
  const auto real = reinterpret_cast<ErrorReturn>(dlsym(RTLD_NEXT, name));
  if (real == nullptr) return code;
  refrain::tracer::note_end_by_mpi();
  const int rc = real(object, function, code);
  refrain::tracer::take_back_end_by_mpi();
  return rc;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int MPIR_Err_return_comm(void* comm,
                                                                           const char* function,
                                                                           int code) {
  return forward_error("MPIR_Err_return_comm", comm, function, code);
}
extern "C" __attribute__((visibility("default"))) int MPIR_Err_return_win(void* win,
                                                                          const char* function,
                                                                          int code) {
  return forward_error("MPIR_Err_return_win", win, function, code);
}
#endif
