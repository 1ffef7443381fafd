/* Transport of neutrons over a 3D mesh that is cut into columns: for each octant of directions a
 * wave from that corner of the 2D mesh of ranks to the other one, in blocks of planes and angles,
 * as in the program Sweep3D.
 *
 *   sweep3d [strong|weak [iterations]]      default weak and 3; any number of ranks
 *
 * strong: all ranks together have 96 * 96 cells in a plane; weak: each of them has 12 * 12. What a
 * rank calls follows from the borders of the mesh that it has: 9 kinds from 3 * 3 ranks on.
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"
#include "work.h"

enum { kOctants = 8, kBlocks = 4, kPlanes = 10, kAngles = 3, kAll = 96, kEach = 12 };

static int rank;
static double in_x[kAll * kPlanes * kAngles], in_y[kAll * kPlanes * kAngles], flux[kAll * kAll];

static void sweep(MPI_Comm mesh, const int columns[2], const int x[2], const int y[2]) {
  const int nx = columns[0] * kPlanes * kAngles, ny = columns[1] * kPlanes * kAngles;
  for (int block = 0; block < kBlocks; ++block) {
    if (x[0] != MPI_PROC_NULL) MPI_Recv(in_x, ny, MPI_DOUBLE, x[0], 1, mesh, MPI_STATUS_IGNORE);
    if (y[0] != MPI_PROC_NULL) MPI_Recv(in_y, nx, MPI_DOUBLE, y[0], 2, mesh, MPI_STATUS_IGNORE);
    for (int i = 0; i < columns[0] * columns[1]; ++i)
      flux[i] = 0.9 * flux[i] + 0.05 * (in_x[i % ny] + in_y[i % nx]) + 0.1;
    work(rank, (double)columns[0] * columns[1] * kPlanes * kAngles);
    for (int i = 0; i < ny; ++i) in_x[i] = flux[i % (columns[0] * columns[1])];
    for (int i = 0; i < nx; ++i) in_y[i] = flux[i % (columns[0] * columns[1])];
    if (x[1] != MPI_PROC_NULL) MPI_Send(in_x, ny, MPI_DOUBLE, x[1], 1, mesh);
    if (y[1] != MPI_PROC_NULL) MPI_Send(in_y, nx, MPI_DOUBLE, y[1], 2, mesh);
  }
}

int main(int argc, char** argv) {
  timed_init(&argc, &argv);
  const int is_strong = argc > 1 && strcmp(argv[1], "strong") == 0;
  const int iterations = argc > 2 ? atoi(argv[2]) : 3;
  const int periods[2] = {0, 0};
  int size, dims[2] = {0, 0}, x[2], y[2];
  MPI_Comm mesh;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &mesh);
  MPI_Comm_rank(mesh, &rank);
  MPI_Cart_shift(mesh, 0, 1, &x[0], &x[1]);
  MPI_Cart_shift(mesh, 1, 1, &y[0], &y[1]);
  int columns[2] = {kEach, kEach};
  for (int axis = 0; axis < 2 && is_strong; ++axis)
    columns[axis] = dims[axis] < kAll ? kAll / dims[axis] : 1;
  double largest = 0.0;
  for (int i = 0; i < iterations; ++i) {
    for (int octant = 0; octant < kOctants; ++octant) {
      const int turn_x = octant >> 1 & 1, turn_y = octant >> 2 & 1;
      const int along_x[2] = {x[turn_x], x[1 - turn_x]}, along_y[2] = {y[turn_y], y[1 - turn_y]};
      sweep(mesh, columns, along_x, along_y);
    }
    MPI_Allreduce(&flux[0], &largest, 1, MPI_DOUBLE, MPI_MAX, mesh);
  }
  timed_finalize(rank);
  return largest > 0.0 ? 0 : 1;
}
