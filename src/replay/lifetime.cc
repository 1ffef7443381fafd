// The begin and the end of MPI, and the program's own marks.

#include <optional>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "refrain/mark.h"
#include "replay/engine.h"
#include "replay/pace/run_time.h"
#include "replay/quiet.h"

namespace refrain::replay {

base::Status Engine::start_mpi(Frame& frame) {
  began_ns_ = run_clock().now_ns();
  recorded_begin_ns_ = frame.staged.end_ns;
  if (has_started_) {  // a repeat
    state_.started_jobs = 0;
    begin_threads();
    return base::Done{};
  }
  places_of_calls_.tell(frame.signature.site);
  if (frame.info.id == mpi::kMPI_Init_thread) {
    const auto required = number_of(frame, events::argument(frame.signature, "required"));
    if (!required.ok()) return required.error();
    // With MPI_THREAD_SERIALIZED the program's threads took turns, of which a trace does not tell.
    const bool has_threads = trace_.locations(rank_).size() > 1;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr,
                    has_threads ? MPI_THREAD_MULTIPLE : static_cast<int>(*required), &provided);
  } else {
    MPI_Init(nullptr, nullptr);
  }
  has_started_ = true;
  int size = 0;
  REFRAIN_QUIET(MPI_Comm_size)(MPI_COMM_WORLD, &size);
  if (size != trace_.rank_count())
    return base::usage("the trace has " + std::to_string(trace_.rank_count()) +
                           " ranks, the job has " + std::to_string(size) +
                           ": start it with as many",
                       trace_.name());
  began_ns_ = run_clock().now_ns();
  begin_threads();
  return base::Done{};
}

// MPICH 4.0.2 crashes when it begins once more after its last session: one of the engine's own
// stays open.
void Engine::hold_session() {
#if MPI_VERSION >= 4
  if (held_session_ != 0) return;
  MPI_Session session = MPI_SESSION_NULL;
  if (REFRAIN_QUIET(MPI_Session_init)(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS)
    held_session_ = mpi_runtime::handle_key(session);
#endif
}

void Engine::release_session() {
#if MPI_VERSION >= 4
  if (held_session_ == 0) return;
  auto session = mpi_runtime::handle_of<MPI_Session>(held_session_);
  REFRAIN_QUIET(MPI_Session_finalize)(&session);
  held_session_ = 0;
#endif
}

// MPI_Init and MPI_Finalize tell where the run begins and ends, if the program calls them.
void Engine::note_session(const Frame& frame) {
  if (has_started_) return;
  const uint64_t now_ns = run_clock().now_ns();
  if (frame.info.id == mpi::kMPI_Session_finalize) {
    session_ended_ns_ = now_ns;
    recorded_session_end_ns_ = frame.staged.begin_ns;
  } else if (!has_session_) {
    has_session_ = true;
    began_ns_ = session_ended_ns_ = now_ns;
    recorded_begin_ns_ = recorded_session_end_ns_ = frame.staged.end_ns;
  }
}

// The end of a repeat without MPI_Finalize: what the job has done is told by a communicator of the
// session that is held. Not where ranks end early, as some may not have come to their first
// session.
void Engine::end_sessions() {
#if MPI_VERSION >= 4
  if (!has_session_ || has_started_ || options_.most_calls != UINT64_MAX) return;
  has_session_ = false;
  seconds_.push_back(static_cast<double>(session_ended_ns_ - began_ns_) / 1e9);
  note_recorded(recorded_session_end_ns_);
  if (!is_last_ || !options_.at_end) return;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm job = MPI_COMM_NULL;
  REFRAIN_QUIET(MPI_Group_from_session_pset)
  (mpi_runtime::handle_of<MPI_Session>(held_session_), "mpi://WORLD", &all);
  REFRAIN_QUIET(MPI_Comm_create_from_group)
  (all, "refrain.replay", MPI_INFO_NULL, MPI_ERRORS_RETURN, &job);
  job_ = mpi_runtime::handle_key(job);
  options_.at_end(*this);
  job_ = 0;
  REFRAIN_QUIET(MPI_Comm_free)(&job);
  REFRAIN_QUIET(MPI_Group_free)(&all);
#endif
}

MPI_Comm Engine::job() const {
  return job_ == 0 ? MPI_COMM_WORLD : mpi_runtime::handle_of<MPI_Comm>(job_);
}

// How long the program took, where the trace has the times of calls: else they are numbers only.
void Engine::note_recorded(uint64_t end_ns) {
  if (trace_.has_times() && end_ns > recorded_begin_ns_)
    recorded_s_ = static_cast<double>(end_ns - recorded_begin_ns_) / 1e9;
}

void Engine::note_seconds() {
  seconds_.push_back(static_cast<double>(run_clock().now_ns() - began_ns_) / 1e9);
}

base::Status Engine::finalize(Frame& frame) {
  if (auto good = end_threads(); !good.ok()) return good;
  note_seconds();
  note_recorded(frame.staged.begin_ns);
  if (!is_last_) {
    REFRAIN_QUIET(MPI_Barrier)(MPI_COMM_WORLD);
    return base::Done{};
  }
  if (options_.at_end) options_.at_end(*this);
  if (auto good = end_endless(); !good.ok()) return good;
  free_defined_types();
  return call(frame);
}

// refrain/mark.h; false: the call is none of its.
bool Engine::make_mark(const Signature& signature) {
  const mpi::CallInfo* const info = mpi::find_call(signature.call);
  if (info->group != mpi::CallGroup::kMark) return false;
  const auto text = [&](const char* name) { return events::argument(signature, name).text; };
  places_of_calls_.tell(signature.site);
  switch (signature.call) {
    case mpi::krefrain_region_begin: refrain_region_begin(text("name").c_str()); break;
    case mpi::krefrain_region_end: refrain_region_end(text("name").c_str()); break;
    case mpi::krefrain_instance:
      refrain_instance(text("name").c_str(), events::argument(signature, "number").integer_or(0));
      break;
    default: ++counts_.left_out; break;  // a function's begin or end
  }
  return true;
}

}  // namespace refrain::replay
