/* Pairs of random numbers, each rank its own, and sums of what was counted at the end: next to no
 * communication, as in the program EP of the NAS Parallel Benchmarks.
 *
 *   ep [blocks]      default 20; any number of ranks
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"
#include "work.h"

enum { kPairs = 4096, kRings = 10 };

int main(int argc, char** argv) {
  timed_init(&argc, &argv);
  const int blocks = argc > 1 ? atoi(argv[1]) : 20;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  uint64_t state = 271828183u + 1000003u * (uint64_t)rank;
  double mine[kRings] = {0}, sums[2] = {0}, all[kRings], totals[2];
  for (int block = 0; block < blocks; ++block) {
    for (int i = 0; i < kPairs; ++i) {
      double xy[2];
      for (int k = 0; k < 2; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        xy[k] = 2.0 * ((double)(state >> 11) / 9007199254740992.0) - 1.0;
      }
      const double t = xy[0] * xy[0] + xy[1] * xy[1];
      if (t > 1.0 || t == 0.0) continue;
      const double scale = sqrt(-2.0 * log(t) / t);
      const double x = fabs(xy[0] * scale), y = fabs(xy[1] * scale);
      const int ring = (int)(x > y ? x : y);
      if (ring < kRings) mine[ring] += 1.0;
      sums[0] += xy[0] * scale;
      sums[1] += xy[1] * scale;
    }
    work(rank, kPairs);
  }
  MPI_Allreduce(sums, totals, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(mine, all, kRings, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  timed_finalize(rank);
  return all[0] > 0.0 && totals[0] == totals[0] ? 0 : 1;
}
