#include "tracer/wrap/call_scope.h"

#include <new>

#include "mpi/call_ids.h"
#include "mpi_runtime/fortran_site.h"
#include "mpi_runtime/queries.h"
#include "tracer/calls/append_call.h"
#include "tracer/code/unwind.h"
#include "tracer/filter/control.h"
#include "tracer/filter/size_filter.h"
#include "tracer/messages/rank_log.h"
#include "tracer/requests/request_lanes.h"
#include "tracer/spool/spool.h"
#include "tracer/state/abandon.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/wrap/world.h"

namespace refrain::tracer {

namespace {

// The id of a function without large counts: MPI_Send_c has the id of MPI_Send plus 1000.
uint64_t base_call(uint64_t id) {
  constexpr uint64_t kLarge = 1000;
  return id >= kLarge && id < 2 * kLarge ? id - kLarge : id;
}

// Whether the call that returns to `address` was made through a pointer; decided by the call
// instruction in front of that address. Used for calls that return into the MPI library, which
// calls MPI functions by name, but callbacks of the program by pointer. If an MPI call is the last
// statement of a callback, the compiler makes it a jump (a tail call), and it returns to the place
// where the library called the callback. Such a call seems to come from the library, but through a
// pointer.
bool is_called_by_pointer(uintptr_t address) {
#if defined(__x86_64__)
  const auto* end = reinterpret_cast<const unsigned char*>(address);
  constexpr unsigned char kCallNear = 0xe8, kCallIndirect = 0xff;
  if (end[-5] == kCallNear) return false;
  return (end[-2] == kCallIndirect && (end[-1] & 0xf8) == 0xd0) ||
         (end[-3] == kCallIndirect && (end[-2] & 0xf8) == 0x50) ||
         (end[-6] == kCallIndirect && (end[-5] & 0xf8) == 0x90);
#elif defined(__aarch64__)
  // BLR and its forms with pointer authentication; BL is a call by name.
  const uint32_t call = reinterpret_cast<const uint32_t*>(address)[-1];
  return (call & 0xfefff000u) == 0xd63f0000u;
#else
  return false;
#endif
}

// Calls in which the recorders of several ranks communicate: MPI_Init, MPI_Finalize, and calls that
// create communicators, windows and files, because all members agree on their ids. A rank without
// memory for its record still takes part, because the others would wait for it.
bool others_wait(mpi::CallId call) {
  if (call == mpi::kMPI_Init || call == mpi::kMPI_Init_thread || call == mpi::kMPI_Finalize)
    return true;
  const mpi::CallInfo* const info = mpi::find_call(call);
  if (info == nullptr || info->group == mpi::CallGroup::kSession) return true;
  for (const mpi::ParamInfo& p : info->params) {
    const bool shared = p.kind == mpi::ParamKind::kComm || p.kind == mpi::ParamKind::kWin ||
                        p.kind == mpi::ParamKind::kFile;
    if (shared && p.direction != mpi::Direction::kIn) return true;
  }
  return false;
}

// FortranSite::call behind the entry point's own call: what its layer calls then is not recorded.
constexpr uint64_t kAnswered = UINT64_MAX;

}  // namespace

// Whether a longjmp() out of a callback has left the open call of this thread, so that the recorder
// never saw its end. If the open call still ran, this call would be inside it: deeper on the stack,
// with the frame of the open call intact above.
bool CallScope::was_left() const {
  const Location& l = *location_;
  if (l.depth == 0 || !l.stack.holds(frame_) || !l.stack.holds(l.open_frame)) return false;
  if (frame_ >= l.open_frame) return true;
  return l.open_return != 0 && reinterpret_cast<const uintptr_t*>(l.open_frame)[1] != l.open_return;
}

// The constructor for all calls but plain ones of a C program: calls inside calls, the recorder's
// own, those from Fortran, and all while a reason of slow_path_reasons.h is set.
void CallScope::enter() {
  if (location_ == nullptr || refrain_fortran_site.address != nullptr ||
      !is_only_logged(*location_))
    return enter_slowly();
  location_->log->scope = this;
  open();
}

[[gnu::noinline]] void CallScope::enter_slowly() {
  RecordedThread* const l = location_ = as_recorded(current_location());
  if (l == nullptr) return;
  if (was_left()) close_left();
  const bool nested = l->depth > 0;
  if (nested)
    ++l->depth;
  else
    open();
  if (!nested && l->log != nullptr) l->log->begin_call();
  state_ = State::kPassed;
  fortran_.address = nullptr;
  outer_call_ = nested ? l->open_call : 0;
  if (!is_to_record(nested) || is_beyond_memory()) {
    l->open_call = outer_call_;
    return;
  }
  if (nested) l->requests->table.claim_in_use();
  l->open_call = call_;
  l->recorded_depth = l->depth;
  state_ = State::kOther;
  if (control().sizes != nullptr) call_ |= kSizedCall;
}

void CallScope::close_left() {
  Location* l = location_;
  const bool left_recorder = l->in_recorder;
  l->depth = 0;
  l->open_call = 0;
  l->in_recorder = false;
  if (l->log != nullptr) l->log->begin_call();
  if (left_recorder) abandon_record(*l->process);
  if (is_abandoned()) return;
  if (!l->process->threaded)
    l->requests->table.give_back_all();
  else
    l->requests->busy.store(0, std::memory_order_release);
  l->process->lose("left_by_jump", "a callback jumped out of an MPI call");
}

// Decides whether a call is recorded. Calls of the program are, including those of its callbacks;
// calls that the MPI library makes to do its work are not, nor are the recorder's own. The cases,
// in this order:
//
//   the recorder itself is at work on this thread    not recorded
//   a replay has told the path of the call           recorded, with that path
//   reached through a Fortran entry point            the call of the entry point's function is
//                                                    recorded, other calls of the layer are not
//   not nested: no recorded call is open             recorded; if calls may be left out (paused,
//                                                    filtered), the library's calls inside of one
//                                                    also come here, and are not recorded
//   nested, called from outside the MPI library      recorded if a callback makes it; not if a tool
//                                                    between program and MPI forwards one call
//   nested, called from the MPI library              recorded if called by pointer: the tail call
//                                                    of a callback, see is_called_by_pointer()
bool CallScope::is_to_record(bool nested) {
  const Location& l = *location_;
  if (l.in_recorder) return false;
  FortranSite& fortran = refrain_fortran_site;
  if (fortran.address != nullptr) {
    if (fortran.call == mpi_runtime::kToldCall) {
      fortran.address = nullptr;
      if (nested) return false;
      address_ = reinterpret_cast<uintptr_t>(fortran.sp);
      frame_ = CallPaths::kToldFrame;
      return true;
    }
    // The trampoline has noted the entry point's call. It is this one if the entry point's frame is
    // further up the stack and the caller is the MPI library's Fortran layer; else it is left over
    // from an earlier entry point.
    const bool inside =
        frame_ < reinterpret_cast<uintptr_t>(fortran.sp) && l.process->code.is_mpi(address_);
    if (inside) {
      // The layer also calls other functions, before and after: to convert handles and the like.
      if (base_call(fortran.call) != base_call(call_)) return false;
      wrapper_ = frame_;
      address_ = reinterpret_cast<uintptr_t>(fortran.address);
      frame_ = reinterpret_cast<uintptr_t>(fortran.sp) - sizeof(void*);
      fortran.call = kAnswered;
      fortran_ = fortran;
      return true;
    }
    if (!nested) fortran.address = nullptr;
  }
  // A call that is not recorded does not count as open, so the library's calls inside it arrive
  // here with nested == false.
  if (!nested && has_slow_path_reason(slow_path_reasons::kLeavesOut) && is_from_library())
    return false;
  // A tool that was loaded after the recorder forwards the open call: the recorder's wrapper has
  // called the tool's MPI_Send, which calls PMPI_Send, which is the recorder's wrapper again.
  if (!nested) return true;
  if (!l.process->code.is_mpi(address_)) return is_from_callback();
  // The recorder's wrappers also call the library by pointer: a call that a library function makes
  // by a tail jump seems to come from the wrapper.
  return is_called_by_pointer(address_) && !l.process->code.is_own(address_);
}

// Whether the MPI library makes this call to do its work. Only on x86-64: elsewhere there are no
// trampolines for Fortran, and a Fortran program's calls come from the library as well.
bool CallScope::is_from_library() const {
#if defined(__x86_64__)
  Process& p = *location_->process;
  return p.code.is_mpi(address_) && (p.code.is_own(address_) || !is_called_by_pointer(address_));
#else
  return false;
#endif
}

// Decides for a nested call from outside of the MPI library whether the library called a callback
// or the recorder's wrapper that of another tool. Also finds jumps that was_left() cannot see.
bool CallScope::is_from_callback() {
  RecordedThread& l = *location_;
  uintptr_t& tool_site = l.tool_sites[(address_ ^ (address_ >> 6)) % RecordedThread::kToolSites];
  if (tool_site == address_) return false;
  constexpr size_t kMaxFrames = 256;
  const auto [frames, n] = unwind_to_heap(frame_ + sizeof(void*), kMaxFrames);
  if (n == 0) return l.open_call != call_;
  const uintptr_t return_slot = l.open_frame + sizeof(void*);  // of the open call
  bool alive = n == kMaxFrames;
  for (size_t i = 0; i < n && !alive; ++i) alive = frames[i].return_slot == return_slot;
  if (alive) {
    // What is nearest around the caller's own functions, MPI or one of the recorder's wrappers?
    for (size_t i = 0; i < n; ++i) {
      if (i + 1 < n && is_callback_frame(frames[i + 1].return_slot)) return true;
      if (l.process->code.is_own(frames[i].return_address)) break;
      if (l.process->code.is_mpi(frames[i].return_address)) return true;
    }
    tool_site = address_;
    return false;
  }
  close_left();
  open();
  outer_call_ = 0;
  return true;
}

void CallScope::leave() {
  if (has_slow_path_reason(slow_path_reasons::kLogsMessages) && active()) [[unlikely]]
    log_call_over(*location_);
  --location_->depth;
  if (!active()) return;
  location_->open_call = outer_call_;
  location_->spool.left(outer_call_);
  if (fortran_.address != nullptr) refrain_fortran_site = fortran_;
}

void CallScope::find_path() {
  path_ = &location_->paths.find(*location_->process, location_->stack,
                                 {address_, frame_, is_from_fortran() ? wrapper_ : frame_});
}

Encoder& CallScope::encoder(int rc) {
  rc_ = rc;
  location_->in_recorder = true;
  find_path();
  location_->encoder.start(call(), path_->definition, is_from_fortran() && rc == 0);
  if (is_left_out()) location_->encoder.leave_out((call_ & kFilteredCall) != 0);
  return location_->encoder;
}

uint32_t CallScope::commit() {
  RecordedThread& l = *location_;
  if (is_left_out()) {
    terminal_ = UINT32_MAX;
    l.encoder.call_is_left_out();
    l.own_time.call_is_left_out();
    l.in_recorder = false;
    return terminal_;
  }
  if (rc_ != MPI_SUCCESS) l.encoder.error(rc_, error_class(rc_));
  if (must_wait()) [[unlikely]]
    return commit_later();
  const uint64_t ticks = duration();
  terminal_ = InternTable::kMissing;
  if (!has_slow_path_reason(slow_path_reasons::kOutOfMemory)) [[likely]]
    terminal_ = extend_grammar(l, l.encoder.bytes(), ticks);
  if (terminal_ == InternTable::kMissing) [[unlikely]]
    return leave_unrecorded();
  l.encoder.call_has_terminal(terminal_);
  if (l.first_begin_ticks == 0) {
    l.first_begin_ticks = begin_ticks_;
    l.own_time.begin_span();
  }
  close_call(ticks);
  return terminal_;
}

void CallScope::close_call(uint64_t ticks) {
  RecordedThread& l = *location_;
  count_time(l, ticks);
  uint64_t gap = SpoolLog::kNoGap;
  if (l.spool.keeps_times()) [[unlikely]]
    gap = keep_time(l, terminal_);
  l.spool.push(l, terminal_, ticks, gap);
  const uint64_t now = l.process->clock.ticks();
  l.own_time.add_call(now - end_ticks_);
  l.note_own_work(now);
  if (l.times != nullptr) [[unlikely]]
    compare_clocks(l, call(), terminal_);
  l.in_recorder = false;
}

bool CallScope::is_beyond_memory() {
  if (!has_slow_path_reason(slow_path_reasons::kOutOfMemory) || others_wait(call_)) return false;
  leave_unrecorded();
  return true;
}

uint32_t CallScope::leave_unrecorded() {
  location_->in_recorder = false;
  if (location_->process->unrecorded_calls.fetch_add(1) == 0) out_of_memory(*location_->process);
  return 0;
}

bool CallScope::must_wait() const {
  if ((call_ & kSizedCall) == 0) [[likely]]
    return false;
  const bool is_first = control().sizes->held.flush(*location_);
  return (call_ & kUndecidedCall) != 0 || !is_first;
}

// The call has no terminal yet, because it may be left out in the end.
uint32_t CallScope::commit_later() {
  RecordedThread& l = *location_;
  HeldCall later;
  later.sum_ticks = later.min_ticks = later.max_ticks = duration();
  if (l.spool.keeps_times()) later.times.emplace_back(begin_ticks_, duration());
  later.call = call();
  later.outermost = l.depth == 1;
  later.signature = l.process->intern(l.process->left_out, l.encoder.bytes());
  const RequestEntry* const made = l.encoder.call_is_held(later.signature);
  if (later.outermost) l.last_end_ticks = end_ticks_;
  control().sizes->held.push(l, later, made);
  l.in_recorder = false;
  l.own_time.add_call(l.process->clock.ticks() - end_ticks_);
  return terminal_ = UINT32_MAX;
}

}  // namespace refrain::tracer
