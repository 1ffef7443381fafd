#include "tracer/abandon.h"

#include <atomic>
#include <utility>

#include "tracer/record.h"
#include "tracer/recording.h"
#include "tracer/spool.h"

namespace refrain::tracer {

namespace {
std::atomic<bool> g_abandoned{false};
}  // namespace

bool is_abandoned() { return g_abandoned.load(std::memory_order_relaxed); }

void abandon_record(Process& p) {
  if (g_abandoned.exchange(true)) return;
  // As without memory: calls in which the recorders of the ranks talk to each other go their way.
  set_unusual(unusual::kOutOfMemory, true);
  Spool* const spool = std::exchange(p.spool, nullptr);
  if (spool != nullptr) spool->abandon();
  complain(p, "a signal handler jumped out of the recorder: its further calls are not recorded");
}

}  // namespace refrain::tracer
