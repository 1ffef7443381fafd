#include "tracer/location.h"

#include <mutex>

#include "tracer/process.h"
#include "tracer/spool.h"

namespace refrain::tracer {

Location* make_location() {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  Process& p = process();
  auto* l = new Location(p, static_cast<uint32_t>(p.locations.size()));
  p.locations.push_back(l);
  if (p.spool != nullptr) p.spool->attach(*l);
  return l;
}

Location::Location(Process& p, uint32_t thread_number)
    : process(&p),
      thread(thread_number),
      grammar(p.options.grammar_bytes),
      encoder(*this),
      stack(StackBounds::of_this_thread()) {}

}  // namespace refrain::tracer
