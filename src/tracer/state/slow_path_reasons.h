// The reasons why calls must take the slow path, as bits of one word, which every wrapper reads.
//
// Zero: recording, everything, with memory to do so. While kNotRecording is set, a wrapper costs
// that test and records nothing.
#pragma once

#include <atomic>
#include <cstdint>

namespace refrain::tracer {

namespace slow_path_reasons {
inline constexpr uint32_t kNotRecording = 1;  // over, or not for this process
inline constexpr uint32_t kLeavesOut = 2;     // paused, or a filter is on: see control.h
inline constexpr uint32_t kOutOfMemory = 4;   // set by operator new, never cleared: see memory.h
inline constexpr uint32_t kLogsMessages = 8;  // see messages/rank_log.h
inline constexpr uint32_t kAnything = UINT32_MAX;
}  // namespace slow_path_reasons

// Hidden: reached without a table, like all that every call reads.
extern __attribute__((visibility("hidden"))) std::atomic<uint32_t> g_slow_path_reasons;

#ifndef REFRAIN_SMPI
inline bool has_slow_path_reason(uint32_t what) {
  return (g_slow_path_reasons.load(std::memory_order_relaxed) & what) != 0;
}
inline void set_slow_path_reason(uint32_t what, bool on) {
  on ? g_slow_path_reasons.fetch_or(what) : g_slow_path_reasons.fetch_and(~what);
}
#else
// A word of each rank beside the one of all: current_smpi.cc.
bool has_slow_path_reason(uint32_t what);
void set_slow_path_reason(uint32_t what, bool on);
#endif

}  // namespace refrain::tracer
