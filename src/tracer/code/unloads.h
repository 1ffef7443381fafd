// Libraries that the program unloads. Another library may be loaded at the same addresses, so
// cached facts about addresses of code, and about signatures that contain them, are dropped then.
#pragma once

#include <atomic>
#include <cstdint>

namespace refrain::tracer {

// How many times a library may have been unloaded; whoever keeps such knowledge compares.
extern __attribute__((visibility("hidden"))) std::atomic<uint32_t> g_unloads;

inline uint32_t unloads() { return g_unloads.load(std::memory_order_relaxed); }

}  // namespace refrain::tracer
