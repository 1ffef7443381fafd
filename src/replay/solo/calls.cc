// Which call of the trace the program makes now.
//
// A call that calls back functions of the program stands behind the calls that those make: the
// trace has calls in the order of their ends. So where the next recorded call is another one, and
// the program has given MPI functions to call, the call is looked for further on.

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <utility>

#include "mpi/call_ids.h"
#include "mpi/handle_kinds.h"
#include "replay/solo/player.h"

namespace refrain::replay::solo {
namespace {

constexpr size_t kMostInside = 4096;  // calls that the callbacks of one call may make

// The Player::Thread of this thread. When it ends, another one may go on with its calls: a recorder
// uses the numbers of ended threads again.
struct Mine {
  ~Mine() {
    if (has_ended != nullptr) *has_ended = true;
  }
  std::atomic<bool>* has_ended = nullptr;
};
thread_local Mine g_mine;

// Calls in which MPI makes and frees communicators for its own use, with copies of the attributes.
bool may_copy_comms(const mpi::CallInfo& info, const mpi::CallMeaning& meaning) {
  if (info.group == mpi::CallGroup::kIo) return true;
  return info.group == mpi::CallGroup::kRma && meaning.does_any(mpi::kDoesMake | mpi::kDoesFree);
}

}  // namespace

thread_local constinit Player::Thread* Player::g_thread = nullptr;

// Whether a recorded call is this one, with these inputs.
bool Player::fits(const Record& record, Entry& entry, uint64_t* words, uintptr_t site) {
  if (!is_call(record, entry.call, site)) return false;
  Thread nobody;
  Frame frame{*entry.info, mpi::meaning_of(entry.call), Given(entry, words), nobody, site};
  frame.signature = record.signature;
  frame.plan = record.plan;
  is_trying_ = true;
  guard(frame);
  is_trying_ = false;
  return !std::exchange(has_difference_, false);
}

// Whether a thread of the trace begins with this call.
bool Player::begins_with(uint32_t location, Entry& entry, uint64_t* words, uintptr_t site) {
  auto cursor = reader_->cursor(location);
  const Call* const first = cursor.ok() ? cursor->next() : nullptr;
  return first != nullptr &&
         fits({first->signature, &plan_of(*first->signature), 0}, entry, words, site);
}

// Threads of the trace have the numbers of their first calls; a thread of the process is the first
// of those left that begin with its call, and the next one where none does.
Player::Thread& Player::thread_of(Entry& entry, uint64_t* words, uintptr_t site) {
  if (Thread* const known = known_thread()) return *known;
  for (const auto& thread : threads_)
    if (thread->has_ended && fill(*thread, 1) && fits(thread->ahead.front(), entry, words, site)) {
      thread->has_ended = false;
      g_thread = thread.get();
      g_mine.has_ended = &thread->has_ended;
      return *thread;
    }
  const auto locations = static_cast<uint32_t>(trace_->locations(options_.rank).size());
  uint32_t chosen = UINT32_MAX;
  for (uint32_t i = 0; i < locations; ++i) {
    const bool is_taken = std::any_of(threads_.begin(), threads_.end(),
                                      [&](const auto& thread) { return thread->location == i; });
    if (is_taken) continue;
    const bool begins = begins_with(i, entry, words, site);
    if (begins || chosen == UINT32_MAX) chosen = i;
    if (begins) break;
  }
  if (chosen == UINT32_MAX) chosen = locations + static_cast<uint32_t>(threads_.size());
  auto thread = std::make_unique<Thread>();
  thread->location = chosen;
  if (auto cursor = reader_->cursor(chosen); cursor.ok())
    thread->cursor.emplace(std::move(*cursor));
  thread->units.begin(options_.units, chosen);
  g_thread = thread.get();
  g_mine.has_ended = &thread->has_ended;
  threads_.push_back(std::move(thread));
  if (threads_.size() > 1) measure_on_the_wall();
  return *threads_.back();
}

// The next call of the trace. Marks of the program are no calls of MPI: nobody asks for them.
bool Player::read(Thread& thread, Record& record) {
  while (const Call* const call = thread.cursor ? thread.cursor->next() : nullptr) {
    Plan& plan = plan_of(*call->signature);
    if (plan.is_mark) continue;
    record = {call->signature, &plan, call->seq, call->begin_ns, call->end_ns};
    return true;
  }
  return false;
}

bool Player::fill(Thread& thread, size_t count) {
  while (thread.ahead.size() < count) {
    Record record;
    if (!read(thread, record)) return false;
    thread.ahead.push_back(record);
  }
  return true;
}

// A recorder leaves out some calls that pass no place for a handle: they fail.
bool Player::is_left_out(const Entry& entry, Frame& frame) {
  bool lacks_place = false;
  for (uint64_t places = entry.handle_places; places != 0; places &= places - 1)
    lacks_place =
        lacks_place || frame.given.word(static_cast<size_t>(std::countr_zero(places))) == 0;
  if (!lacks_place) return false;
  if (fill(frame.thread, 1) && is_call(frame.thread.ahead.front(), frame.info.id, frame.site))
    return false;
  frame.result = MPI_ERR_ARG;
  return true;
}

bool Player::is_call(const Record& record, mpi::CallId call, uintptr_t site) {
  if (record.signature->call != call) return false;
  return record.plan->site == 0 || site == 0 || record.plan->site == site;
}

// Which of the calls that come is this one, if functions of the program may stand in front of it.
size_t Player::find_ahead(Frame& frame) {
  std::deque<Record>& ahead = frame.thread.ahead;
  if (is_call(ahead.front(), frame.info.id, frame.site)) return 0;
  if (callbacks_ == 0 && operators_ == 0) return 0;
  for (size_t i = 1; i < kMostInside && fill(frame.thread, i + 1); ++i)
    if (is_call(ahead[i], frame.info.id, frame.site)) return i;
  return 0;
}

// Fills in the recorded call. Returns how many calls in front of it its callbacks are to make.
size_t Player::take(Frame& frame) {
  Thread& thread = frame.thread;
  Record record;
  size_t at = 0;
  // Nearly always it is the next one, and none was looked at before.
  const bool is_next = thread.ahead.empty() && read(thread, record);
  if (!is_next || !is_call(record, frame.info.id, frame.site)) {
    if (is_next) thread.ahead.push_back(record);
    if (!fill(thread, 1)) return 0;
    at = find_ahead(frame);
    record = thread.ahead[at];
    thread.ahead.erase(thread.ahead.begin() + static_cast<std::ptrdiff_t>(at));
  }
  frame.seq = record.seq;
  frame.end_ns = record.end_ns;
  if (at == 0 && record.seq > thread.answered) thread.units.skip(record.seq - thread.answered);
  if (record.signature->call != frame.info.id)
    differ(frame, "the program calls " + std::string(frame.info.name) + ", the trace has " +
                      std::string(record.signature->name));
  frame.signature = record.signature;
  frame.plan = record.plan;
  thread.answered = std::max(thread.answered, record.seq + 1);
  ++thread.taken;
  return at;
}

// Calls of reduction operators are left over: the operators are not called. So are those of
// functions of attributes where MPI copied a communicator for a file or a window, and freed it.
void Player::end_inner(Frame& frame, size_t inner, uint64_t taken_before) {
  const uint64_t made = frame.thread.taken - taken_before;
  if (made >= inner) return;
  const bool is_attributes = may_copy_comms(frame.info, frame.meaning);
  if (operators_ == 0 && !is_attributes)
    differ(frame, "the program's function that this call calls made " + std::to_string(made) +
                      " calls, in the trace " + std::to_string(inner));
  for (uint64_t i = made; i < inner && !frame.thread.ahead.empty(); ++i) {
    frame.thread.ahead.pop_front();
    ++(is_attributes ? counts_.of_attributes : counts_.of_operators);
    frame.thread.units.skip(1);
  }
}

}  // namespace refrain::replay::solo
