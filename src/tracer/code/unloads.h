// Libraries that the program unloads: where one was, another one may be loaded. What is known of
// addresses of code, and of signatures that have such an address in them, ends there.
#pragma once

#include <atomic>
#include <cstdint>

namespace refrain::tracer {

// How many times a library may have been unloaded; whoever keeps such knowledge compares.
extern __attribute__((visibility("hidden"))) std::atomic<uint32_t> g_unloads;

inline uint32_t unloads() { return g_unloads.load(std::memory_order_relaxed); }

}  // namespace refrain::tracer
