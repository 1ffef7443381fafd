/* Symmetric successive over-relaxation on a cube that is cut into columns: waves over a 2D mesh of
 * ranks, plane by plane, from one corner and back, as in the program LU of the NAS Parallel
 * Benchmarks.
 *
 *   lu [steps [cells]]      default 10 and 12 (cells along a side of a column); any number of ranks
 *
 * A step: for each plane receive from north and west, relax, send south and east; the same from the
 * other corner; then exchange faces, first between north and south, then between west and east, and
 * sum the residual. So what a rank calls follows from the borders of the mesh that it has: 9 kinds
 * from 3 * 3 ranks on.
 */
#ifndef _POSIX_C_SOURCE /* SMPI may have put a header before the program */
#define _POSIX_C_SOURCE 200809L
#endif
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"
#include "work.h"

enum { kVariables = 5, kPlanes = 8, kSides = 4, kMaxCells = 64 };
enum { kNorth, kSouth, kWest, kEast };

static int rank, cells, neighbour[kSides];
static MPI_Comm mesh;
static double plane[kMaxCells * kMaxCells], edge[kSides][kVariables * kMaxCells];
static double face[2][kSides][kVariables * kMaxCells * kPlanes];

static void receive(int side, int tag) {
  if (neighbour[side] != MPI_PROC_NULL)
    MPI_Recv(edge[side], kVariables * cells, MPI_DOUBLE, neighbour[side], tag, mesh,
             MPI_STATUS_IGNORE);
}

static void send(int side, int tag) {
  if (neighbour[side] != MPI_PROC_NULL)
    MPI_Send(edge[side], kVariables * cells, MPI_DOUBLE, neighbour[side], tag, mesh);
}

/* The planes from the corner between the first two sides to the one between the others. */
static void sweep(int from_a, int from_b, int to_a, int to_b, int tag) {
  for (int k = 0; k < kPlanes; ++k) {
    receive(from_a, tag);
    receive(from_b, tag);
    for (int i = 0; i < cells * cells; ++i)
      plane[i] = 0.9 * plane[i] + 0.05 * (edge[from_a][i % cells] + edge[from_b][i % cells]) + 0.1;
    work(rank, kVariables * cells * cells);
    for (int i = 0; i < kVariables * cells; ++i)
      edge[to_a][i] = edge[to_b][i] = plane[i % (cells * cells)];
    send(to_a, tag);
    send(to_b, tag);
  }
}

/* Towards `to`, and then back: whoever has a neighbour on the one side alone calls another order
 * than whoever has one on the other. */
static void exchange_between(int from, int to) {
  const int n = kVariables * cells * kPlanes;
  const int sides[2][2] = {{from, to}, {to, from}};
  for (int way = 0; way < 2; ++way) {
    const int in = sides[way][0], out = sides[way][1];
    MPI_Request request;
    if (neighbour[in] != MPI_PROC_NULL)
      MPI_Irecv(face[1][in], n, MPI_DOUBLE, neighbour[in], 3, mesh, &request);
    if (neighbour[out] != MPI_PROC_NULL)
      MPI_Send(face[0][out], n, MPI_DOUBLE, neighbour[out], 3, mesh);
    if (neighbour[in] != MPI_PROC_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void exchange_faces(void) {
  exchange_between(kNorth, kSouth);
  exchange_between(kWest, kEast);
}

int main(int argc, char** argv) {
  timed_init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 10;
  cells = argc > 2 ? atoi(argv[2]) : 12;
  if (cells < 1 || cells > kMaxCells) cells = 12;
  const int periods[2] = {0, 0};
  int size, dims[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &mesh);
  MPI_Comm_rank(mesh, &rank);
  MPI_Cart_shift(mesh, 0, 1, &neighbour[kNorth], &neighbour[kSouth]);
  MPI_Cart_shift(mesh, 1, 1, &neighbour[kWest], &neighbour[kEast]);
  double sum = 0.0;
  for (int step = 0; step < steps; ++step) {
    sweep(kNorth, kWest, kSouth, kEast, 1);
    sweep(kSouth, kEast, kNorth, kWest, 2);
    work(rank, kVariables * cells * cells * kPlanes / 2);
    exchange_faces();
    double mine = 0.0;
    for (int i = 0; i < cells * cells; ++i) mine += plane[i] * plane[i];
    work(rank, cells * cells);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh);
  }
  timed_finalize(rank);
  return sum > 0.0 ? 0 : 1;
}
