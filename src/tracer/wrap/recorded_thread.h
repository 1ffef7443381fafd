// RecordedThread: a location, and the state for making signatures of its thread's calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/code/addresses.h"
#include "tracer/paths/call_path.h"
#include "tracer/state/current.h"
#include "tracer/state/location.h"
#include "tracer/symbolic/encoder.h"

namespace refrain::tracer {

struct RecordedThread : Location {
  RecordedThread(Process& of, uint32_t number) : Location(of, number), encoder(*this) {}

  Encoder encoder;
  CallPaths paths;
  // Return addresses of another tool's wrappers, which pass calls on.
  static constexpr size_t kToolSites = 64;
  uintptr_t tool_sites[kToolSites] = {};
};

// What the doors of current.h lead to.
inline RecordedThread* as_recorded(Location* location) {
  return static_cast<RecordedThread*>(location);
}

}  // namespace refrain::tracer
