#include "tracer/location.h"

#include <mutex>

#include "tracer/process.h"
#include "tracer/spool.h"
#include "tracer/spool_common.h"
#include "tracer/time_log.h"

namespace refrain::tracer {

namespace {
std::mutex g_locations;
constexpr uint64_t kLeastPieceNs = 20'000;
}  // namespace

Location* make_location() {
  const std::lock_guard<std::mutex> lock(g_locations);
  Process& p = process();
  const Process::Guard guard(p);
  auto* l = new Location(p, static_cast<uint32_t>(p.locations.size()));
  l->requests = &p.requests.join();
  if (p.times != nullptr) keep_times(*l);
  p.locations.push_back(l);
  if (p.spool != nullptr) p.spool->attach(*l);
  return l;
}

void keep_times(Location& location) {
  location.times = new TimeLog(location);
  location.spool.keep_times(true);
}

void drop_times(Location& location) {
  location.times = nullptr;  // not freed: another thread may be about to use it
  location.spool.keep_times(false);
}

void begin_threads(Location& location) {
  const std::lock_guard<std::mutex> lock(g_locations);
  Process& p = *location.process;
  p.begin_threads();
  // They have asked whether MPI is initialised, and the like.
  for (Location* const other : p.locations)
    if (other != &location) other->requests = &p.requests.join();
}

void end_thread(Location& location) {
  if (!location.process->threaded) return;
  {
    OwnLane own(*location.requests);
    location.memos.for_each([&own](CallMemo& memo) {
      if (memo.request == nullptr) return;
      own->unkeep(*memo.request);
      memo.request = nullptr;
      memo.call = 0;
    });
  }
  location.requests = &location.process->requests.leave(*location.requests);
}

Location::Location(Process& p, uint32_t thread_number)
    : process(&p),
      thread(thread_number),
      grammar(p.options.grammar_bytes),
      encoder(*this),
      stack(StackBounds::of_this_thread()),
      first_terminal(p.first_terminal),
      tables(p.tables) {
  own_time.set_least_piece(p.clock.to_ticks(kLeastPieceNs));
}

// Work in a call inside of another one is in that one's time.
void Location::note_own_work(uint64_t now_ticks) {
  const uint64_t calls = calls_of(*this);
  if (depth != 1 || calls == 0 || now_ticks <= last_end_ticks) return;
  const uint64_t ticks = now_ticks - last_end_ticks;
  if (own_time.note(calls - 1, ticks) && process->spool != nullptr)
    process->spool->own_piece(thread, calls - 1, process->clock.to_ns(ticks));
}

}  // namespace refrain::tracer
