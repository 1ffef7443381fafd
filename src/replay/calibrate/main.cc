// refrain-calibrate-<mpi>: what `refrain calibrate` becomes under a launcher. Its words are those
// of src/cli/calibrate.cc, which has checked them:
//
//   refrain-calibrate-mpich SAMPLES MOST_BYTES REPEATS DISTANCE
//
// Exit status: 0, 1 where the samples cannot be written, 2 for too few ranks.

#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "replay/calibrate/measure.h"

namespace {

std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text != 0; ++text)
    if (static_cast<unsigned char>(*text) >= ' ' && *text != '"' && *text != '\\') out += *text;
  return out + "\"";
}

// The first line: distance, MPI and hosts.
void write_header(std::FILE* out, std::string distance, const char* host, const char* other) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[std::strcspn(version, "\n")] = 0;
  if (distance == "auto") distance = std::strcmp(host, other) == 0 ? "core" : "switch";
  std::fprintf(out, "{\"refrain_samples\":1,\"distance\":\"%s\",\"mpi\":%s,\"hosts\":[%s,%s]}\n",
               distance.c_str(), quoted(version).c_str(), quoted(host).c_str(),
               quoted(other).c_str());
}

// How often another process got the core of this one while this one could have gone on.
uint64_t times_taken() {
  rusage used = {};
  return getrusage(RUSAGE_SELF, &used) == 0 ? static_cast<uint64_t>(used.ru_nivcsw) : 0;
}

// The last line. Ranks of a simulation share one process, and their time is not that of its cores.
void write_cores(std::FILE* out, uint64_t mine, double seconds) {
  uint64_t both[2] = {};
  MPI_Gather(&mine, 1, MPI_UINT64_T, both, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (out == nullptr || refrain::replay::ranks_are_one_process()) return;
  std::fprintf(out, "{\"cores_taken\":[%" PRIu64 ",%" PRIu64 "],\"seconds\":%.3f}\n", both[0],
               both[1], seconds);
}

// The core of a host that is all that both ranks may run on; -1: there are more.
int only_core() {
  std::array<uint64_t, sizeof(cpu_set_t) / sizeof(uint64_t)> mine = {}, both = {};
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0)
    std::memcpy(mine.data(), &cores, sizeof cores);
  else
    mine.fill(UINT64_MAX);  // more of them than a cpu_set_t has
  MPI_Allreduce(mine.data(), both.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_BOR,
                MPI_COMM_WORLD);
  int count = 0, core = -1;
  for (size_t i = 0; i < both.size(); ++i) {
    count += std::popcount(both[i]);
    if (both[i] != 0) core = static_cast<int>(i) * 64 + std::countr_zero(both[i]);
  }
  return count == 1 ? core : -1;
}

// Nothing that is measured there holds, and each message takes as long as the system lets the other
// rank wait in vain. So that is told at once, and not measured more often than a fit needs.
void hurry_on_one_core(int me, const char* host, refrain::replay::MeasureOptions* options) {
  constexpr uint64_t kFew = 2;
  const int core = only_core();
  if (core < 0) return;
  options->rounds = 1;
  options->repeats = std::min(options->repeats, kFew);
  if (me != 0) return;
  std::fprintf(stderr,
               "refrain: calibrate: both ranks may run on core %d of %s only, and wait for each "
               "other's turn: no time of a message can be measured. Give each a core of its own. "
               "Going on with %d messages of each size.\n",
               core, host, static_cast<int>(options->repeats));
}

int calibrate(char** words, int me) {
  char hosts[2][MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(hosts[me], &length);
  MPI_Sendrecv(hosts[me], MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 1 - me, 0, hosts[1 - me],
               MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 1 - me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::FILE* out = nullptr;
  int good = 1;
  if (me == 0) {
    out = std::fopen(words[0], "w");
    good = out != nullptr ? 1 : 0;
    if (out == nullptr)
      std::fprintf(stderr, "refrain: %s: cannot write the samples (%s)\n", words[0],
                   std::strerror(errno));
    else
      write_header(out, words[3], hosts[0], hosts[1]);
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (good == 0) return 1;
  refrain::replay::MeasureOptions options;
  options.most_bytes = std::strtoull(words[1], nullptr, 10);
  options.repeats = std::strtoull(words[2], nullptr, 10);
  if (refrain::replay::ranks_are_one_process())
    options.rounds = 1;  // a simulation is the same each time
  else if (std::strcmp(hosts[0], hosts[1]) == 0)
    hurry_on_one_core(me, hosts[0], &options);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const uint64_t before = times_taken();
  refrain::replay::Measure(options, me, out).all();
  const std::chrono::duration<double> took = Clock::now() - begin;
  write_cores(out, times_taken() - before, took.count());
  if (out == nullptr || std::fclose(out) == 0) return 0;
  std::fprintf(stderr, "refrain: %s: cannot write the samples (%s)\n", words[0],
               std::strerror(errno));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me = 0, ranks = 0, status = 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 5 && ranks == 2)
    status = calibrate(argv + 1, me);
  else if (me == 0)
    std::fprintf(stderr,
                 "refrain: calibrate measures between two ranks, and has %d: write "
                 "mpiexec -n 2\n",
                 ranks);
  MPI_Finalize();
  if (status != 0) refrain::replay::leave_job(status);
  return status;
}
