// Selects the recorded calls: filters (REFRAIN_ONLY, REFRAIN_WITHOUT, REFRAIN_COMM, and by size,
// see size_filter.h), and pausing and resuming (REFRAIN_START_PAUSED, MPI_Pcontrol,
// refrain/mark.h).
//
// One byte for each function says whether its calls are left out, and a wrapper tests it first.
// Calls that create, free or complete objects are processed in any case, and are only left out of
// the record (CallScope::leave_out()): so objects that were created during a pause are known
// afterwards, and ids agree among ranks. All other calls cost only the test.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "format/trace_data.h"
#include "mpi/call_table.h"
#include "mpi_runtime/handle_map.h"
#include "tracer/state/current.h"

namespace refrain::tracer {

class Process;
struct SizeFilter;

namespace leave {
inline constexpr uint8_t kPaused = 1;
inline constexpr uint8_t kFiltered = 2;
inline constexpr uint8_t kByComm = 4;  // it depends on the communicator
}  // namespace leave

inline constexpr size_t kCallSlots = 2048;  // above every id of a function

// Of a rank.
struct Control {
  std::atomic<uint8_t> leave[kCallSlots] = {};
  // Calls left out. Threads may lose a count to each other; it is no more than a statement of size.
  std::atomic<uint64_t> left_out[kCallSlots] = {};
  bool filters = false;  // one is on, for the whole run
  std::mutex mutex;
  std::string* comm_words = nullptr;  // of REFRAIN_COMM
  HandleMap* objects = nullptr;       // windows and files whose calls are left out
  SizeFilter* sizes = nullptr;        // see size_filter.h; null: none
};

#ifndef REFRAIN_SMPI
extern __attribute__((visibility("hidden"))) Control g_control;
inline Control& control() { return g_control; }
#else
inline Control& control() { return of_this_process<Control>(); }
#endif

[[gnu::always_inline]] inline void count_left_out(mpi::CallId id, uint64_t calls = 1) {
  std::atomic<uint64_t>& count = control().left_out[id];
  count.store(count.load(std::memory_order_relaxed) + calls, std::memory_order_relaxed);
}

inline uint8_t how_to_leave(mpi::CallId id) {
  return control().leave[id].load(std::memory_order_relaxed);
}

bool leaves_out_by_comm(mpi::CallId id, uint64_t comm_key);
// Of a window or file: when the call that made it was left out.
bool leaves_out_by_object(mpi::CallId id, format::DefinitionKind kind, uint64_t key);

// The test of a wrapper. True: pass the call on; it has been counted.
inline bool leaves_out(mpi::CallId id) {
  const uint8_t how = how_to_leave(id);
  if (how == 0) [[likely]]
    return false;
  if ((how & ~leave::kByComm) == 0) return false;
  count_left_out(id);
  return true;
}

template <class H>
inline uint64_t key_of(H handle) {
  uint64_t key = 0;
  static_assert(sizeof handle <= sizeof key);
  __builtin_memcpy(&key, &handle, sizeof handle);
  return key;
}

// The same for a function with a communicator, or with a window or file.
template <class H>
inline bool leaves_out(mpi::CallId id, H comm) {
  const uint8_t how = how_to_leave(id);
  if (how == 0) [[likely]]
    return false;
  if ((how & ~leave::kByComm) == 0) return leaves_out_by_comm(id, key_of(comm));
  count_left_out(id);
  return true;
}
template <class H>
inline bool leaves_out(mpi::CallId id, format::DefinitionKind kind, H object) {
  const uint8_t how = how_to_leave(id);
  if (how == 0) [[likely]]
    return false;
  if ((how & ~leave::kByComm) == 0) return leaves_out_by_object(id, kind, key_of(object));
  count_left_out(id);
  return true;
}

// Why a call that is left out is: a filter, and not only a pause.
inline bool is_filtered_out(mpi::CallId id) { return (how_to_leave(id) & leave::kPaused) == 0; }

// A window or file was made by a call that a filter leaves out; its handle is gone.
void leave_object_out(format::DefinitionKind kind, uint64_t key);
void forget_object(format::DefinitionKind kind, uint64_t key);

void start_control(Process& p);
void pause_recording();
void resume_recording();
// MPI_Pcontrol: 0 pauses, 1 and 2 resume, others mean nothing to us.
void apply_pcontrol(int level);

// What was left out, for the record: by reason and function.
void add_left_out(std::vector<format::LossRecord>& losses, int rank);

}  // namespace refrain::tracer
