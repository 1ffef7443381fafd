// LoggedCall: one call of the program while a message log is written. The generated functions
// (tools/gen/logged.py) and those of logged_completion.cc stand between the wrappers and MPI then:
//
//   wrapper -> logged function -> MPI
//                  | LoggedCall: what has been filled, and what will be
//                  v
//              LogThread::waiting, written by RankLog when the call is recorded
//
// Laws: never changes an argument, but asks for a status where the program ignores it. A call that
// is not the program's passes through. Queries to MPI are made between returned() and the end of
// the LoggedCall only.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "mpi/call_table.h"
#include "mpi_runtime/queries.h"
#include "mpi_runtime/status_fields.h"
#include "tracer/messages/rank_log.h"
#include "tracer/state/process.h"
#include "tracer/wrap/recorded_thread.h"
#include "tracer/wrap/stand_between.h"

namespace refrain::tracer {

// How an operation under way fills memory.
struct PostHow {
  bool persistent = false, by_status = false;
  uint64_t partitions = 0;
};

// A buffer as calls have it.
struct Elements {
  const void* memory;
  int64_t count;
  MPI_Datatype type;
};

class LoggedCall {
 public:
  // Short where the call came in by the short way (CallScope::enter()).
  explicit LoggedCall(mpi::CallId call) {
    RecordedThread* const l = as_recorded(known_location());
    if (l != nullptr && l->depth == 1 && l->open_call == call && l->log != nullptr &&
        l->log->scope != nullptr && !l->in_recorder &&
        has_slow_path_reason(slow_path_reasons::kLogsMessages)) [[likely]] {
      location_ = l;
      thread_ = l->log;
      log_ = rank_log();
    } else {
      find(call);
    }
  }
  ~LoggedCall() {
    if (is_back_) location_->in_recorder = false;
  }
  LoggedCall(const LoggedCall&) = delete;
  LoggedCall& operator=(const LoggedCall&) = delete;
  // Whether the call is to be logged.
  explicit operator bool() const { return thread_ != nullptr; }

  // ---- before it ----
  // The status that MPI is to fill.
  MPI_Status* status(MPI_Status* given) {
    return thread_ != nullptr && given == MPI_STATUS_IGNORE ? &own_ : given;
  }
  // The program ignores its statuses, and what MPI fills is ours.
  void ignores_statuses() { ignores_statuses_ = true; }
  RankLog& log() { return *log_; }
  // Whether calls of several threads may overlap.
  bool has_threads() const { return location_->process->threaded; }

  // Whether a call that completes a request, if it is one, has nothing to be logged: no operation
  // under way fills memory, and nobody reads the status.
  static bool has_nothing(const MPI_Status* given) {
    return given == MPI_STATUS_IGNORE && (rank_log() == nullptr || rank_log()->is_idle());
  }

  // ---- after it ----
  void returned() {
    location_->in_recorder = true;
    is_back_ = true;
    if (!log_->windows.empty()) [[unlikely]]
      will_write();
  }

  // Facts about a communicator, as the recorder has them.
  int64_t size(MPI_Comm comm) { return location_->encoder.comm_size(comm); }
  int64_t local_size(MPI_Comm comm);
  int64_t indegree(MPI_Comm comm) { return location_->encoder.indegree(comm); }
  int rank(MPI_Comm comm);
  bool is_root(MPI_Comm comm, int root) { return location_->encoder.is_root(comm, root); }
  // What the root gives to all others of its group, or to all of the other group.
  bool gets_from_root(MPI_Comm comm, int root);
  bool may_get_from_root(MPI_Comm comm, int root);

  // Memory.
  Fill fill(const void* memory, int64_t count, MPI_Datatype type);
  Fill bytes_at(const void* memory, int64_t bytes) { return fill(memory, bytes, MPI_BYTE); }
  template <class Count, class Displacement>
  Fill blocks(const void* memory, const Count* counts, const Displacement* at, int64_t n,
              MPI_Datatype type);
  template <class Count, class Displacement>
  Fill blocks(const void* memory, const Count* counts, const Displacement* at, int64_t n,
              const MPI_Datatype* types);

  Origin of_message(MPI_Comm comm) {
    return {.comm = log_->has_groups() ? location_->encoder.comm_info(comm) : nullptr};
  }
  Origin of_members(MPI_Comm comm);
  // Of whatever rank: what accesses to windows bring is always kept.
  static Origin of_window() { return {}; }
  static Origin of_file() { return {.is_file = true}; }
  static Origin of_this_process() { return {.is_local = true}; }

  // The call has filled it.
  void filled(Fill&& fill, const Origin& origin);
  // The call has filled as much of it as the status says. `make` gives the Fill.
  template <class Make>
  void received(const MPI_Status* used, int rc, Make&& make, const Origin& origin) {
    if (rc == MPI_SUCCESS || mpi_runtime::error_class(rc) == MPI_ERR_TRUNCATE)
      received_some(0, *used, rc, make(), origin);
  }
  // The same of elements of one type: the short way for those without gaps.
  void received_elements(const MPI_Status* used, int rc, const Elements& elements,
                         const Origin& origin) {
    if (rc == MPI_SUCCESS && received_shortly(*used, elements, origin)) [[likely]]
      return;
    if (rc != MPI_SUCCESS || !received_flat(*used, elements, origin)) [[unlikely]]
      received(
          used, rc, [&] { return fill(elements.memory, elements.count, elements.type); }, origin);
  }
  void received_some(uint64_t where, const MPI_Status& status, int rc, Fill&& fill,
                     const Origin& origin);
  // Something will fill it.
  void post(MPI_Request* request, Fill&& fill, const Origin& origin, const PostHow& how);
  void fetch(MPI_Win win, int target, Fill&& fill, const Origin& origin);
  void synchronised(MPI_Win win, int target);
  // A window is there, with memory of this rank.
  void watch(MPI_Win win, const void* memory, int64_t bytes, MPI_Comm comm, bool is_shared);
  void watch_attached(MPI_Win win, const void* memory, int64_t bytes);
  void unwatch_attached(MPI_Win win, const void* memory);
  // The program has been told where another rank's part of a shared window is.
  void watch_part(MPI_Win win, int rank, const void* memory, int64_t bytes);
  void unwatch(uint64_t key);
  // An epoch of the window begins or ends.
  void epoch(MPI_Win win, bool is_fenced);
  void begin_split(MPI_File file, Fill&& fill);
  void end_split(MPI_File file, const MPI_Status* used, int rc);
  void status_of(uint64_t where, const MPI_Status* status, bool of_file = false);
  void forget_type(uint64_t key) { log().types.forget(key, has_threads()); }

  // A request that is complete. `code`: what is said of errors.
  void completed(uint64_t where, Posted& posted, const MPI_Status& status, int code);
  // Partition of a request that has arrived.
  void arrived(Posted& posted, uint64_t partition);
  void noted(format::messages::Noted what) { log().noted(*location_, what, 1); }

 private:
  void find(mpi::CallId call);
  std::optional<mpi::TypeMap> map_of(MPI_Datatype type) {
    return log().types.find(handle_key(type), has_threads());
  }
  // The log has something to do behind the call.
  void will_write();
  void watch_region(MPI_Win win, uint64_t region, const void* memory, int64_t bytes,
                    WatchedWindows::From from);
  WaitingRecord& add(format::messages::Kind kind, uint64_t where) {
    if (!thread_->has_call) will_write();
    return thread_->add(kind, where);
  }
  // Of received_flat(), what takes the fewest looks: a status that the program ignores, one thread,
  // no groups. False: nothing was done.
  bool received_shortly(const MPI_Status& status, const Elements& elements, const Origin& origin) {
    if (&status != &own_ || has_threads() || log_->has_groups() || origin.is_file ||
        origin.is_local || status.MPI_SOURCE == MPI_PROC_NULL)
      return false;
    const int64_t each = log_->types.lately_flat_bytes(handle_key(elements.type));
    const auto came = mpi_runtime::bytes_if_plain(status);
    constexpr int64_t kMost = int64_t{1} << 31;
    if (!came || each < 0 || each >= kMost || elements.count < 0 || elements.count >= kMost)
      return false;
    const uint64_t bytes = std::min(static_cast<uint64_t>(each * elements.count), *came);
    if (bytes == 0) return true;
    if (!thread_->has_call) will_write();
    thread_->fill_flat(static_cast<const std::byte*>(elements.memory), bytes);
    return true;
  }
  bool received_flat(const MPI_Status& status, const Elements& elements, const Origin& origin);
  bool is_inside(const Origin& origin, const MPI_Status* status) {
    return log_->has_groups() && is_inside_group(origin, status);
  }
  bool is_inside_group(const Origin& origin, const MPI_Status* status);
  // What a status says of what came.
  struct Came {
    std::optional<uint64_t> bytes;
    bool is_cancelled = false;
  };
  static Came came(const MPI_Status& status);
  void add_status(uint64_t where, const MPI_Status& status, const Came& came, bool of_file);
  void add_contents(uint64_t where, Fill&& fill, uint64_t bytes, bool is_inside, bool is_local);
  void add_missing(uint64_t where, uint64_t bytes, const Origin& origin);
  void add_parts(uint64_t where, Posted& posted);
  void add_part(uint64_t where, const Posted& posted, uint64_t first, uint64_t partitions);

  RecordedThread* location_ = nullptr;
  LogThread* thread_ = nullptr;
  RankLog* log_ = nullptr;
  bool is_back_ = false, ignores_statuses_ = false;
  MPI_Status own_;
};

template <class Count, class Displacement>
Fill LoggedCall::blocks(const void* memory, const Count* counts, const Displacement* at, int64_t n,
                        MPI_Datatype type) {
  const auto map = map_of(type);
  Fill all;
  all.known = map.has_value();
  for (int64_t i = 0; i < n && all.known; ++i)
    all.add(static_cast<const char*>(memory) + static_cast<int64_t>(at[i]) * map->extent(),
            static_cast<uint64_t>(counts[i]), *map);
  return all;
}

template <class Count, class Displacement>
Fill LoggedCall::blocks(const void* memory, const Count* counts, const Displacement* at, int64_t n,
                        const MPI_Datatype* types) {
  Fill all;
  for (int64_t i = 0; i < n && all.known; ++i) {
    if (counts[i] == 0) continue;  // its type may be none
    const auto map = map_of(types[i]);
    all.known = map.has_value();
    if (map)
      all.add(static_cast<const char*>(memory) + static_cast<int64_t>(at[i]),
              static_cast<uint64_t>(counts[i]), *map);
  }
  return all;
}

// At the end of MPI_Init: opens the log where --messages says so.
void begin_logging(Process& process);

}  // namespace refrain::tracer
