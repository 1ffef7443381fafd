#include "tracer/location.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "tracer/process.h"
#include "tracer/recording.h"
#include "tracer/spool.h"

namespace refrain::tracer {

namespace {

// A forked child is not a rank: its MPI state is a copy, and so is the record.
void stop_in_child() { set_unusual(unusual::kNotRecording, true); }

Location* make_location() {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  Process& p = process();
  if (p.locations.empty()) pthread_atfork(nullptr, nullptr, stop_in_child);
  auto* l = new Location(p, static_cast<uint32_t>(p.locations.size()));
  p.locations.push_back(l);
  if (p.spool != nullptr) p.spool->attach(*l);
  return l;
}

}  // namespace

Location::Location(Process& p, uint32_t thread_number)
    : process(&p),
      thread(thread_number),
      grammar(p.options.grammar_bytes),
      encoder(*this),
      stack(StackBounds::of_this_thread()) {}

__thread Location* g_location = nullptr;

Location* find_location() {
  g_location = make_location();
  return is_unusual(unusual::kNotRecording) ? nullptr : g_location;
}

}  // namespace refrain::tracer
