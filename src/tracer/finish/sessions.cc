// Programs that use MPI sessions have no MPI_COMM_WORLD to merge over when they come to their end:
// they never call MPI_Init, or a session outlives MPI_Finalize. Their ranks meet in the file system
// instead: each writes its record into OUTPUT.parts/, and whoever finds all of them there merges
// them. They do so when the process ends: after the last session another one may come.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/no_cancel.h"
#include "format/encode/encode.h"
#include "mpi_runtime/rank_exchange.h"
#include "mpi_runtime/recorder_comm.h"
#include "mpi_runtime/world.h"
#include "tracer/finish/finish.h"
#include "tracer/finish/rank_clusters.h"
#include "tracer/finish/record.h"
#include "tracer/finish/time_handover.h"
#include "tracer/finish/write_trace.h"
#include "tracer/spool/spool.h"
#include "tracer/startup/cores.h"
#include "tracer/startup/run_text.h"
#include "tracer/startup/startup.h"
#include "tracer/state/abandon.h"
#include "tracer/state/complain.h"
#include "tracer/state/file_room.h"
#include "tracer/state/peer_comms.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/times/call_times.h"

#ifdef REFRAIN_HAS_MPI_Session_init

namespace refrain::tracer {

namespace {

// The ranks will meet in the file system.
bool g_by_file = false;
uint64_t g_last_end_ticks = 0;  // of the last session, or of the world

std::vector<MPI_Session>& open_sessions() {
  static auto* sessions = new std::vector<MPI_Session>;
  return *sessions;
}

std::string folder(const Process& p) { return p.options.output + ".parts"; }

std::string times_path(const Process& p, int rank) {
  return folder(p) + "/" + std::to_string(rank) + ".times";
}

std::string part_path(const Process& p, int rank) {
  return folder(p) + "/" + std::to_string(rank) + ".part";
}

bool read_file(const std::string& path, std::string& bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[4096];  // stacks of threads may be small
  ssize_t n = 0;
  while ((n = read(fd, buffer, sizeof buffer)) > 0) bytes.append(buffer, static_cast<size_t>(n));
  close(fd);
  return n == 0;
}

// Only one rank may merge: the one that creates this file.
bool is_mine_to_merge(const Process& p) {
  const int fd =
      open((folder(p) + "/merging").c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

void merge_parts(Process& p) {
  format::PartialTrace all;
  for (int peer = 0; peer < peers().count; ++peer) {
    std::string bytes;
    if (!read_file(part_path(p, peers().rank_of(peer)), bytes))
      return complain(p, "cannot read another rank's record");
    auto part = format::parse(bytes);
    std::string().swap(bytes);
    if (part.ok() && peer > 0) part = format::merge(std::move(all), std::move(part.value()));
    if (!part.ok()) return complain(p, part.error().to_string().c_str());
    all = std::move(part.value());
  }
  const auto read_times = [&p](int rank) {
    std::string bytes;
    return read_file(times_path(p, rank), bytes) ? bytes : std::string();
  };
  std::optional<TimesOfFiles> times;
  if (p.times != nullptr) times.emplace(p.size, read_times);
  auto trace = finish_trace(p, std::move(all));
  if (trace && write_trace(p, std::move(*trace), times ? &*times : nullptr, nullptr) &&
      p.spool != nullptr)
    p.spool->remove_run();
  for (int peer = 0; peer < peers().count; ++peer) {
    unlink(part_path(p, peers().rank_of(peer)).c_str());
    unlink(times_path(p, peers().rank_of(peer)).c_str());
  }
  unlink((folder(p) + "/merging").c_str());
  rmdir(folder(p).c_str());
}

// Before any rank of this run can have written its record: what an earlier run left, which did not
// come to its end, must not be taken for it.
void meet_by_file(Process& p) {
  g_by_file = true;
  unlink(part_path(p, p.rank).c_str());
  if (peers().mine == 0) unlink((folder(p) + "/merging").c_str());
  rmdir(folder(p).c_str());  // fails while there is something in it
}

// What communicators are made of is told by the ranks of this group. It belongs to a session.
bool find_world_group() {
  free_group(&world_group());
  world_group().group = MPI_GROUP_NULL;
  return open_sessions().empty() ||
         REFRAIN_REAL(PMPI_Group_from_session_pset)(open_sessions().back(), "mpi://WORLD",
                                                    &world_group().group) == MPI_SUCCESS;
}

}  // namespace

void session_is_up(Process& p, MPI_Session session, uint64_t init_ticks) {
  const base::NoCancel no_cancel;
  g_mpi_was_seen.store(true);
  open_sessions().push_back(session);
  if (world_group().group != MPI_GROUP_NULL) return;
  if (!find_world_group())
    return complain(p, "this MPI has no process set mpi://WORLD: nothing will be recorded");
  if (p.initialized) return;
  p.clock.refine();
  p.init_ticks = init_ticks;
  REFRAIN_REAL(PMPI_Group_rank)(world_group().group, &p.rank);
  REFRAIN_REAL(PMPI_Group_size)(world_group().group, &p.size);
  peers().mine = p.rank;
  peers().count = p.size;
  p.initialized = true;
  begin_run(p);
  if (p.times != nullptr) p.times->take_date(p);
  meet_by_file(p);
  Spool::open(p, 0, run_text(p));
}

void session_ends(Process& p, MPI_Session session) {
  auto& open = open_sessions();
  open.erase(std::remove(open.begin(), open.end(), session), open.end());
  g_last_end_ticks = p.clock.ticks();
  if (!has_peers()) find_world_group();
}

bool sessions_go_on(Process& p) {
  const base::NoCancel no_cancel;
  uint64_t any = open_sessions().empty() ? 0 : 1;
  if (any != 0) unlink(part_path(p, p.rank).c_str());
  if (!greatest_of_all(recorders(), &any, 1) || any == 0) return false;
  meet_by_file(p);
  // Until all are ready to see nothing of an earlier run.
  wait_for_all(recorders());
  free_comm(&recorders());
  g_last_end_ticks = p.clock.ticks();
  find_world_group();
  return true;
}

void mpi_goes_on(Process& p) {
  const base::NoCancel no_cancel;
  meet_by_file(p);
  set_null(&recorders());
  world_group().group = MPI_GROUP_NULL;
  g_last_end_ticks = p.clock.ticks();
  find_world_group();
}

void hand_over_by_file() {
  // A process that leaves with a session open has not come to its end; `refrain recover` knows.
  if (!g_by_file || has_slow_path_reason(slow_path_reasons::kNotRecording) ||
      !open_sessions().empty())
    return;
  if (is_abandoned()) return;
  Process& p = process();
  if (has_peers()) return;
  const FileRoom room;
  set_slow_path_reason(slow_path_reasons::kNotRecording, true);
  if (p.sink != nullptr) p.sink->set_state(format::spool::State::kFinishing);
  p.clock.refine();
  give_clusters_up(p, "sessions have no communicator of all ranks to find clusters with");
  auto record = make_record(p);
  if (!record.ok()) return complain(p, record.error().to_string().c_str());
  record->duration_ns = p.clock.to_ns(g_last_end_ticks - p.init_ticks);
  tell_run_end(p, *record);
  auto leaf = format::leaf(std::move(record.value()), static_cast<uint64_t>(p.size));
  if (!leaf.ok()) return complain(p, leaf.error().to_string().c_str());
  mkdir(folder(p).c_str(), 0700);
  // First: who finds all parts there takes it that the times are there, too.
  if (p.times != nullptr) {
    p.times->take_date(p);
    const auto times = format::write_file_atomically(times_path(p, p.rank), times_to_bytes(p),
                                                     "the trace", format::Sync::kSoon);
    if (!times.ok()) complain(p, times.error().to_string().c_str());
  }
  const auto written = format::write_file_atomically(
      part_path(p, p.rank), format::serialise(leaf.value()), "the trace", format::Sync::kSoon);
  if (!written.ok()) return complain(p, written.error().to_string().c_str());
  for (int peer = 0; peer < peers().count; ++peer)
    if (access(part_path(p, peers().rank_of(peer)).c_str(), R_OK) != 0) return;
  if (is_mine_to_merge(p)) merge_parts(p);
}

}  // namespace refrain::tracer

#endif
