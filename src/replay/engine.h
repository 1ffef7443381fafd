// Engine: makes the calls of one rank of a trace again.
//
// It walks the rank's calls in order. Inputs are the recorded ones; handles are those that the
// earlier replayed calls gave out. What may end in several ways is made to end as recorded: see
// forced.cc and completion.cc. Everything about a rank is in its Engine; there are no globals, as
// under SMPI the ranks of a job are threads of one process. Calls that MPI answers otherwise than
// in the trace end the replay with an error that names them.
//
// A rank of which several threads were recorded has an Engine for each, in a system thread of its
// own, and one RankState for all (rank_state.h). The Engine of thread 0 makes the others when MPI
// is there, and waits for them before MPI_Finalize (worker_threads.cc). Idea: ScalaReplay, as
// ACURDION (section V) uses it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "events/look_ahead.h"
#include "events/op.h"
#include "events/told_neighbours.h"
#include "mpi/call_meaning.h"
#include "refrain/calls.h"
#include "replay/arguments.h"
#include "replay/memory.h"
#include "replay/original_places.h"
#include "replay/pace/pace.h"
#include "replay/plan/left_ends.h"
#include "replay/plan/tags.h"
#include "replay/prefix/prefix.h"
#include "replay/progress.h"
#include "replay/rank_state.h"

namespace refrain::replay {

class Engine;
struct EngineOptions {
  Pace::Options pace;
  std::string scratch;               // folder of files; empty: no file can be opened
  std::vector<mpi::CallId> skipped;  // functions whose calls are left out
  uint64_t limit_bytes = 0;          // of memory
  // Of the process, which may be that of other ranks, too.
  std::shared_ptr<FixedPages> pages = std::make_shared<FixedPages>();
  // Of a trace that ends early (prefix.h): so many calls, then these messages, which nobody
  // receives, and these receives, which nobody completes.
  uint64_t most_calls = UINT64_MAX;
  std::vector<Prefix::Message> in_transit;
  std::set<SignatureId> arriving;
  // What this process is given when it is started for the trace of a job that the program started;
  // "--trace" and the trace follow.
  std::vector<std::string> words_of_started;
  std::string trace_path;  // absolute
  uint64_t repeats = 1;    // of all between MPI_Init and MPI_Finalize
  uint64_t seed = 1;
  uint64_t jitter_ns = 0;                     // a random time up to this passes before each call
  std::function<void(const Engine&)> at_end;  // before MPI_Finalize, while ranks can still talk
  // A thread other than the first has failed: says so and ends the job.
  std::function<void(const base::Error&)> on_failure;
};

class Engine {
 public:
  // `trace` and `progress` outlive it.
  Engine(const Trace& trace, Rank rank, EngineOptions options, Progress& progress);
  ~Engine();
  Engine(const Engine&) = delete;

  // All calls of the rank.
  base::Status run();
  // Of all threads of the rank, once they have ended.
  const Counts& counts() const { return counts_; }
  uint64_t wanted_ns() const { return pace_.wanted_ns() + state_.wanted_ns; }
  uint64_t spent_ns() const { return pace_.spent_ns() + state_.spent_ns; }
  // From the end of MPI_Init to the begin of MPI_Finalize, of each repeat; with sessions alone,
  // from the end of the first MPI_Session_init to the begin of the last MPI_Session_finalize.
  const std::vector<double>& seconds() const { return seconds_; }
  // The same as recorded; 0 where the trace has no times of single calls.
  double recorded_seconds() const { return recorded_s_; }
  // All ranks of the job, while `at_end` is called.
  MPI_Comm job() const;

 private:
  using ObjectKey = RankState::ObjectKey;
  using Request = RankState::Request;
  // Stands for a block of the program's heap (`record --buffers on`).
  struct HeapBlock {
    Arena::Block block;
    uint64_t filled = 0;  // bytes
  };
  // A call while it is made.
  struct Frame {
    const events::StagedCall& staged;
    const Signature& signature;
    const mpi::CallInfo& info;
    const mpi::CallMeaning& meaning;
    std::unique_ptr<Arguments> arguments;
    std::vector<Arena::Block> blocks;
  };

  Engine(const Engine& first, uint32_t thread);  // of another thread of the rank

  // ---- worker_threads.cc ----
  void begin_threads();
  base::Status end_threads();
  void work();
  base::Status wait_for_others(uint64_t seq);
  void note_returned(uint64_t seq);
  RankState::Made& made_with(const Thing& thing);
  RankState::Made& made_with(const ObjectKey& object);
  Request* find_request(const Value& value);

  void yield();
  void wait_at_random();
  base::Error wrong(const Frame& frame, const std::string& what) const;
  base::Status run_once();
  base::Status step(const events::StagedCall& staged);
  bool leaves_out(const events::Op& op) const;
  base::Status make(Frame& frame);  // by the generated switch
  base::Status call(Frame& frame);  // and looks at what it returned
  base::Status test_window(Frame& frame);
  void keep_memory(Frame& frame);
  base::Status judge(const Frame& frame, int rc) const;

  // ---- spawn.cc ----
  base::Status spawn(Frame& frame);

  // ---- early_end.cc ----
  void receive_in_transit();
  void let_requests_go();
  base::Status end_early();

  // ---- lifetime.cc ----
  void note_seconds();
  void note_recorded(uint64_t end_ns);
  void note_session(const Frame& frame);
  void end_sessions();
  base::Status start_mpi(Frame& frame);
  base::Status finalize(Frame& frame);
  void hold_session();
  void release_session();
  bool make_mark(const Signature& signature);

  // ---- values.cc: from recorded values to arguments, and what came of them ----
  base::Status prepare(Frame& frame);
  base::Status prepare_one(Frame& frame, size_t i);
  base::Result<int64_t> number_of(const Frame& frame, const Value& value) const;
  base::Result<int64_t> handle_of(const Frame& frame, mpi::ParamKind kind, const Value& value);
  ObjectKey object_key(mpi::ParamKind kind, const Value& value) const;
  uint32_t predefined(DefinitionId definition);
  base::Status fill_numbers(const Frame& frame, const Value& value, Slot& slot) const;
  base::Status fill_handles(const Frame& frame, mpi::ParamKind kind, const Value& value,
                            Slot& slot);
  void prepare_output(const Frame& frame, size_t i, Slot& slot) const;
  base::Status prepare_status(const Frame& frame, size_t i, Slot& slot);
  void* stand_in_function(const Frame& frame, size_t i) const;
  void bind_outputs(Frame& frame);
  void bind(const Frame& frame, mpi::ParamKind kind, const Value& entry, const Value& exit,
            uint64_t key, Frame& owner);
  void note_statuses(const Frame& frame);

  // ---- foreign.cc: what is never taken from a trace ----
  base::Status prepare_text(Frame& frame, size_t i, Slot& slot);
  uint64_t hint_free_info(const Frame& frame, const Value& value);
  void note_port(const Frame& frame);
  std::string port_of(const std::string& recorded);
  base::Status prepare_file(const Frame& frame, const std::string& recorded,
                            const std::string& path);
  uint64_t bytes_of_file(const std::string& recorded);
  int rank_in(const Frame& frame) const;

  // ---- definitions.cc: objects whose calls are not in the trace ----
  base::Result<int64_t> make_from_definition(const Frame& frame, mpi::ParamKind kind,
                                             const Value& value);
  base::Result<int64_t> make_datatype(const Frame& frame, DefinitionId id);
  void free_defined_types();
  bool is_as_recorded(uint64_t comm, DefinitionId id) const;
  base::Result<int64_t> make_comm(const Frame& frame, DefinitionId id);

  // ---- topologies.cc ----
  uint64_t with_topology(const Frame& frame, uint64_t plain);
  uint64_t with_recorded_neighbours(const Frame& frame, DefinitionId definition, uint64_t key);

  // ---- another_mpi.cc: what this MPI lacks ----
  int64_t tag_of(int64_t recorded);
  base::Result<int64_t> predefined_type(const Frame& frame, DefinitionId id, uint32_t constant);

  // ---- buffers.cc ----
  base::Status give_buffers(Frame& frame);
  base::Status give_buffer(Frame& frame, const mpi::BufferInfo& buffer, bool in_place);
  struct Span {
    int64_t low = 0, high = 0;
    bool is_known = true;
  };
  Span span_of(const Frame& frame, const mpi::BufferInfo& buffer) const;
  base::Status give_block(Frame& frame, Slot& slot, const Span& span, bool fresh);
  int64_t room_behind();
  bool give_heap(const Value& value, Slot& slot, const Span& span, bool fresh);

  // ---- attached.cc ----
  base::Status attach_memory(Frame& frame, Slot& slot, const Value& value);
  base::Status detach_memory(Frame& frame, Slot& slot, const Value& value);
  void move_target(Frame& frame);
  void note_window(const Frame& frame, const ObjectKey& window, bool is_freed);

  // ---- forced.cc ----
  base::Status force(Frame& frame);
  bool taken_by_another(const Frame& frame, SignatureId request, int64_t& source, int64_t& tag);
  void force_receive(Frame& frame, std::string_view source, std::string_view tag);
  base::Status force_probe(Frame& frame);
  void force_amount(Frame& frame);
  void force_cancelled(Frame& frame);
  int64_t unused_tag();

  // ---- completion.cc ----
  struct Waited {
    SignatureId id = 0;
    Request* request = nullptr;  // null: MPI_REQUEST_NULL, or not known
    bool is_unknown = false;
  };
  base::Status complete(Frame& frame);
  std::vector<Waited> waited_for(const Frame& frame);
  base::Status wait_quietly(uint64_t key);
  uint64_t endless(size_t i);
  uint64_t complete_one();
  void release(const Waited& waited);
  base::Status end_endless();
  base::Status ask_for_part(Frame& frame);
  uint64_t endless_partitioned(int64_t parts);
  void end_partitioned();
  MPI_Comm own_comm();

  // ---- epochs.cc ----
  void take_turn_in_epoch(const Frame& frame, bool is_before);

  // ---- persistent.cc ----
  void note_anybody(const Frame& frame, Request& request);
  uint64_t receive_from(RankState::Anybody& all, int source, int tag);
  void ask_for_recorded(const Frame& frame, const Waited& started);
  void let_others_go(Request& request);
  base::Status start_requests(Frame& frame);

  Trace trace_;
  Rank rank_;
  uint32_t thread_ = 0;
  EngineOptions options_;
  Progress& progress_;
  std::unique_ptr<RankState> own_state_;  // of thread 0; null: it is another thread
  RankState& state_;
  RankReader reader_;
  events::CommTable comms_;
  events::Decoder::Places places_;
  std::unique_ptr<events::Decoder> decoder_;
  Pace pace_;
  OriginalPlaces places_of_calls_{trace_};
  RankState::Made& own_ = state_.made_by(thread_);
  std::map<Thing, uint32_t> makers_;  // of what this thread uses and another one has made
  size_t next_maker_ = 0;             // of state_.order
  // What all threads of the rank share: see rank_state.h.
  Arena& arena_ = state_.arena;
  Counts& counts_ = state_.counts;
  std::unordered_map<DefinitionId, uint32_t>& predefined_ = state_.predefined;
  std::map<std::string, std::string>& names_ = state_.names;
  std::vector<Arena::Block>& in_epoch_ = state_.in_epoch;
  std::vector<Arena::Block>& attached_ = state_.attached;
  std::vector<void*>& allocated_ = state_.allocated;
  std::map<std::pair<int, int>, MPI_Status>& statuses_ = state_.statuses;
  MPI_Status& made_status_ = state_.made_status;
  uint64_t& held_session_ = state_.held_session;
  uint64_t& empty_info_ = state_.empty_info;
  // Requests that a thread uses in the place of others are its own.
  std::vector<uint64_t> endless_;
  std::vector<std::pair<uint64_t, uint64_t>> endless_parts_;  // receive and send
  std::vector<int> parts_of_endless_;
  std::unique_ptr<std::map<uint64_t, int64_t>> addresses_;  // of memory to attach, by call
  uint64_t quiet_self_ = 0;
  int64_t unused_tag_ = -1, room_behind_ = -1;
  plan::LeftEnds left_ends_{trace_, options_.skipped, comms_};
  std::unique_ptr<plan::TagMap> tags_;                       // made at the first long one
  std::unique_ptr<events::ToldNeighbours> told_neighbours_;  // made at the first graph
  std::map<DefinitionId, uint64_t> equal_types_;
  std::map<std::string, uint64_t> file_bytes_;  // by recorded path
  std::map<int64_t, HeapBlock> heap_;           // by the recorded id
  bool has_started_ = false, is_last_ = true;
  size_t next_wait_ = 0;  // of state_.order
  std::mt19937_64 random_{options_.seed * 1000003 + static_cast<uint64_t>(rank_) * 1009 + thread_};
  uint64_t began_ns_ = 0;     // of run_clock()
  bool has_session_ = false;  // without MPI_Init, in this repeat
  uint64_t session_ended_ns_ = 0, recorded_session_end_ns_ = 0;
  uint64_t job_ = 0;  // a communicator of the engine's own, where there is no MPI_COMM_WORLD
  std::vector<double> seconds_;
  uint64_t recorded_begin_ns_ = 0;  // the end of MPI_Init in the trace
  double recorded_s_ = 0;
};

}  // namespace refrain::replay
