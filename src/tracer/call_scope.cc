#include "tracer/call_scope.h"

#include <new>

#include "mpi/call_ids.h"
#include "tracer/abandon.h"
#include "tracer/control.h"
#include "tracer/fortran.h"
#include "tracer/process.h"
#include "tracer/record.h"
#include "tracer/request_lanes.h"
#include "tracer/size_filter.h"
#include "tracer/spool.h"
#include "tracer/spool_common.h"
#include "tracer/time_log.h"
#include "tracer/times.h"
#include "tracer/unwind.h"

namespace refrain::tracer {

namespace {

// `_c` variants stand a fixed distance behind the calls that they widen.
uint64_t base_call(uint64_t id) {
  constexpr uint64_t kLarge = 1000;
  return id >= kLarge && id < 2 * kLarge ? id - kLarge : id;
}

// Whether the code that returns to `address` called through a register: a library calls MPI by name
// and callbacks by pointer. One whose last act is an MPI call leaves a jump in its place.
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

// Calls in which the recorders of the ranks talk to each other: these must go their way, whether
// or not they are recorded.
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

// All that is known of the call is where it survives us.
void compare_clocks(Location& l, mpi::CallId call, uint32_t terminal) {
  Times& times = *l.process->times;
  if (times.wants(call)) [[unlikely]]
    times.call_ended(l, terminal);
}

// A Fortran entry point whose call has been recorded.
constexpr uint64_t kAnswered = UINT64_MAX;

}  // namespace

// The open call was left by a longjmp out of a callback: a call inside of it would stand deeper,
// and its frame would still be there.
bool CallScope::was_left() const {
  const Location& l = *location_;
  if (l.depth == 0 || !l.stack.holds(frame_) || !l.stack.holds(l.open_frame)) return false;
  if (frame_ >= l.open_frame) return true;
  return l.open_return != 0 && reinterpret_cast<const uintptr_t*>(l.open_frame)[1] != l.open_return;
}

// What the constructor leaves: calls inside of calls, the recorder's own, and Fortran's.
void CallScope::enter() {
  Location* const l = location_ = current_location();
  if (l == nullptr) return;
  if (was_left()) close_left();
  const bool nested = l->depth > 0;
  if (nested)
    ++l->depth;
  else
    open();
  state_ = State::kPassed;
  fortran_.address = nullptr;
  outer_call_ = nested ? l->open_call : 0;
  if (!is_to_record(nested) || is_beyond_memory()) {
    l->open_call = outer_call_;
    return;
  }
  l->open_call = call_;
  state_ = State::kOther;
  if (control().sizes != nullptr) call_ |= kSizedCall;
}

void CallScope::close_left() {
  Location* l = location_;
  const bool left_recorder = l->in_recorder;
  l->depth = 0;
  l->open_call = 0;
  l->in_recorder = false;
  if (left_recorder) abandon_record(*l->process);
  if (is_abandoned()) return;
  if (!l->process->threaded)
    l->requests->table.give_back_all();
  else
    l->requests->busy.store(0, std::memory_order_release);
  l->process->lose("left_by_jump", "a callback jumped out of an MPI call");
}

bool CallScope::is_to_record(bool nested) {
  const Location& l = *location_;
  if (l.in_recorder) return false;
  FortranSite& fortran = refrain_fortran_site;
  if (fortran.address != nullptr) {
    // Reached from a Fortran entry point, or left over from an earlier one: the entry point's frame
    // must be further up the stack and the caller must be the MPI library's Fortran layer.
    const bool inside =
        frame_ < reinterpret_cast<uintptr_t>(fortran.sp) && l.process->is_mpi_code(address_);
    if (inside) {
      // That layer also calls MPI on its own behalf, before and after: to convert handles and the
      // like.
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
  // Inside of a call that was passed by, which looks as if none were under way.
  if (!nested && is_unusual(unusual::kLeavesOut) && is_from_library()) return false;
  // A call inside a call is a callback's, unless the MPI library makes it, or another tool behind
  // us passes on what is under way (MPI_Send of the tool calls PMPI_Send, which is ours).
  if (!nested) return true;
  if (!l.process->is_mpi_code(address_)) return is_from_callback();
  // A wrapper of ours calls by pointer too, and the library's function may go on with a jump.
  return is_called_by_pointer(address_) && !l.process->is_own_code(address_);
}

// Whether the MPI library calls on its own behalf. Without trampolines a Fortran program's calls
// come from there as well.
bool CallScope::is_from_library() const {
#if defined(__x86_64__)
  Process& p = *location_->process;
  return p.is_mpi_code(address_) && (p.is_own_code(address_) || !is_called_by_pointer(address_));
#else
  return false;
#endif
}

// Of a nested call that no MPI library makes: did the library call back, or did our own wrapper
// call a tool's? Also finds out what was_left() cannot see.
bool CallScope::is_from_callback() {
  Location& l = *location_;
  uintptr_t& tool_site = l.tool_sites[(address_ ^ (address_ >> 6)) % Location::kToolSites];
  if (tool_site == address_) return false;
  constexpr size_t kMaxFrames = 256;
  StackFrame frames[kMaxFrames];
  const size_t n = unwind(frame_ + sizeof(void*), frames, kMaxFrames);
  if (n == 0) return l.open_call != call_;
  bool alive = n == kMaxFrames;  // the frame that returns from the open call to the program
  for (size_t i = 0; i < n && !alive; ++i)
    alive = frames[i].return_slot == l.open_frame + sizeof(void*);
  if (alive) {
    // Who stands around the caller's own functions, the library or a wrapper of ours?
    for (size_t i = 0; i < n; ++i) {
      if (l.process->is_own_code(frames[i].return_address)) break;
      if (l.process->is_mpi_code(frames[i].return_address)) return true;
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
  --location_->depth;
  if (!active()) return;
  location_->open_call = outer_call_;
  location_->spool.left(outer_call_);
  if (fortran_.address != nullptr) refrain_fortran_site = fortran_;
}

Encoder& CallScope::encoder(int rc) {
  rc_ = rc;
  location_->in_recorder = true;
  const bool is_from_fortran = state_ == State::kOther && fortran_.address != nullptr;
  path_ = &location_->paths.find(*location_->process, location_->stack,
                                 {address_, frame_, is_from_fortran ? wrapper_ : frame_});
  location_->encoder.start(call(), path_->definition);
  if (is_left_out()) location_->encoder.leave_out((call_ & kFilteredCall) != 0);
  return location_->encoder;
}

uint32_t CallScope::commit() {
  Location& l = *location_;
  Process& p = *l.process;
  if (is_left_out()) {
    terminal_ = UINT32_MAX;
    l.encoder.call_is_left_out();
    l.own_time.call_is_left_out();
    l.in_recorder = false;
    return terminal_;
  }
  if (rc_ != MPI_SUCCESS) l.encoder.error(rc_);
  if (must_wait()) [[unlikely]]
    return commit_later();
  const uint64_t ticks = duration();
  terminal_ = InternTable::kMissing;
  if (!is_unusual(unusual::kOutOfMemory)) [[likely]]
    terminal_ = extend_grammar(l, l.encoder.bytes(), ticks);
  if (terminal_ == InternTable::kMissing) [[unlikely]]
    return leave_unrecorded();
  l.encoder.call_has_terminal(terminal_);
  if (l.first_begin_ticks == 0) {
    l.first_begin_ticks = begin_ticks_;
    l.own_time.begin_span();
  }
  count_time(ticks);
  if (l.times != nullptr) [[unlikely]]
    keep_time(l, terminal_);
  l.spool.push(l, terminal_, ticks);
  const uint64_t now = p.clock.ticks();
  l.own_time.add_call(now - end_ticks_);
  l.note_own_work(now);
  if (l.times != nullptr) [[unlikely]]
    compare_clocks(l, call(), terminal_);
  l.in_recorder = false;
  return terminal_;
}

// Budget: 50 instructions, and what the grammar takes at the end of a symbol.
void CallScope::again(CallMemo& memo) {
  Location& l = *location_;
  // Whoever jumps out of here must be noticed; the fences keep both stores where they are.
  l.in_recorder = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uint64_t ticks = duration();
  memo.count_one(ticks);
  count_time(ticks);
  const auto terminal = static_cast<uint32_t>(l.grammar.expected());
  if (l.spool.try_push(terminal, ticks)) [[likely]]
    l.grammar.append_expected();
  else
    again_slowly(terminal, ticks);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  l.in_recorder = false;
}

[[gnu::noinline, gnu::cold]] void CallScope::again_slowly(uint32_t terminal, uint64_t ticks) {
  Location& l = *location_;
  const Clock& clock = l.process->clock;
  l.grammar.append_expected();
  if (l.times != nullptr) {
    keep_time(l, terminal);
    if (l.spool.try_push_timed(terminal, ticks)) return compare_clocks(l, call(), terminal);
  }
  const uint64_t begin = clock.ticks();
  l.own_time.sample(begin - end_ticks_, calls_of(l));
  l.spool.push_slowly(l, terminal, ticks);
  const uint64_t end = clock.ticks();
  l.own_time.add(end - begin);
  l.note_own_work(end);
  if (l.times != nullptr) compare_clocks(l, call(), terminal);
}

void CallScope::keep_time(Location& l, uint32_t terminal) {
  l.times->push(l, terminal, call(), begin_ticks_, begin_ticks_ + duration());
}

// Budget: 70 instructions.
bool CallScope::add_request(const CallMemo& memo, MPI_Request* request) {
  if (memo.request == nullptr || *request == MPI_REQUEST_NULL) return false;
  RequestLane& lane = *location_->requests;
  if (lane.has_neighbours) [[unlikely]]
    return add_request_again(lane, *memo.request, handle_key(*request), request);
  return lane.table.add_again(*memo.request, handle_key(*request), request);
}

void CallScope::memorise_array(const uint64_t* words, size_t count) {
  Location& l = *location_;
  Process& p = *l.process;
  CallMemo* const known = rc_ == MPI_SUCCESS ? l.memos.find(terminal_) : nullptr;
  // The short way knows of no waiting.
  if (known == nullptr || (call_ & kSizedCall) != 0) return;
  CallMemo& m = *known;
  if (m.remember(call_, *path_, p.handle_changes.load(std::memory_order_relaxed), words, count))
    l.encoder.memorise_request(m);
}

bool CallScope::is_beyond_memory() {
  if (!is_unusual(unusual::kOutOfMemory) || others_wait(call_)) return false;
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

// It has no terminal yet, as it may get none.
uint32_t CallScope::commit_later() {
  Location& l = *location_;
  HeldCall later;
  later.sum_ticks = later.min_ticks = later.max_ticks = duration();
  if (l.times != nullptr) later.times.emplace_back(begin_ticks_, duration());
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
