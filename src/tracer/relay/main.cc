// refrain-relay-<mpi>: a rank of the analyser in a job (`refrain live analyze`, which becomes it).
//
//   usage: refrain-relay-mpich FOLDER PIPE WORKER
//          refrain-relay-mpich --end STATUS LINE
//
// FOLDER: where the job's programs tell of themselves; PIPE: the end of a pipe to the process
// WORKER, a child that `live analyze` started before, and which does all the work. --end: `live
// analyze` cannot begin, and LINE says why; the programs wait in MPI_Init, so the job ends.
//
// The rank is there because the launcher wants one: it takes part in what all ranks do together
// when programs begin, sleeps, and is in MPI_Finalize as soon as the last program is. The worker
// knows nothing of MPI and has a session of its own, so it outlives what kills a job.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "mpi_runtime/relay_calls.h"
#include "tracer/relay/wait_for_programs.h"
#include "tracer/startup/doorbell.h"
#include "tracer/startup/launch.h"
#include "tracer/startup/launcher.h"

namespace refrain::tracer {
namespace {

constexpr int kUsage = 2;
// Every look takes a core from a rank, and there may be as many relays as ranks: 0.5 % of a core
// each. While a program ends, its ranks wait for these looks; it rings when it begins to, which may
// be heard a little before what it says by MPI comes.
constexpr int kLookMs = 20, kEndingLookMs = 1, kLooksAfterRing = 20;

void end_if_some_are_missing(int rank, int size) {
  using Are = RecordedRanks::Are;
  const RecordedRanks found = look_for_recorded(rank, size, LaunchBoard::kLive);
  if (found.are != Are::kSome && found.are != Are::kWithoutUs) return;
  const bool is_first = found.are == Are::kWithoutUs || found.ranks.front() == rank;
  if (is_first) std::fprintf(stderr, "refrain: %s\n", kNotAllLive);
  wait_to_abort(is_first);
  mpi_runtime::abort_job(kUsage);
}

// One analyser does the work. Where another one has an output of its own, nothing comes there: its
// first rank of a host to notice says so, and takes the empty folders away.
void leave_to_another(const std::string& folder, const std::string& its_folder) {
  if (its_folder == folder || rmdir(folder.c_str()) != 0) return;
  const auto output = [](const std::string& jobs) { return jobs.substr(0, jobs.rfind('/')); };
  rmdir(output(folder).c_str());
  std::fprintf(stderr,
               "refrain: %s: nothing is written there, as another analyser of this job does the "
               "work, in %s\n",
               output(folder).c_str(), output(its_folder).c_str());
}

// The worker's exit status; what it has to say is in a file beside what it leaves.
void wait_for_worker(pid_t worker) {
  int status = 0;
  while (waitpid(worker, &status, 0) < 0)
    if (errno != EINTR) return;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::fputs("refrain: the analysis did not succeed: see analyze.log in its folder\n", stderr);
}

void wait_for_ends(int programs, const std::string& folder) {
  using News = mpi_runtime::ProgramNews;
  Doorbell bell(folder);
  int looks = 0;  // that are made soon
  for (int left = programs, ending = 0; left > 0;) switch (mpi_runtime::program_news()) {
      case News::kIsEnding: ++ending; break;
      case News::kEnds:
        --left;
        if (ending > 0) --ending;
        break;
      case News::kNone:
        if (looks > 0) --looks;
        if (bell.rings_within(ending > 0 || looks > 0 ? kEndingLookMs : kLookMs))
          looks = kLooksAfterRing;
        break;
    }
}

// In the job, with who is in it. False: its programs are gone, or never were there.
bool enter(const mpi_runtime::LiveRole& role, mpi_runtime::LivePartitions* found) {
  announce_rank(LaunchBoard::kLive, Begins::kAsAnalyser);
  if (const Conflict conflict = find_sessions_beside_analyser(); conflict != Conflict::kNone) {
    if (conflict == Conflict::kSayIt)
      std::fprintf(stderr, "refrain: %s\n", kSessionsBesideAnalyser);
    wait_to_abort(conflict == Conflict::kSayIt);
    mpi_runtime::abort_without_world(kUsage);
  }
  if (!wait_for_programs()) {
    forget_launch();
    return false;
  }
  if (!mpi_runtime::begin_mpi()) _exit(1);
  int rank = 0, size = 0;
  mpi_runtime::learn_job(&rank, &size);
  if (size > 1) end_if_some_are_missing(rank, size);
  if (!agree_on_partitions(role, found)) mpi_runtime::abort_job(1);
  return true;
}

int relay(const std::string& folder, int pipe, pid_t worker) {
  // Nothing that MPI starts may hold the pipe: its end means that this rank is gone.
  fcntl(pipe, F_SETFD, FD_CLOEXEC);
  std::signal(SIGPIPE, SIG_IGN);  // a worker that is gone
  mpi_runtime::LivePartitions found;
  if (!enter({true, {}, folder}, &found)) {
    std::fputs("refrain: the programs of the job ended before MPI_Init: nothing to analyse\n",
               stderr);
    return 0;
  }
  if (!found.are_coupled()) {
    if (found.rank == found.mine.front())
      std::fputs(
          "refrain: no program in the job to analyse: write mpiexec -n 4 refrain record --live "
          "./app : -n 1 refrain live analyze -o live\n",
          stderr);
    mpi_runtime::end_mpi();
    return kUsage;
  }
  const bool has_worker = found.rank == found.analysers.front();
  if (has_worker && write(pipe, "g", 1) != 1)
    std::fputs("refrain: the analysis did not begin: see analyze.log in its folder\n", stderr);
  if (!has_worker) leave_to_another(folder, found.folder);
  if (!mpi_runtime::join_split(found)) mpi_runtime::abort_job(1);
  wait_for_ends(found.program_count, found.folder);
  mpi_runtime::end_mpi();
  close(pipe);
  if (has_worker) wait_for_worker(worker);
  return 0;
}

int end_job(int status, const char* line) {
  mpi_runtime::LivePartitions found;
  const bool is_in = enter({true, "--end", {}}, &found);
  const bool says_it = !is_in || found.rank == found.mine.front();  // of those with --end
  if (says_it) std::fprintf(stderr, "refrain: %s\n", line);
  if (!is_in) return status;
  wait_to_abort(says_it);
  mpi_runtime::abort_job(status);
  return status;
}

}  // namespace
}  // namespace refrain::tracer

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("refrain: refrain-relay is started by `refrain live analyze`\n", stderr);
    return 2;
  }
  const bool is_end = std::strcmp(argv[1], "--end") == 0;
  const char *number_text = argv[2], *worker_text = argv[3];
  unsigned long number = 0, worker = 0;
  if (!refrain::tracer::take_number(&number_text, &number)) return 2;
  if (is_end) return refrain::tracer::end_job(static_cast<int>(number), argv[3]);
  if (!refrain::tracer::take_number(&worker_text, &worker)) return 2;
  return refrain::tracer::relay(argv[1], static_cast<int>(number), static_cast<pid_t>(worker));
}
