#include "tracer/abandon.h"

#include <atomic>
#include <utility>

#include "tracer/complain.h"
#include "tracer/slow_path_reasons.h"
#include "tracer/spool.h"

namespace refrain::tracer {

namespace {
std::atomic<bool> g_abandoned{false};
}  // namespace

bool is_abandoned() { return g_abandoned.load(std::memory_order_relaxed); }

void abandon_record(Process& p) {
  if (g_abandoned.exchange(true)) return;
  // As without memory: calls in which the recorders of the ranks talk to each other go their way.
  set_slow_path_reason(slow_path_reasons::kOutOfMemory, true);
  Spool* const spool = std::exchange(p.spool, nullptr);
  if (spool != nullptr) spool->abandon();
  complain(p, "a signal handler jumped out of the recorder: its further calls are not recorded");
}

void out_of_memory(Process& p) {
  if (is_abandoned()) return;
  const Process::Guard guard(p);
  if (p.spool != nullptr) p.spool->loss("out_of_memory", 0, "recorder");
  complain(p, p.is_bounded() && p.spool == nullptr
                  ? "beyond --memory, and no spool to go to: its further calls are not recorded"
                  : "no memory: its further calls are not recorded");
}

}  // namespace refrain::tracer
