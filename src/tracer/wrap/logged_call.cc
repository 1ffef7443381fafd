#include "tracer/wrap/logged_call.h"

#include <dlfcn.h>

#include <algorithm>

#include "logged_hand.h"
#include "mpi_runtime/status_fields.h"
#include "tracer/state/comm_info.h"
#include "tracer/state/peers.h"
#include "tracer/state/process.h"
#include "tracer/wrap/call_scope.h"

namespace refrain::tracer {

using RecordKind = format::messages::Kind;
using format::messages::Missing;

RealFunctions g_behind;

void* find_behind(const char* name) { return dlsym(RTLD_NEXT, name); }

void begin_logging(Process& process) {
  if (begin_rank_log(process) == nullptr) return;
  install_logged_0();
  install_logged_1();
}

void LoggedCall::find(mpi::CallId call) {
  if (!has_slow_path_reason(slow_path_reasons::kLogsMessages)) return;
  RecordedThread* const l = as_recorded(current_location());
  // A call of the library inside of one of the program's: see CallScope::enter().
  if (l == nullptr || l->in_recorder || l->open_call != call ||
      (l->depth != 1 && l->recorded_depth != l->depth))
    return;
  if (l->log == nullptr) l->log = new LogThread;
  location_ = l;
  thread_ = l->log;
  log_ = rank_log();
}

void LoggedCall::will_write() {
  thread_->number = calls_of(*location_);
  thread_->has_call = true;
  if (thread_->scope != nullptr && location_->depth == 1) thread_->scope->will_log();
}

// ---- communicators ----

int64_t LoggedCall::local_size(MPI_Comm comm) { return mpi_runtime::local_size(comm); }

int LoggedCall::rank(MPI_Comm comm) {
  const CommInfo* const info = location_->encoder.comm_info(comm);
  return info == nullptr ? -1 : info->rank;
}

bool LoggedCall::gets_from_root(MPI_Comm comm, int root) {
  const CommInfo* const info = location_->encoder.comm_info(comm);
  if (info == nullptr) return false;
  return info->inter ? root >= 0 : root != info->rank;
}

bool LoggedCall::may_get_from_root(MPI_Comm comm, int root) {
  const CommInfo* const info = location_->encoder.comm_info(comm);
  return info != nullptr && (!info->inter || root >= 0);
}

// ---- memory ----

Fill LoggedCall::fill(const void* memory, int64_t count, MPI_Datatype type) {
  if (count <= 0) return {};
  if (const int64_t each = log().types.flat_bytes(handle_key(type), has_threads()); each >= 0) {
    uint64_t bytes = 0;
    const bool is_absurd = __builtin_mul_overflow(count, each, &bytes);
    return {memory, is_absurd ? 0 : bytes};
  }
  const auto map = map_of(type);
  if (map) return {memory, static_cast<uint64_t>(count), *map};
  Fill unknown;
  unknown.known = false;
  return unknown;
}

// ---- where it comes from ----

Origin LoggedCall::of_members(MPI_Comm comm) {
  if (!log().has_groups()) return {};
  const CommInfo* const info = location_->encoder.comm_info(comm);
  return {.is_inside = info != nullptr && log().is_inside(*info)};
}

bool LoggedCall::is_inside_group(const Origin& origin, const MPI_Status* status) {
  if (origin.comm == nullptr || status == nullptr) return origin.is_inside;
  const base::RunList& others = origin.comm->inter ? origin.comm->remote : origin.comm->local;
  const int source = status->MPI_SOURCE;
  return source >= 0 && static_cast<uint64_t>(source) < others.size() &&
         log().is_inside(others.at(static_cast<uint64_t>(source)));
}

// ---- records ----

void LoggedCall::add_contents(uint64_t where, Fill&& fill, uint64_t bytes, bool inside,
                              bool local) {
  WaitingRecord& r = add(RecordKind::kContents, where);
  r.bytes = bytes;
  r.is_inside = inside;
  r.is_local = local;
  r.fill = std::move(fill);
}

void LoggedCall::add_missing(uint64_t where, uint64_t bytes, const Origin& origin) {
  WaitingRecord& r = add(RecordKind::kMissing, where);
  r.bytes = bytes;
  r.missing = Missing::kLayout;
  r.is_local = origin.is_local;
}

void LoggedCall::filled(Fill&& fill, const Origin& origin) {
  if (!fill.known) return add_missing(0, 0, origin);
  const uint64_t bytes = fill.bytes();
  add_contents(0, std::move(fill), bytes, origin.is_inside, origin.is_local);
}

LoggedCall::Came LoggedCall::came(const MPI_Status& status) {
  if (const auto bytes = mpi_runtime::bytes_if_plain(status)) return {bytes, false};
  return {mpi_runtime::received_bytes(status), mpi_runtime::is_cancelled(status)};
}

// Nobody can read a status that the program ignores. Open MPI 4.1 leaves what a file has no use for
// as it was.
void LoggedCall::add_status(uint64_t where, const MPI_Status& status, const Came& came,
                            bool of_file) {
  if (ignores_statuses_ || &status == &own_) return;
  format::messages::StatusFields fields;
  fields.has_count = came.bytes.has_value();
  fields.bytes = came.bytes.value_or(0);
  fields.error = status.MPI_ERROR;
  fields.cancelled = !of_file && came.is_cancelled;
  // What the contents say needs no record.
  format::messages::StatusFields implied;
  implied.bytes = thread_->contents_at(where);
  if (fields == implied) return;
  add(RecordKind::kStatus, where).status = fields;
}

void LoggedCall::status_of(uint64_t where, const MPI_Status* status, bool of_file) {
  if (status == MPI_STATUS_IGNORE || ignores_statuses_ || status == &own_) return;
  add_status(where, *status, came(*status), of_file);
}

// What most receives are: of bytes in a row, all of which came. False: see received_some().
bool LoggedCall::received_flat(const MPI_Status& status, const Elements& elements,
                               const Origin& origin) {
  const int64_t each = log_->types.flat_bytes(handle_key(elements.type), has_threads());
  const auto came = mpi_runtime::bytes_if_plain(status);
  uint64_t room = 0;
  if (each < 0 || !came || elements.count < 0 || origin.is_file ||
      __builtin_mul_overflow(elements.count, each, &room))
    return false;
  const uint64_t bytes = std::min(room, *came);
  if (bytes > 0 && status.MPI_SOURCE != MPI_PROC_NULL) {
    const auto* const memory = static_cast<const std::byte*>(elements.memory);
    if (is_inside(origin, &status) || origin.is_local) [[unlikely]] {
      add_contents(0, Fill(memory, bytes), bytes, !origin.is_local, origin.is_local);
    } else {
      if (!thread_->has_call) will_write();
      thread_->fill_flat(memory, bytes);
    }
  }
  if (&status != &own_) add_status(0, status, {came, false}, false);
  return true;
}

void LoggedCall::received_some(uint64_t where, const MPI_Status& status, int rc, Fill&& fill,
                               const Origin& origin) {
  const bool is_cut = rc != MPI_SUCCESS;  // as much as there is room for
  const bool is_message = !is_cut && !origin.is_file;
  const Came came = LoggedCall::came(status);
  const bool cancelled = is_message && came.is_cancelled;
  const bool from_nowhere = is_message && status.MPI_SOURCE == MPI_PROC_NULL;
  if (!cancelled && !from_nowhere) {
    const uint64_t room = fill.known ? fill.bytes() : came.bytes.value_or(0);
    const uint64_t bytes = is_cut || !came.bytes ? room : std::min(room, *came.bytes);
    if (!fill.known && bytes > 0)
      add_missing(where, bytes, origin);
    else if (bytes > 0)
      add_contents(where, std::move(fill), bytes, is_inside(origin, &status), origin.is_local);
  }
  add_status(where, status, came, origin.is_file);
}

// ---- operations under way ----

void LoggedCall::post(MPI_Request* request, Fill&& fill, const Origin& origin, const PostHow& how) {
  if (*request == MPI_REQUEST_NULL) return;
  const SharedLock lock(log().mutex, has_threads());
  Posted& posted = log().posted.add(handle_key(*request));
  posted.fill = std::move(fill);
  posted.origin = origin;
  posted.variable = request;
  posted.persistent = how.persistent;
  posted.active = !how.persistent;
  posted.by_status = how.by_status;
  posted.partitions = how.partitions;
  if (how.partitions > 0) posted.arrived.resize(how.partitions);
}

void LoggedCall::completed(uint64_t where, Posted& p, const MPI_Status& status, int code) {
  const bool is_cut = code != MPI_SUCCESS && mpi_runtime::error_class(code) == MPI_ERR_TRUNCATE;
  if (p.is_kept || (code != MPI_SUCCESS && !is_cut)) return status_of(where, &status);
  if (p.partitions > 0) {
    add_parts(where, p);
    return status_of(where, &status);
  }
  if (p.by_status) return received_some(where, status, code, Fill(p.fill), p.origin);
  if (!p.fill.known)
    add_missing(where, 0, p.origin);
  else
    add_contents(where, Fill(p.fill), p.fill.bytes(), p.origin.is_inside, p.origin.is_local);
  status_of(where, &status);
}

void LoggedCall::add_part(uint64_t where, const Posted& p, uint64_t first, uint64_t partitions) {
  WaitingRecord& r = add(RecordKind::kPart, where);
  const uint64_t each = p.fill.bytes() / p.partitions;
  r.partition = first;
  r.partitions = partitions;
  r.skip = first * each;
  r.bytes = partitions * each;
  r.fill = p.fill;
}

void LoggedCall::arrived(Posted& p, uint64_t partition) {
  if (partition >= p.partitions || p.arrived[partition]) return;
  p.arrived[partition] = true;
  if (p.fill.known)
    add_part(0, p, partition, 1);
  else
    add_missing(0, 0, p.origin);
}

void LoggedCall::add_parts(uint64_t where, Posted& p) {
  if (!p.fill.known) return add_missing(where, 0, p.origin);
  for (uint64_t first = 0; first < p.partitions;) {
    uint64_t end = first;
    while (end < p.partitions && !p.arrived[end]) ++end;
    if (end > first) add_part(where, p, first, end - first);
    first = end + 1;
  }
  p.arrived.assign(p.partitions, true);
}

void LoggedCall::fetch(MPI_Win win, int target, Fill&& fill, const Origin& origin) {
  if (target == MPI_PROC_NULL) return;
  Fetch f{std::move(fill), origin, target, location_->thread, calls_of(*location_)};
  const SharedLock lock(log().mutex, has_threads());
  log().fetches.add(handle_key(win), std::move(f));
}

void LoggedCall::synchronised(MPI_Win win, int target) {
  const SharedLock lock(log().mutex, has_threads());
  for (Fetch& f : log().fetches.take(handle_key(win), target)) {
    WaitingRecord& r = add(f.fill.known ? RecordKind::kFetched : RecordKind::kMissing, 0);
    r.missing = Missing::kLayout;
    r.bytes = f.fill.bytes();
    r.is_inside = f.origin.is_inside;
    r.post_thread = f.thread;
    r.post_number = f.number;
    r.fill = std::move(f.fill);
  }
}

void LoggedCall::watch_region(MPI_Win win, uint64_t region, const void* memory, int64_t bytes,
                              WatchedWindows::From from) {
  bool is_watched = bytes <= 0;
  if (!is_watched) {
    const SharedLock lock(log().mutex, has_threads());
    is_watched =
        log().windows.has(handle_key(win), region) ||
        log().windows.add(handle_key(win), region, memory, static_cast<uint64_t>(bytes), from);
  }
  if (!is_watched) noted(format::messages::Noted::kUnknownWindow);
}

void LoggedCall::watch(MPI_Win win, const void* memory, int64_t bytes, MPI_Comm comm,
                       bool is_shared) {
  const CommInfo* const info = location_->encoder.comm_info(comm);
  const bool has_parts = is_shared && info != nullptr && info->rank >= 0;
  watch_region(win, has_parts ? static_cast<uint64_t>(info->rank) : 0, memory, bytes,
               WatchedWindows::From::kNow);
  if (is_shared && info != nullptr && info->size > 1 && !log().is_inside(*info))
    noted(format::messages::Noted::kSharedWindow);
}

void LoggedCall::watch_attached(MPI_Win win, const void* memory, int64_t bytes) {
  const uint64_t region = [&] {
    const SharedLock lock(log().mutex, has_threads());
    return log().windows.next_attached(handle_key(win));
  }();
  watch_region(win, region, memory, bytes, WatchedWindows::From::kNow);
}

void LoggedCall::unwatch_attached(MPI_Win win, const void* memory) {
  const SharedLock lock(log().mutex, has_threads());
  log().windows.remove_at(handle_key(win), memory);
}

// Which rank's part MPI_PROC_NULL stands for is not said: it is not watched.
void LoggedCall::watch_part(MPI_Win win, int rank, const void* memory, int64_t bytes) {
  if (rank < 0) return noted(format::messages::Noted::kUnknownWindow);
  watch_region(win, static_cast<uint64_t>(rank), memory, bytes, WatchedWindows::From::kZeroes);
}

void LoggedCall::unwatch(uint64_t key) {
  const SharedLock lock(log().mutex, has_threads());
  log().windows.remove(key);
}

void LoggedCall::epoch(MPI_Win win, bool is_fenced) {
  const SharedLock lock(log().mutex, has_threads());
  log().windows.mark(handle_key(win), is_fenced);
}

// A file has one such operation under way at most.
void LoggedCall::begin_split(MPI_File file, Fill&& fill) {
  const SharedLock lock(log().mutex, has_threads());
  log().splits.take(handle_key(file), -1);
  log().splits.add(handle_key(file), {std::move(fill), of_file(), 0, 0, 0});
}

void LoggedCall::end_split(MPI_File file, const MPI_Status* used, int rc) {
  std::vector<Fetch> ended;
  {
    const SharedLock lock(log().mutex, has_threads());
    ended = log().splits.take(handle_key(file), -1);
  }
  if (rc != MPI_SUCCESS || ended.empty()) return;
  received_some(0, *used, rc, std::move(ended[0].fill), of_file());
}

}  // namespace refrain::tracer

// Called by librefrain-wtime.so. Inside of a call only what a callback of the program asks counts.
extern "C" __attribute__((visibility("default"))) void refrain_log_wtime(double seconds,
                                                                         const void* caller) {
  using namespace refrain::tracer;
  if (!has_slow_path_reason(slow_path_reasons::kLogsMessages)) return;
  Location* const l = current_location();
  if (l == nullptr || l->in_recorder || rank_log() == nullptr) return;
  if (l->depth > 0 && l->process->code.is_mpi(reinterpret_cast<uintptr_t>(caller))) return;
  rank_log()->wtime(*l, seconds);
}
