#include "tracer/wrap/recorded_thread.h"

#include "tracer/state/process.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

Location* make_location() {
  return add_location([](Process& p, uint32_t thread) -> Location* {
    auto* const made = new RecordedThread(p, thread);
    if (p.times != nullptr) keep_times(*made);
    if (p.options.gaps) keep_gaps(*made);
    return made;
  });
}

}  // namespace refrain::tracer
