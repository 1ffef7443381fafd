// CallScope: one MPI call of the program on its way through a wrapper.
//
//   program -> MPI_Send (wrapper) -> CallScope -> real MPI_Send
//                                      |  end of call
//                                      v
//              Encoder: parameters -> signature -> terminal -> grammar of the location
//
// Laws: never fails, never changes an argument, costs a branch where the call is not the program's:
// calls that the MPI library makes inside a call are not recorded, calls that a callback of the
// program makes inside a call are (told apart by the caller's module).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "mpi/call_table.h"
#include "mpi_runtime/fortran_site.h"
#include "tracer/filter/control.h"
#include "tracer/state/process.h"
#include "tracer/wrap/recorded_thread.h"

namespace refrain::tracer {

// A parameter as one of the words that CallScope::repeats() compares.
template <class T>
uint64_t word(T v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<uint64_t>(v);
  else
    return handle_key(v);
}

class CallScope {
 public:
  // Budget: 20 instructions for a call of the program.
  [[gnu::always_inline]] CallScope(mpi::CallId call, void* return_address, void* frame)
      : location_(as_recorded(known_location())),
        address_(reinterpret_cast<uintptr_t>(return_address)),
        frame_(reinterpret_cast<uintptr_t>(frame)),
        call_(call) {
    if (has_slow_path_reason(slow_path_reasons::kAnything) || location_ == nullptr ||
        location_->depth != 0 || refrain_fortran_site.address != nullptr) [[unlikely]]
      enter();
    else
      open();
  }
  ~CallScope() {
    if (state_ == State::kOutermost) [[likely]] {
      location_->depth = 0;
      location_->spool.left(0);
    } else if (location_ != nullptr) {
      leave();
    }
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  bool active() const { return state_ != State::kPassed; }
  // Recorded, and nothing around it is unusual: not reached from Fortran, no filter, no pause.
  bool is_plain() const { return state_ == State::kOutermost; }
  RecordedThread& location() const { return *location_; }
  Process& process() const { return *location_->process; }

  // A message log has something to write when the call is over.
  void will_log() {
    if (state_ != State::kOutermost) return;
    state_ = State::kOther;
    fortran_.address = nullptr;
    outer_call_ = 0;
  }

  // The call is handled, so that its objects are known, but stays out of the record.
  void leave_out(bool filtered) { mark(left_out(filtered)); }
  // The same in two steps, of which the first needs no CallScope: what it was found to be.
  void mark(mpi::CallId marks) { call_ = static_cast<mpi::CallId>(call_ | marks); }
  static constexpr mpi::CallId left_out(bool filtered) {
    return kLeftOutCall | (filtered ? kFilteredCall : 0);
  }
  // Whether the call is recorded depends on a size that is not known yet: see held_calls.h.
  static constexpr mpi::CallId held() { return kUndecidedCall; }
  bool is_left_out() const { return (call_ & kLeftOutCall) != 0; }
  mpi::CallId call() const { return call_ & (kUndecidedCall - 1); }

  [[gnu::always_inline]] void begin() {
    location_->memos.fetch(location_->grammar.expected());
    begin_ticks_ = location_->process->clock.entry_ticks(location_->depth);
    location_->spool.entered(call(), begin_ticks_);
  }
  [[gnu::always_inline]] void end() { end_ticks_ = location_->process->clock.ticks(); }
  uint64_t begin_ticks() const { return begin_ticks_; }

  // What a handle stands for before a call that may free or change it.
  template <class H>
  Captured capture(format::DefinitionKind kind, H h) {
    return location_->encoder.lookup(kind, handle_key(h));
  }
  // The same before a call that frees the object: another thread may be given the same handle value
  // before this call is over.
  template <class H>
  Captured capture_to_free(format::DefinitionKind kind, H h) {
    const Captured c = capture(kind, h);
    location_->encoder.set_ending(kind, c, true);
    return c;
  }
  void not_released(format::DefinitionKind kind, const Captured& c) {
    location_->encoder.set_ending(kind, c, false);
  }
  // After success: the handle is gone, its id is free again.
  void released(format::DefinitionKind kind, const Captured& c) {
    location_->encoder.release(kind, c);
  }

  // Starts the signature. From here to commit() MPI calls are the recorder's own.
  Encoder& encoder(int rc);
  // Ends it: looks up the terminal, counts the duration, extends the grammar. Returns the terminal.
  uint32_t commit();

  // The short way for a call that is what the grammar expects, from the same place, with the same
  // `words` as last time: its arguments and scalar results, which fix the signature as long as no
  // handle was made or freed since. True: recorded, nothing else to do. False: go the long way, and
  // memorise() the words after commit(). See call_memo.h.
  template <class... W>
  [[gnu::always_inline]] bool repeats(W... words) {
    CallMemo* m = expected_memo();
    if (m == nullptr || !m->same_words(std::index_sequence_for<W...>(), words...)) return false;
    again(*m);
    return true;
  }
  [[gnu::always_inline]] bool repeats_array(const uint64_t* words, size_t count) {
    CallMemo* m = expected_memo();
    if (m == nullptr || !m->same_words(words, count)) return false;
    again(*m);
    return true;
  }
  // The same for a call that makes a request.
  template <class... W>
  [[gnu::always_inline]] bool repeats_request(MPI_Request* request, W... words) {
    CallMemo* m = expected_memo();
    if (m == nullptr || !m->same_words(std::index_sequence_for<W...>(), words...) ||
        !add_request(*m, request))
      return false;
    again(*m);
    return true;
  }
  // The way between the two, for a call that the grammar does not expect: whether one with the same
  // words was made before. Not on the path of every call.
  bool recurs_array(const uint64_t* words, size_t count, MPI_Request* request = nullptr);
  template <class... W>
  bool recurs(W... words) {
    const uint64_t all[] = {static_cast<uint64_t>(words)...};
    return recurs_array(all, sizeof...(W));
  }
  template <class... W>
  bool recurs_request(MPI_Request* request, W... words) {
    const uint64_t all[] = {static_cast<uint64_t>(words)...};
    return recurs_array(all, sizeof...(W), request);
  }
  // One way or the other.
  template <class... W>
  [[gnu::always_inline]] bool was_made(W... words) {
    return repeats(words...) || recurs(words...);
  }
  void memorise_array(const uint64_t* words, size_t count);
  template <class... W>
  void memorise(W... words) {
    const uint64_t all[] = {static_cast<uint64_t>(words)...};
    memorise_array(all, sizeof...(W));
  }

 private:
  // Bits of call_ for a call that is left out: it is then none that a memo could stand for.
  static constexpr mpi::CallId kLeftOutCall = 0x8000, kFilteredCall = 0x4000;
  // The same under the filter by size: it may have to wait for its turn.
  static constexpr mpi::CallId kSizedCall = 0x2000, kUndecidedCall = 0x1000;

  enum class State : uint8_t {
    kPassed,     // not to be recorded
    kOutermost,  // recorded; no call is under way around it, and nothing is unusual
    kOther,      // recorded; inside of another one, reached from Fortran, or perhaps left out
  };

  void enter();
  void enter_slowly();
  bool is_to_record(bool nested);
  bool is_beyond_memory();
  uint32_t leave_unrecorded();
  void leave();
  bool was_left() const;
  void close_left();
  bool is_from_callback();
  bool is_from_library() const;
  // What stands beside the saved frame pointer of an open call: its return address, on AArch64
  // perhaps with a signature in it. Elsewhere nothing is known of that word.
  uintptr_t word_above([[maybe_unused]] uintptr_t frame) const {
#if defined(__x86_64__)
    return address_;
#elif defined(__aarch64__)
    return reinterpret_cast<const uintptr_t*>(frame)[1];
#else
    return 0;
#endif
  }
  void open() {
    Location& l = *location_;
    l.depth = 1;
    l.open_frame = frame_;
    l.open_return = word_above(frame_);
    l.open_call = call_;
    state_ = State::kOutermost;
  }
  // The memo of the terminal that the grammar expects, if this call may be it.
  // On the path of every call; always inline, as the compiler inlines less in a larger unit.
  [[gnu::always_inline]] CallMemo* expected_memo() {
    const Location& l = *location_;
    const uint64_t guess = l.grammar.expected();
    CallMemo* m = l.memos.find(guess);
    if (m == nullptr || m->call != call_ || !m->path->still_holds(address_, frame_) ||
        m->path->definition != m->path_definition ||
        m->handle_changes != l.process->handle_changes.load(std::memory_order_relaxed))
      return nullptr;
    return m;
  }
  bool add_request(const CallMemo& memo, MPI_Request* request);
  // Where the call comes from; sets path_.
  void find_path();
  bool is_from_fortran() const { return state_ == State::kOther && fortran_.address != nullptr; }
  // The end of a call that has its terminal, on the longer ways.
  void close_call(uint64_t ticks);
  void again(CallMemo& memo);
  void again_beside(CallMemo& memo, uint64_t ticks);
  // Where times are kept; the gap before the call, SpoolLog::kNoGap where those are not.
  uint64_t keep_time(Location& l, uint32_t terminal);
  // If it is time. The call is recorded already, should the process die.
  static void compare_clocks(Location& l, mpi::CallId call, uint32_t terminal);
  void again_slowly(uint64_t ticks);
  bool must_wait() const;
  uint32_t commit_later();
  uint64_t duration() const { return end_ticks_ > begin_ticks_ ? end_ticks_ - begin_ticks_ : 0; }
  void count_time(Location& l, uint64_t ticks) const {
    if (l.depth != 1) return;
    l.in_mpi_ticks += ticks;
    l.last_end_ticks = end_ticks_;
  }

  RecordedThread* location_;
  // Set where they are first used.
  uint64_t begin_ticks_, end_ticks_;
  uintptr_t address_;     // where the program continues after the call
  uintptr_t frame_;       // where the caller's frame pointer is saved, right below that address
  uintptr_t wrapper_;     // called through Fortran: the wrapper's own frame
  const SeenPath* path_;  // after find_path()
  FortranSite fortran_;   // kOther: the entry point that led here; callbacks inside leave others
  uint32_t terminal_;     // once it is known
  int rc_;
  mpi::CallId call_;
  mpi::CallId outer_call_;  // kOther
  State state_ = State::kPassed;
};

}  // namespace refrain::tracer
