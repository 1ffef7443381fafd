#include "replay/engine.h"

#include <algorithm>
#include <utility>

#include "events/refusals.h"
#include "events/untimed_calls.h"
#include "mpi/call_ids.h"
#include "own_word.h"
#include "replay/pace/gap_means.h"
#include "replay/pace/run_time.h"
#include "replay/plan/started.h"
#include "replay/quiet.h"
#include "replay/reissue.h"

namespace refrain::replay {
namespace {

std::string error_text(int rc) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (REFRAIN_QUIET(MPI_Error_string)(rc, text, &length) != MPI_SUCCESS) return "an error";
  std::string out(text, static_cast<size_t>(length));
  return out.substr(0, out.find('\n'));
}

}  // namespace

Engine::Engine(const Trace& trace, Rank rank, EngineOptions options, Progress& progress)
    : trace_(trace),
      rank_(rank),
      options_(std::move(options)),
      progress_(progress),
      own_state_(std::make_unique<RankState>(
          options_.limit_bytes, options_.seed + static_cast<uint64_t>(rank), options_.pages)),
      state_(*own_state_),
      reader_(trace, rank, Times::kRead),
      comms_(trace),
      decoder_(std::make_unique<events::Decoder>(reader_, comms_, places_)),
      pace_(options_.pace, gaps_of(trace, rank, 0, options_.pace.gaps), run_clock()) {}

Engine::Engine(const Engine& first, uint32_t thread)
    : trace_(first.trace_),
      rank_(first.rank_),
      thread_(thread),
      options_(first.options_),
      progress_(first.progress_),
      state_(first.state_),
      reader_(first.trace_, first.rank_, Times::kRead),
      comms_(first.trace_),
      decoder_(std::make_unique<events::Decoder>(reader_, comms_, places_)),
      pace_(options_.pace, gaps_of(first.trace_, first.rank_, thread, options_.pace.gaps),
            run_clock()) {}

Engine::~Engine() {
  if (own_state_ == nullptr) return;
  for (std::thread& worker : state_.workers) worker.detach();  // the job is about to end
}

base::Error Engine::wrong(const Frame& frame, const std::string& what) const {
  return base::fail("rank " + std::to_string(rank_) + ", call " + std::to_string(frame.staged.seq) +
                        ", " + std::string(frame.info.name) + ": " + what,
                    trace_.name());
}

base::Status Engine::run() {
  for (uint64_t i = 0; i < options_.repeats; ++i) {
    is_last_ = i + 1 == options_.repeats;
    if (auto good = run_once(); !good.ok()) return good;
    end_sessions();
  }
  release_session();
  return base::Done{};
}

base::Status Engine::run_once() {
  std::unique_ptr<events::CallStream> stream;
  if (trace_.has_times())
    stream = events::TraceCalls(trace_).open(reader_, thread_);
  else
    stream = events::UntimedCalls().open(reader_, thread_);
  if (stream == nullptr) return base::Done{};  // a rank without calls
  events::LightRoom room;
  events::LookAhead calls(std::move(stream), *decoder_, room);
  events::StagedCall staged;
  while (calls.next(staged)) {
    if (staged.seq >= options_.most_calls) return end_early();
    if (auto good = step(staged); !good.ok()) return good;
  }
  if (options_.most_calls != UINT64_MAX) return end_early();
  return thread_ == 0 ? end_threads() : base::Done{};
}

bool Engine::leaves_out(const events::Op& op) const {
  return std::find(options_.skipped.begin(), options_.skipped.end(), op.call) !=
             options_.skipped.end() ||
         left_ends_.has(op, rank_);
}

base::Status Engine::step(const events::StagedCall& staged) {
  const Signature& signature = *staged.op->signature;
  const mpi::CallInfo* const info = mpi::find_call(signature.call);
  progress_.of_thread[thread_].call.store(signature.call, std::memory_order_relaxed);
  progress_.of_thread[thread_].seq.store(staged.seq, std::memory_order_relaxed);
  {
    const OthersMayGo others(state_);
    pace_.before(staged);
    if (options_.jitter_ns > 0) wait_at_random();
  }
  base::Status good = wait_for_others(staged.seq);
  if (!good.ok()) return good;
  if (info == nullptr || leaves_out(*staged.op)) {
    ++counts_.skipped;
  } else if (!make_mark(signature)) {
    Frame frame{
        staged, signature, *info, mpi::meaning_of(signature.call), std::make_unique<Arguments>(),
        {}};
    ++counts_.calls;
    good = make(frame);
  }
  pace_.after();
  note_returned(staged.seq);
  return good;
}

base::Status Engine::make(Frame& frame) {
  const CallId id = frame.info.id;
  if (id == mpi::kMPI_Init || id == mpi::kMPI_Init_thread) return start_mpi(frame);
  // Another MPI has other variables of the tool interface and codes of errors, or none.
  const bool is_mpis_own = frame.info.group == mpi::CallGroup::kTool ||
                           id == mpi::kMPI_Error_class || id == mpi::kMPI_Error_string;
  if (is_mpis_own && trace_.info().text_of("mpi") != kOwnWord) {
    ++counts_.left_out;
    return base::Done{};
  }
  if (events::is_about_mpis_own(frame.signature)) {
    ++counts_.left_out;
    return base::Done{};
  }
  // Making it fail again would take a program that does not exist, for which launchers end the job.
  if (plan::starts_job(id) && frame.signature.failed()) {
    ++counts_.left_out;
    return base::Done{};
  }
  if (auto good = prepare(frame); !good.ok()) return good;
  if (id == mpi::kMPI_Finalize) return finalize(frame);
  if (plan::starts_job(id)) return spawn(frame);
  if (id == mpi::kMPI_Session_init) hold_session();
  if (id == mpi::kMPI_Session_finalize) note_session(frame);
  if (id == mpi::kMPI_Win_test) return test_window(frame);
  if (id == mpi::kMPI_Parrived) return ask_for_part(frame);
  if (frame.info.group == mpi::CallGroup::kCompletion &&
      (frame.meaning.does_any(mpi::kDoesComplete) || frame.meaning.how == mpi::How::kPolls))
    return complete(frame);
  if (frame.meaning.does_any(mpi::kDoesAccess)) move_target(frame);
  if (auto good = force(frame); !good.ok()) return good;
  if (auto good = give_buffers(frame); !good.ok()) return good;
  if (frame.staged.op->action == events::Action::kStart) return start_requests(frame);
  if (auto good = call(frame); !good.ok()) return good;
  bind_outputs(frame);
  keep_memory(frame);
  if (id == mpi::kMPI_Session_init) note_session(frame);
  return base::Done{};
}

void Engine::wait_at_random() {
  const uint64_t ns = std::uniform_int_distribution<uint64_t>(0, options_.jitter_ns)(random_);
  run_clock().pass_until(run_clock().now_ns() + ns, Compute::kSleep);
}

void Engine::yield() {
  const OthersMayGo others(state_);
  give_way();
}

// A test ends the epoch when it succeeds, so it can be neither tried before nor made to fail: one
// that failed is left out, one that succeeded is made until it does.
base::Status Engine::test_window(Frame& frame) {
  const Value* const flag = frame.signature.find("flag");
  if (flag == nullptr || flag->at_exit().integer_or(0) == 0) {
    ++counts_.left_out;
    return base::Done{};
  }
  do {
    if (auto good = call(frame); !good.ok()) return good;
    if (frame.arguments->slot(1).read() == 0) yield();
  } while (frame.arguments->slot(1).read() == 0 && !frame.signature.failed());
  return base::Done{};
}

// Memory that MPI uses beyond the call.
void Engine::keep_memory(Frame& frame) {
  std::vector<Arena::Block>* place = nullptr;
  const CallId plain = frame.meaning.plain;
  if (frame.meaning.does_any(mpi::kDoesEpoch)) in_epoch_.clear();
  if (frame.meaning.does_any(mpi::kDoesAccess)) place = &in_epoch_;
  const bool attaches = plain == mpi::kMPI_Buffer_attach || plain == mpi::kMPI_Win_attach ||
                        plain == mpi::kMPI_Comm_attach_buffer ||
                        plain == mpi::kMPI_Session_attach_buffer;
  const bool begins = frame.info.name.ends_with("_begin") || frame.info.name.ends_with("_begin_c");
  if (attaches || begins || frame.info.group == mpi::CallGroup::kAttr) place = &attached_;
  if (plain == mpi::kMPI_Alloc_mem && !frame.signature.failed())
    allocated_.push_back(*static_cast<void**>(frame.arguments->slot(2).address));
  if (place == nullptr) return;
  for (Arena::Block& block : frame.blocks) place->push_back(std::move(block));
}

base::Status Engine::call(Frame& frame) {
  take_turn_in_epoch(frame, true);
  const std::optional<int> rc = [&] {
    const OthersMayGo others(state_);
    places_of_calls_.tell(frame.signature.site);
    return reissue(frame.info.id, *frame.arguments);
  }();
  if (!rc) {
    if (frame.meaning.reissue == mpi::Reissue::kLocal) {
      ++counts_.left_out;
      return base::Done{};
    }
    return wrong(frame, "this MPI has no such function");
  }
  take_turn_in_epoch(frame, false);
  if (served(frame.info.id) == Served::kByAnother) ++counts_.by_another;
  return judge(frame, *rc);
}

// A call that failed fails again.
base::Status Engine::judge(const Frame& frame, int rc) const {
  if ((rc != MPI_SUCCESS) == frame.signature.failed()) return base::Done{};
  if (rc == MPI_SUCCESS) return base::Done{};  // better than recorded
  if (frame.meaning.reissue == mpi::Reissue::kLocal) return base::Done{};
  return wrong(frame, "MPI says \"" + error_text(rc) + "\", in the trace it was good");
}

}  // namespace refrain::replay
