#include "tracer/call_scope.h"

#include <bit>

#include "tracer/fortran.h"
#include "tracer/process.h"

namespace refrain::tracer {

namespace {

// `_c` variants stand a fixed distance behind the calls that they widen.
uint64_t base_call(uint64_t id) {
  constexpr uint64_t kLarge = 1000;
  return id >= kLarge && id < 2 * kLarge ? id - kLarge : id;
}

// A Fortran entry point whose call has been recorded.
constexpr uint64_t kAnswered = UINT64_MAX;

}  // namespace

// Laws: as in the header. Budget: about 10 ns for a call of the program, 2 ns for a nested one.
CallScope::CallScope(mpi::CallId call, void* return_address, void* frame)
    : address_(reinterpret_cast<uintptr_t>(return_address)), call_(call) {
  Location* l = current_location();
  if (l == nullptr) return;
  const auto here = reinterpret_cast<uintptr_t>(frame);
  if (l->depth > 0 && here >= l->open_frame && l->stack.holds(here) &&
      l->stack.holds(l->open_frame)) {
    // The open call was left by a longjmp out of a callback: a call inside it would stand deeper.
    l->depth = 0;
    l->open_call = 0;
    l->in_recorder = false;
    if (!l->process->threaded) l->process->requests.give_back_all();
    l->process->lose("left_by_jump", "a callback jumped out of an MPI call");
  }
  if (l->depth == 0) l->open_frame = here;
  const bool nested = l->depth > 0;
  location_ = l;
  ++l->depth;
  if (l->in_recorder) return;
  FortranSite& fortran = refrain_fortran_site;
  if (fortran.address != nullptr) {
    // Reached from a Fortran entry point, or left over from an earlier one: the entry point's frame
    // must be further up the stack and the caller must be the MPI library's Fortran layer.
    const bool inside =
        reinterpret_cast<uintptr_t>(frame) < reinterpret_cast<uintptr_t>(fortran.sp) &&
        l->process->is_mpi_code(address_);
    if (inside) {
      // That layer also calls MPI on its own behalf, before and after: to convert handles and the
      // like.
      if (base_call(fortran.call) != base_call(call)) return;
      address_ = reinterpret_cast<uintptr_t>(fortran.address);
      fortran.call = kAnswered;
      activate();
      return;
    }
    if (!nested) fortran.address = nullptr;
  }
  // A call inside a call is a callback's, unless the MPI library makes it, or another tool behind
  // us passes on the very call that is under way (MPI_Send of the tool calls PMPI_Send, which is
  // ours).
  if (nested && (l->open_call == call || l->process->is_mpi_code(address_))) return;
  activate();
}

void CallScope::activate() {
  active_ = true;
  outer_call_ = location_->open_call;
  location_->open_call = call_;
}

uint32_t CallScope::site() {
  Location& l = *location_;
  Location::SiteEntry& e = l.sites[(address_ ^ (address_ >> 9)) % Location::kSiteCache];
  if (e.address != address_) {
    e.def = l.process->define_site(address_);
    e.address = address_;
  }
  return e.def;
}

Encoder& CallScope::encoder(int rc) {
  rc_ = rc;
  location_->in_recorder = true;
  location_->encoder.start(call_, site());
  return location_->encoder;
}

uint32_t CallScope::commit() {
  Location& l = *location_;
  Process& p = *l.process;
  if (rc_ != MPI_SUCCESS) l.encoder.error(rc_);
  {
    Process::Guard guard(p);
    terminal_ = extend_grammar();
    if (terminal_ == p.stats.size()) p.stats.emplace_back();
    count_call(terminal_);
    l.encoder.call_has_terminal(terminal_);
  }
  l.in_recorder = false;
  return terminal_;
}

bool CallScope::repeats(const uint64_t* words, size_t count, MPI_Request* request,
                        const RequestTraits& traits) {
  Location& l = *location_;
  Process& p = *l.process;
  Process::Guard guard(p);
  const uint64_t guess = l.grammar.expected();
  if (guess >= p.memos.size() || p.memos[guess] == nullptr) return false;
  const CallMemo& m = *p.memos[guess];
  if (m.call != call_ || m.address != address_ || m.count != count || m.location != &l ||
      m.handle_changes != p.handle_changes.load(std::memory_order_relaxed))
    return false;
  for (size_t i = 0; i < count; ++i)
    if (m.words[i] != words[i]) return false;
  const auto terminal = static_cast<uint32_t>(guess);
  if (request != nullptr && !l.encoder.repeat_request(request, traits, call_, terminal))
    return false;
  l.grammar.append_expected();
  count_call(terminal);
  return true;
}

void CallScope::memorise(const uint64_t* words, size_t count) {
  Process& p = *location_->process;
  Process::Guard guard(p);
  if (rc_ != MPI_SUCCESS || count > CallMemo::kMaxWords || p.stats[terminal_].count < 2) return;
  if (terminal_ >= p.memos.size()) p.memos.resize(terminal_ + 1, nullptr);
  if (p.memos[terminal_] == nullptr) p.memos[terminal_] = new CallMemo;
  CallMemo& m = *p.memos[terminal_];
  m.location = location_;
  m.address = address_;
  m.handle_changes = p.handle_changes.load(std::memory_order_relaxed);
  m.call = call_;
  m.count = static_cast<uint16_t>(count);
  for (size_t i = 0; i < count; ++i) m.words[i] = words[i];
}

// Duration of the signature and totals of the location.
void CallScope::count_call(uint32_t terminal) {
  Location& l = *location_;
  const uint64_t ticks = end_ticks_ > begin_ticks_ ? end_ticks_ - begin_ticks_ : 0;
  count_duration(terminal, ticks);
  if (l.depth != 1) return;
  l.in_mpi_ticks += ticks;
  if (l.last_end_ticks != 0 && begin_ticks_ > l.last_end_ticks)
    l.outside_ticks += begin_ticks_ - l.last_end_ticks;
  l.last_end_ticks = end_ticks_;
}

// In a loop the grammar knows which call comes next: compare before hashing.
uint32_t CallScope::extend_grammar() {
  Location& l = *location_;
  Process& p = *l.process;
  const std::string_view bytes = l.encoder.bytes();
  const uint64_t guess = l.grammar.expected();
  if (guess < p.signatures.size() && p.signatures.at(static_cast<uint32_t>(guess)) == bytes) {
    l.grammar.append_expected();
    return static_cast<uint32_t>(guess);
  }
  const uint32_t terminal = p.signatures.intern(bytes);
  if (!l.grammar.append(terminal)) ++l.refused_calls;
  return terminal;
}

void CallScope::count_duration(uint32_t terminal, uint64_t ticks) {
  TerminalStats& s = location_->process->stats[terminal];
  const auto bucket = [](uint64_t t) {
    const int b = std::bit_width(t | 1) - 1;
    return b < TerminalStats::kBuckets ? b : TerminalStats::kBuckets - 1;
  };
  if (s.count == 1) {
    s.histogram = new uint32_t[TerminalStats::kBuckets]();
    s.histogram[bucket(s.min_ticks)] = 1;
  }
  ++s.count;
  s.sum_ticks += static_cast<double>(ticks);
  if (ticks < s.min_ticks) s.min_ticks = ticks;
  if (ticks > s.max_ticks) s.max_ticks = ticks;
  if (s.histogram != nullptr) ++s.histogram[bucket(ticks)];
}

}  // namespace refrain::tracer
