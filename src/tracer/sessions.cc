// Programs that use MPI sessions and never call MPI_Init have no MPI_COMM_WORLD to merge over.
// Their ranks meet in the file system instead: each writes its record into OUTPUT.parts/, and
// whoever finds all of them there merges them.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "format/encode/encode.h"
#include "tracer/finish.h"
#include "tracer/record.h"
#include "tracer/recording.h"
#include "tracer/spool.h"

#ifdef REFRAIN_HAS_MPI_Session_init

namespace refrain::tracer {

namespace {

int g_open_sessions = 0;

std::string folder(const Process& p) { return p.options.output + ".parts"; }

std::string part_path(const Process& p, int rank) {
  return folder(p) + "/" + std::to_string(rank) + ".part";
}

bool read_file(const std::string& path, std::string& bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[65536];
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
  for (int rank = 0; rank < p.size; ++rank) {
    std::string bytes;
    if (!read_file(part_path(p, rank), bytes))
      return complain(p, "cannot read another rank's record");
    auto part = format::parse(bytes);
    if (part.ok() && rank > 0) part = format::merge(std::move(all), std::move(part.value()));
    if (!part.ok()) return complain(p, part.error().to_string().c_str());
    all = std::move(part.value());
  }
  if (write_trace(p, std::move(all)) && p.spool != nullptr) p.spool->remove_run();
  for (int rank = 0; rank < p.size; ++rank) unlink(part_path(p, rank).c_str());
  unlink((folder(p) + "/merging").c_str());
  rmdir(folder(p).c_str());
}

}  // namespace

void session_is_up(Process& p, MPI_Session session, uint64_t init_ticks) {
  ++g_open_sessions;
  if (p.initialized) return;
  p.clock.refine();
  p.init_ticks = init_ticks;
  MPI_Group world = MPI_GROUP_NULL;
  if (REFRAIN_REAL(PMPI_Group_from_session_pset)(session, "mpi://WORLD", &world) != MPI_SUCCESS)
    return complain(p, "this MPI has no process set mpi://WORLD: nothing will be recorded");
  REFRAIN_REAL(PMPI_Group_rank)(world, &p.rank);
  REFRAIN_REAL(PMPI_Group_size)(world, &p.size);
  p.world_group = world;
  p.initialized = true;
  Spool::open(p, 0);
}

void session_ends(Location& location) {
  Process& p = *location.process;
  if (--g_open_sessions > 0 || p.comm != MPI_COMM_NULL || !p.initialized) return;
  set_unusual(unusual::kNotRecording, true);
  location.in_recorder = true;
  if (p.spool != nullptr) p.spool->set_state(format::spool::State::kFinishing);
  p.clock.refine();
  REFRAIN_REAL(PMPI_Group_free)(&p.world_group);
  auto leaf = format::leaf(make_record(p), static_cast<uint64_t>(p.size));
  if (!leaf.ok()) return complain(p, leaf.error().to_string().c_str());
  mkdir(folder(p).c_str(), 0700);
  const auto written =
      format::write_file_atomically(part_path(p, p.rank), format::serialise(leaf.value()));
  if (!written.ok()) return complain(p, written.error().to_string().c_str());
  for (int rank = 0; rank < p.size; ++rank)
    if (access(part_path(p, rank).c_str(), R_OK) != 0) return;
  if (is_mine_to_merge(p)) merge_parts(p);
}

}  // namespace refrain::tracer

#endif
