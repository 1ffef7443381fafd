// Player: answers the MPI calls of one rank that runs alone, from its trace and its message log.
//
// One per process, made at the first call. A call goes through it in this order: which recorded
// call is it (calls.cc); are function, call site and inputs the recorded ones (guard.cc); write the
// recorded outputs (outputs.cc); what the process really has of its own: datatypes (types.cc),
// attributes and error handlers (callbacks.cc), memory (local.cc); complete requests and fill
// buffers from the log (requests.cc). What the trace says of a signature is worked out once
// (plan.h, plans.cc), and most calls are done with that (short_way.cc).
//
// Budget: 600 instructions for a call, and 1.8 for a byte that a buffer is filled with (0.5 ns);
// a call whose signature was met before allocates nothing. `./dev bench solo` counts them.
//
// The first difference between program and trace ends the process with a line on stderr and exit
// status 1. Threads: any; one lock, held also while functions of the program are called.
//
// After "PHANTOM" (2010), section 4.2: a rank is replayed alone, from logged messages.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "mpi/call_meaning.h"
#include "refrain/calls.h"
#include "replay/solo/entry.h"
#include "replay/solo/given.h"
#include "replay/solo/message_source.h"
#include "replay/solo/objects.h"
#include "replay/solo/plan.h"
#include "replay/solo/sites.h"
#include "replay/solo/together.h"
#include "replay/solo/units.h"

namespace refrain::events {
struct MessageEnd;
struct Op;
}  // namespace refrain::events

namespace refrain::replay::solo {

struct Inside;
struct RealEnd;
struct Shadow;

struct Options {
  std::string trace;
  Rank rank = 0;
  // The group that runs together; as many ranks as there are processes. -1: the rank is alone.
  Rank first = -1, last = -1;
  std::string units;     // file for the times between calls; empty: none
  std::string together;  // see Together::open()
};

struct Counts {
  uint64_t calls = 0, beside = 0;  // from the trace; answered without it
  uint64_t filled = 0, filled_bytes = 0, missing = 0;
  uint64_t file_writes = 0;
  // Calls inside of functions of the program that are not called here: reduction operators, and
  // functions of attributes where MPI copies communicators for its own use.
  uint64_t of_operators = 0, of_attributes = 0;
};

class Player {
 public:
  // The one of this process. Ends the process where the trace cannot be read.
  static Player& get();

  // `made`: get(), where it is known to be there; null: it may be the first call.
  static uint64_t answer(Player* made, Entry& entry, uint64_t* words, void* return_address);
  // The same for an entry point of Fortran that reaches no C function: `value_bytes` of attributes.
  uint64_t answer_fortran(Entry& entry, uint64_t* words, uintptr_t site, size_t value_bytes);
  double wtime();
  Objects& objects() { return objects_; }
  // Ranks that a rank of the communicator exchanges with in a collective call.
  uint64_t partners_of(uint64_t comm);
  // A generalised request whose functions are Fortran's.
  void mark_fortran(uint64_t request);
  // At the end of the process.
  void finish();

 private:
  struct Record {
    const Signature* signature = nullptr;
    Plan* plan = nullptr;
    uint64_t seq = 0;
    uint64_t begin_ns = 0, end_ns = 0;  // in place; 0 where it is not known, or nobody asks
  };
  struct Thread {
    uint32_t location = 0;
    std::optional<Cursor> cursor;
    std::deque<Record> ahead;  // taken from the cursor, not answered yet
    uint64_t answered = 0;     // calls of the trace, until the last one that was taken
    uint64_t taken = 0;
    uint32_t depth = 0;
    std::atomic<bool> has_ended{false};
    Units units;
  };
  struct Frame {
    const mpi::CallInfo& info;
    const mpi::CallMeaning& meaning;
    Given given;
    Thread& thread;
    uintptr_t site = 0;
    const Signature* signature = nullptr;  // null: not in the trace
    Plan* plan = nullptr;                  // of the signature
    uint64_t seq = 0;
    uint64_t end_ns = 0;
    uint64_t result = 0;
    size_t fortran_value_bytes = 0;
    bool is_inside = false;  // its data come from a rank of the group

    bool ok() const { return signature == nullptr || !signature->failed(); }
    const Value& value(size_t i) const;
  };

  explicit Player(const Options& options);
  uint64_t answer_of_fortran(Entry& entry, uint64_t* words, uintptr_t site);
  void refuse_unknown();
  void print_summary() const;
  [[noreturn]] void end(int status, const std::string& line) const;
  uint64_t answer_at(Entry& entry, uint64_t* words, uintptr_t site, bool is_inner,
                     size_t value_bytes);

  // ---- calls.cc ----
  Thread& thread_of(Entry& entry, uint64_t* words, uintptr_t site);
  bool fits(const Record& record, Entry& entry, uint64_t* words, uintptr_t site);
  bool begins_with(uint32_t location, Entry& entry, uint64_t* words, uintptr_t site);
  bool is_left_out(const Entry& entry, Frame& frame);
  static Thread* known_thread() { return g_thread; }  // null: it has called nothing yet
  bool read(Thread& thread, Record& record);
  bool fill(Thread& thread, size_t count);
  static bool is_call(const Record& record, mpi::CallId call, uintptr_t site);
  size_t take(Frame& frame);
  size_t find_ahead(Frame& frame);
  void answer_from_trace(Frame& frame);
  void wait_for_turn(std::unique_lock<std::recursive_mutex>& lock, const Thread& thread);
  void first_look(Entry& entry) const;
  void tell_changed();
  void wait_as_in_place(const Frame& frame);
  void end_inner(Frame& frame, size_t inner, uint64_t taken_before);

  // ---- plans.cc ----
  Plan& plan_of(const Signature& signature) {
    Plan* const known = signature.id < plans_.size() ? plans_[signature.id].get() : nullptr;
    return known != nullptr ? *known : make_plan(signature);
  }
  Plan& make_plan(const Signature& signature);
  void plan_words(const Given& given, Plan& plan);
  void plan_checks(const Signature& signature, Plan& plan);
  Check plan_check(const mpi::ParamInfo& param, const Value& value);
  bool plan_array(const mpi::ParamInfo& param, const Value& value, Check& check, Plan& plan);
  void plan_puts(const Signature& signature, Plan& plan);
  Put plan_put(const Signature& signature, size_t i, Plan& plan);
  StatusPlan plan_status(const Value& value) const;
  void plan_requests(const Signature& signature, Plan& plan);
  bool is_flat(const Signature& signature, const mpi::BufferInfo& buffer);
  bool is_as_planned(const Given& given, const Plan& plan, const Check& check);
  static void put_as_planned(const Given& given, const Plan& plan, const Put& put);

  // ---- short_way.cc ----
  struct Short {
    uint64_t result = 0;
    bool is_done = false;  // false: nothing was done, the call is still the next one
  };
  Short answer_short(const Entry& entry, uint64_t* words, uintptr_t site);
  Object& make_request(const Plan& plan, SignatureId signature);
  static void plan_short_way(Plan& plan);
  bool is_as_recorded(const Entry& entry, const uint64_t* words, uintptr_t site, const Plan& plan,
                      Object*& request);
  [[gnu::noinline]] bool are_others_as_planned(const Entry& entry, const uint64_t* words,
                                               const Plan& plan);
  [[gnu::noinline]] static void leave_ahead(Thread& thread, const Call& call, Plan& plan);
  [[gnu::noinline]] static void skip_units(Thread& thread, uint64_t calls);
  [[gnu::noinline]] Object* put_short(const Entry& entry, uint64_t* words, const Plan& plan,
                                      const Signature& signature, Object* request);
  static Frame frame_of(const Entry& entry, uint64_t* words, uintptr_t site, const Record& record);
  bool fill_short(const uint64_t* words, const Plan& plan, std::byte* at, uint64_t seq);
  [[gnu::noinline]] void finish_short(const Entry& entry, uint64_t* words, uintptr_t site,
                                      const Record& record, Object* request);
  void note_request(const Entry& entry, uint64_t* words, uintptr_t site, const Record& record,
                    Object& request);
  [[gnu::noinline]] void fill_long(const Entry& entry, uint64_t* words, uintptr_t site,
                                   const Record& record);

  // ---- guard.cc ----
  void guard(const Frame& frame);
  // Ends the process; while is_trying_, only remembers that there is a difference.
  void differ(const Frame& frame, const std::string& what);
  void differ(const Frame& frame, const std::string& parameter, const std::string& here,
              const std::string& recorded);
  void guard_one(const Frame& frame, size_t i);
  void guard_array(const Frame& frame, size_t i, const Value& value);
  bool same_number(const Frame& frame, size_t i, const Value& value, int64_t given) const;
  bool same_handle(const Frame& frame, mpi::ParamKind kind, const Value& value, uint64_t given);
  std::string text_of(const Value& value) const;
  std::string text_of(mpi::ParamKind kind, uint64_t key);

  // ---- outputs.cc ----
  std::optional<uint64_t> constant(uint32_t id) const;
  std::optional<uint64_t> predefined(DefinitionId definition);
  std::optional<int64_t> number_of(const Value& value) const;
  int64_t object_number(mpi::ParamKind kind, const Value& value);
  uint64_t handle_of(const Frame& frame, mpi::ParamKind kind, const Value& value);
  void put_outputs(Frame& frame);
  void put_planned(Frame& frame, const Put& put);
  void put_one(Frame& frame, size_t i);
  void put_status(void* status, const Value& value) const;
  void put_result(Frame& frame);
  void release_freed(Frame& frame);

  // ---- requests.cc ----
  void places_of(const Frame& frame, std::vector<Place>& out);
  const std::vector<Place>& places_of_record(const Frame& frame,
                                             const MessageSource::Record& record);
  void add_places(const Frame& frame, const mpi::BufferInfo& buffer, std::vector<Place>& out);
  void keep_places(Frame& frame);
  void complete(Frame& frame);
  void free_request(Frame& frame, size_t param);
  static std::vector<size_t> finished(const Signature& signature, const mpi::CallInfo& info,
                                      size_t param);
  void end_request(Frame& frame, size_t param, size_t k, bool takes);
  void fill_buffers(Frame& frame);
  void fill_buffer(Frame& frame, const MessageSource::Record& record);
  std::byte* flat_place(const Frame& frame, const MessageSource::Record& record);
  void fill_flat(std::byte* at);
  void fill_places(const std::vector<Place>& places, uint64_t skip);
  void take(std::byte* at, uint64_t bytes);
  size_t status_index(const Frame& frame, size_t param, uint64_t request) const;
  void put_logged_status(const Frame& frame, uint64_t where,
                         const format::messages::StatusFields& fields);
  void put_window(const MessageSource::Record& record);
  bool fills(const Frame& frame) const;
  const Object* split_file(const Frame& frame);
  void keep_pending(Frame& frame);
  [[noreturn]] void end_at_damage();
  std::string messages_path() const;
  Object* request_at(const Frame& frame, size_t param, size_t k);

  // ---- own_block.cc ----
  int plan_own_block(const Signature& signature, const Plan& plan) const;
  Place own_block(const Frame& frame, const mpi::BufferInfo& buffer);
  void keep_own_block(const Frame& frame);
  void put_own_block(const Frame& frame, bool is_logged);

  // ---- inside.cc: with the other ranks of a group ----
  void open_group(Rank first, Rank last);
  void start_group();
  void abort_group(int status) const;
  void end_group();
  void call_inside(Frame& frame);
  std::optional<RealEnd> end_at(const Frame& frame, bool sends);
  const Shadow* shadow_of(const Frame& frame) const;
  std::optional<std::pair<int64_t, int64_t>> taken_later(const Frame& frame, SignatureId request);
  static void post(RealRequest& request);
  static void wait_for(RealRequest& request);
  std::shared_ptr<RealRequest> real_message(const Frame& frame, const Shadow* shadow,
                                            const events::MessageEnd& with, bool sends);
  void force(Frame& frame, const Shadow* shadow, SignatureId request, events::MessageEnd& with);
  void begin(Frame& frame, const std::shared_ptr<RealRequest>& real, bool makes_request);
  void start_again(const Frame& frame, const events::Op& op);
  void exchange(Frame& frame, const events::Op& op, const Shadow* shadow);
  void complete_inside(const Frame& frame);
  void collective_inside(Frame& frame, const Shadow& shadow);  // inside_collectives.cc
  void not_kept(const Frame& frame, const MessageSource::Record& record);

  // ---- types.cc ----
  const mpi::TypeMap* type_of(uint64_t key);
  void note_types();
  void make_type(Frame& frame);
  bool make_type_beside(Frame& frame);
  void pack(Frame& frame);
  void unpack(Frame& frame);

  // ---- callbacks.cc ----
  void attributes(Frame& frame);
  void get_attribute(Frame& frame);
  void set_attribute(Frame& frame);
  void delete_attribute(Frame& frame);
  void copy_attributes(Frame& frame);
  void delete_attributes(mpi::ParamKind kind, uint64_t key);
  void make_keyval(Frame& frame);
  int call_copy(mpi::ParamKind kind, const Object& keyval, uint64_t key, void* in, void** out,
                int* flag);
  void call_delete(mpi::ParamKind kind, uint64_t keyval_key, uint64_t key, void* value);
  void handlers(Frame& frame);
  void handle_error(Frame& frame);
  void call_handler(const Object& subject, int code);
  void inherit_handler(Frame& frame);
  void general_request(Frame& frame);
  enum class General { kQuery, kFree, kCancel };
  void call_general(Object& request, const Callback& callback, General which);

  // ---- local.cc ----
  void do_by_hand(Frame& frame);
  std::optional<Communicator> communicator_of(uint64_t comm);
  bool answer_beside(Frame& frame);
  bool topology_beside(Frame& frame);
  std::optional<uint64_t> length_in_next(Thread& thread, std::string_view param);
  void memory(Frame& frame);
  void windows(Frame& frame);
  bool statuses(Frame& frame);
  bool conversions(Frame& frame);

  static thread_local constinit Thread* g_thread;
  Options options_;
  pid_t pid_;
  std::recursive_mutex mutex_;
  std::optional<Trace> trace_;
  std::optional<RankReader> reader_;
  std::optional<Sites> sites_;
  Objects objects_;
  MessageSource messages_;
  Counts counts_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::unique_ptr<Plan>> plans_;  // by signature
  std::vector<Place> places_;                 // of the call that is being answered
  std::vector<std::byte> own_block_;          // packed; of the same call
  std::vector<std::byte> logged_block_;       // the same, as it is in the log
  std::vector<std::optional<uint64_t>> constants_;
  std::unordered_map<DefinitionId, std::optional<uint64_t>> predefined_;
  std::unordered_map<uint64_t, mpi::TypeMap> predefined_types_;
  std::vector<std::pair<void*, int64_t>> attached_;
  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<int64_t>> attribute_places_;
  std::map<std::pair<uint64_t, int64_t>, std::unique_ptr<std::byte[]>> others_memory_;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<Place>> fetching_;  // by thread and call
  uint64_t attributes_set_ = 0;
  uint64_t callbacks_ = 0, operators_ = 0;
  Together together_;
  std::condition_variable_any turn_;
  bool is_over_ = false, has_finished_ = false;
  bool is_plain_ = false;  // alone, with one thread in the trace, and not over: see short_way.cc
  bool is_trying_ = false, has_difference_ = false;
  Inside* inside_ = nullptr;  // never destroyed, as the Player; null: the rank is alone
};

}  // namespace refrain::replay::solo
