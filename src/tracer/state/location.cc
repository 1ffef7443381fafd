#include "tracer/state/location.h"

#include <mutex>

#include "base/no_cancel.h"
#include "tracer/state/gap_log.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {
std::mutex g_locations;
// Simulated time passes in the recorder only where it communicates, however fast the network is.
constexpr uint64_t kLeastPieceNs = mpi_runtime::Clock::kIsSimulated ? 100 : 20'000;
}  // namespace

Location* add_location(Location* (*make)(Process& process, uint32_t thread)) {
  const base::NoCancel no_cancel;
  const std::lock_guard<std::mutex> lock(g_locations);
  Process& p = process();
  const Process::Guard guard(p);
  Location* const l = make(p, static_cast<uint32_t>(p.locations.size()));
  l->requests = &p.requests.join();
  p.locations.push_back(l);
  if (p.sink != nullptr) p.sink->attach(*l);
  return l;
}

void drop_times(Location& location) {
  location.times = nullptr;  // not freed: another thread may be about to use it
  location.spool.keep_times(location.gaps != nullptr);
}

void keep_gaps(Location& location) {
  location.gaps = new GapLog;
  location.spool.keep_times(true);
}

void begin_threads(Location& location) {
  const base::NoCancel no_cancel;
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
      stack(StackBounds::of_this_thread()),
      first_terminal(p.first_terminal),
      tables(p.tables) {
  own_time.set_least_piece(p.clock.to_ticks(kLeastPieceNs));
}

void Location::begin_run(uint64_t begin_ticks) {
  // When the call is recorded it finds that it is the first one.
  first_begin_ticks = in_mpi_ticks = 0;
  if (gaps != nullptr) gaps->idle_from(begin_ticks);
}

// Work in a call inside of another one is in that one's time.
void Location::note_own_work(uint64_t now_ticks) {
  if (gaps != nullptr && depth == 1) gaps->idle_from(now_ticks);
  const uint64_t calls = calls_of(*this);
  if (depth != 1 || calls == 0 || now_ticks <= last_end_ticks) return;
  const uint64_t ticks = now_ticks - last_end_ticks;
  if (own_time.note(calls - 1, ticks) && process->sink != nullptr)
    process->sink->own_piece(thread, calls - 1, process->clock.to_ns(ticks));
}

// When the window is full, or the call took very long.
void SpoolLog::push_slowly(Location& location, uint32_t terminal, uint64_t ticks, uint64_t gap) {
  RecordSink* const sink = location.process->sink;
  if (location.spool.thread == nullptr || sink == nullptr) return location.spool.detach();
  sink->push_slowly(location, terminal, ticks, gap);
}

}  // namespace refrain::tracer
