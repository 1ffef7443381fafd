#include "tracer/state/abandon.h"

#include <atomic>
#include <utility>

#include "tracer/state/complain.h"
#include "tracer/state/slow_path_reasons.h"

namespace refrain::tracer {

namespace {
std::atomic<bool> g_abandoned{false};
}  // namespace

bool is_abandoned() { return g_abandoned.load(std::memory_order_relaxed); }

void abandon_record(Process& p) {
  if (g_abandoned.exchange(true)) return;
  // As without memory: calls in which the recorders of the ranks talk to each other go their way.
  set_slow_path_reason(slow_path_reasons::kOutOfMemory, true);
  p.spool = nullptr;
  if (RecordSink* const sink = std::exchange(p.sink, nullptr); sink != nullptr) sink->abandon();
  complain(p, "a signal handler jumped out of the recorder: its further calls are not recorded");
}

void out_of_memory(Process& p) {
  if (is_abandoned()) return;
  const Process::Guard guard(p);
  if (p.sink != nullptr) p.sink->loss("out_of_memory", 0, "recorder");
  complain(p, p.is_bounded() && p.sink == nullptr
                  ? "beyond --memory, and no spool to go to: its further calls are not recorded"
                  : "no memory: its further calls are not recorded");
}

}  // namespace refrain::tracer
