// Begin and end of MPI, and handles whose objects end.
#include <unistd.h>

#include <utility>

#include "hand.h"
#include "mpi/constant_ids.h"
#include "real_functions.h"
#include "tracer/code/late_events.h"
#include "tracer/filter/control.h"
#include "tracer/finish/finish.h"
#include "tracer/spool/exit_sign.h"
#include "tracer/startup/join.h"
#include "tracer/startup/startup.h"
#include "tracer/state/peers.h"
#include "tracer/symbolic/objects.h"
#include "tracer/wrap/completion.h"
#include "tracer/wrap/world.h"
#ifndef REFRAIN_SMPI
#include "tracer/wrap/logged_call.h"
#endif

namespace refrain::tracer::hand {

namespace {

void encode_arguments(Encoder& e, int* argc, char*** argv, int argc_before) {
  argc == nullptr ? e.none() : e.changed(*argc, argc_before);
  argc == nullptr || argv == nullptr ? e.none() : e.string_array(*argv, *argc);
}

// One level up from a handle that the call frees.
template <class Real, class H>
int free_handle(CallScope& scope, Real real, Kind kind, H* handle) {
  if (handle == nullptr) return scope.process().lose(kNullArgument, "handle"), real(handle);
  const Captured before = scope.capture_to_free(kind, *handle);
  scope.begin();
  const int rc = real(handle);
  scope.end();
  Encoder& e = scope.encoder(rc);
  e.captured(before);
  rc == MPI_SUCCESS ? scope.released(kind, before) : scope.not_released(kind, before);
  scope.commit();
  return rc;
}

// Under SMPI there are no message logs: `record` has said so.
void begin_logging_after([[maybe_unused]] int rc, [[maybe_unused]] CallScope& scope) {
#ifndef REFRAIN_SMPI
  if (rc == MPI_SUCCESS) begin_logging(scope.process());
#endif
}

// Other libraries than Open MPI have no thread of their own that matters here.
#ifdef OPEN_MPI
void before_real_init() { note_threads_before_mpi(); }
void behind_real_init() { note_threads_of_mpi(); }
#else
void before_real_init() {}
void behind_real_init() {}
#endif

// See Process::end_finalize.
void end_in_finalize(Process& p) {
  CallScope& scope = *std::exchange(p.finalize, nullptr);
  scope.end();
  scope.encoder(MPI_SUCCESS);
  scope.commit();
  finish_world(scope.location());
}

}  // namespace

// The type is written out: SimGrid 4 gives C++ a second MPI_Init, without parameters.
int MPI_Init(CallScope& scope, int (*real)(int*, char***), int* argc, char*** argv) {
  const int argc_before = argc == nullptr ? 0 : *argc;
  about_to_join();
  enter_world_in_inner_init();
  before_real_init();
  scope.begin();
  const int rc = real(argc, argv);
  scope.end();
  behind_real_init();
  if (rc == MPI_SUCCESS) enter_world();
  Encoder& e = scope.encoder(rc);
  if (rc == MPI_SUCCESS) world_is_up(scope.process(), scope.begin_ticks(), at_finalize);
  begin_logging_after(rc, scope);
  encode_arguments(e, argc, argv, argc_before);
  scope.commit();
  return rc;
}

int MPI_Init_thread(CallScope& scope, decltype(&::MPI_Init_thread) real, int* argc, char*** argv,
                    int required, int* provided) {
  const int argc_before = argc == nullptr ? 0 : *argc;
  about_to_join();
  enter_world_in_inner_init();
  before_real_init();
  scope.begin();
  const int rc = real(argc, argv, required, provided);
  scope.end();
  behind_real_init();
  if (rc == MPI_SUCCESS) enter_world();
  Encoder& e = scope.encoder(rc);
  if (rc == MPI_SUCCESS) {
    if (*provided == MPI_THREAD_MULTIPLE) begin_threads(scope.location());
    world_is_up(scope.process(), scope.begin_ticks(), at_finalize);
  }
  begin_logging_after(rc, scope);
  encode_arguments(e, argc, argv, argc_before);
  e.named(mpi::domain::kThreadLevel, required);
  rc == MPI_SUCCESS ? e.named(mpi::domain::kThreadLevel, *provided) : e.none();
  scope.commit();
  return rc;
}

// The recorder ends inside of it, behind the callbacks that the program left there: see
// finish_world(). How long the rest takes is not known yet when the trace is written. With sessions
// MPI, and the recorder, may go on.
int MPI_Finalize(CallScope& scope, decltype(&::MPI_Finalize) real) {
  Process& p = scope.process();
  scope.begin();
#ifdef REFRAIN_HAS_MPI_Session_init
  const bool goes_on = has_peers() && sessions_go_on(p);
#else
  const bool goes_on = false;
#endif
  p.end_finalize = end_in_finalize;
  if (!goes_on) p.finalize = &scope;
  if (!goes_on && !p.ends_in_finalize) end_in_finalize(p);
  const int rc = real();
#ifdef REFRAIN_HAS_MPI_Session_init
  if (p.finalize != nullptr && has_peers()) mpi_goes_on(p);
#endif
  if (goes_on || p.finalize != nullptr) {
    scope.end();
    scope.encoder(rc);
    scope.commit();
  }
  p.finalize = nullptr;
  return rc;
}

int MPI_Abort(CallScope& scope, decltype(&::MPI_Abort) real, MPI_Comm comm, int errorcode) {
  scope.begin();
  scope.end();
  Encoder& e = scope.encoder(MPI_SUCCESS);
  e.handle(Kind::kComm, comm);
  e.integer(errorcode);
  scope.commit();
  scope.location().spool.gave_up();
  say_unfinished("calls MPI_Abort");
  return real(comm, errorcode);
}

// The arguments behind the level mean nothing to any MPI library and cannot be passed on.
int MPI_Pcontrol(CallScope& scope, decltype(&::MPI_Pcontrol) real, int level) {
  scope.begin();
  const int rc = real(level);
  scope.end();
  scope.encoder(rc).integer(level);
  scope.commit();
  apply_pcontrol(level);
  return rc;
}

#ifdef REFRAIN_HAS_MPI_Session_init
// There is no MPI_COMM_WORLD.
[[noreturn]] static void abort_by_session(MPI_Session session) {
  constexpr int kUsage = 2;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm self = MPI_COMM_NULL;
  if (REFRAIN_REAL(PMPI_Group_from_session_pset)(session, "mpi://SELF", &group) == MPI_SUCCESS &&
      REFRAIN_REAL(PMPI_Comm_create_from_group)(group, "refrain", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                &self) == MPI_SUCCESS)
    REFRAIN_REAL(PMPI_Abort)(self, kUsage);
  _exit(kUsage);
}

int MPI_Session_init(CallScope& scope, decltype(&::MPI_Session_init) real, MPI_Info info,
                     MPI_Errhandler errhandler, MPI_Session* session) {
  if (!scope.process().initialized) about_to_begin_session();
  scope.begin();
  const int rc = real(info, errhandler, session);
  if (is_session_beside_analyser()) abort_by_session(*session);
  scope.end();
  Encoder& e = scope.encoder(rc);
  if (rc == MPI_SUCCESS) session_is_up(scope.process(), *session, scope.begin_ticks());
  e.handle(Kind::kInfo, info);
  e.handle(Kind::kErrhandler, errhandler);
  rc == MPI_SUCCESS ? e.new_handle(Kind::kSession, *session) : e.none();
  scope.commit();
  return rc;
}

int MPI_Session_finalize(CallScope& scope, decltype(&::MPI_Session_finalize) real,
                         MPI_Session* session) {
  const Captured before = scope.capture(Kind::kSession, *session);
  scope.begin();
  scope.end();
  Encoder& e = scope.encoder(MPI_SUCCESS);
  e.captured(before);
  scope.released(Kind::kSession, before);
  scope.commit();
  session_ends(scope.process(), *session);
  return real(session);
}
#endif

int MPI_Cancel(CallScope& scope, decltype(&::MPI_Cancel) real, MPI_Request* request) {
  if (request == nullptr) return scope.process().lose(kNullArgument, "MPI_Cancel"), real(request);
  RequestSnapshot requests(scope, request, 1);
  scope.begin();
  const int rc = real(request);
  scope.end();
  if (requests.has_held()) requests.follow_sizes(scope, nullptr);
  requests.encode_request(scope.encoder(rc), 0);
  scope.commit();
  return rc;
}

int MPI_Comm_free(CallScope& scope, decltype(&::MPI_Comm_free) real, MPI_Comm* comm) {
  return free_handle(scope, real, Kind::kComm, comm);
}

int MPI_Comm_disconnect(CallScope& scope, decltype(&::MPI_Comm_disconnect) real, MPI_Comm* comm) {
  return free_handle(scope, real, Kind::kComm, comm);
}

int MPI_Type_free(CallScope& scope, decltype(&::MPI_Type_free) real, MPI_Datatype* datatype) {
  return free_handle(scope, real, Kind::kDatatype, datatype);
}

#ifdef REFRAIN_HAS_MPIX_Threadcomm_init

int MPIX_Threadcomm_init(CallScope& scope, decltype(&::MPIX_Threadcomm_init) real, MPI_Comm comm,
                         int num_threads, MPI_Comm* newthreadcomm) {
  scope.begin();
  const int rc = real(comm, num_threads, newthreadcomm);
  scope.end();
  Encoder& e = scope.encoder(rc);
  e.handle(Kind::kComm, comm);
  e.integer(num_threads);
  rc == MPI_SUCCESS ? e.new_threadcomm(comm, num_threads, *newthreadcomm) : e.none();
  scope.commit();
  return rc;
}

#endif

}  // namespace refrain::tracer::hand
