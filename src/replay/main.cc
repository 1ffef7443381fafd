// refrain-replay-<mpi>: what `refrain replay` becomes under a launcher. Its words are those of
// src/cli/replay.cc, which has checked them.

#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "replay/engine.h"
#include "replay/job.h"

int main(int argc, char** argv) {
  refrain::replay::JobOptions options;
  if (!refrain::replay::read_words(argc, argv, options)) return 2;
  return refrain::replay::run_job(options);
}
