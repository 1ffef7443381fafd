// refrain-calibrate-<mpi>: what `refrain calibrate` becomes under a launcher. Its words are those
// of src/cli/calibrate.cc, which has checked them:
//
//   refrain-calibrate-mpich SAMPLES MOST_BYTES REPEATS DISTANCE
//
// Exit status: 0, 1 where the samples cannot be written, 2 for too few ranks.

#include <mpi.h>

#include <cerrno>
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
  refrain::replay::Measure(options, me, out).all();
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
