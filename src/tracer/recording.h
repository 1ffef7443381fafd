// The one switch: while it is off, a wrapper costs a branch and records nothing.
#pragma once

#include <atomic>

namespace refrain::tracer {

extern std::atomic<bool> g_recording;

}  // namespace refrain::tracer
