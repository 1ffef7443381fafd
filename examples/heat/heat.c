/* Heat conduction in a square plate, explicit finite differences, on any number of MPI ranks.
 *
 * The plate is cut into blocks along a Cartesian grid of ranks. Each step exchanges
 * the four edges with the neighbours, then takes the mean of the four neighbouring cells (Jacobi);
 * every kResidualInterval steps all ranks agree on the largest change. At the end rank 0 gathers
 * the mean temperature of every block and prints the result.
 *
 *   mpicc -O2 -g -o heat heat.c -lm && mpiexec -n 4 ./heat [steps]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPlateCells = 96, kDefaultSteps = 400, kResidualInterval = 20 };
enum { kNorth, kSouth, kWest, kEast, kSides };

typedef struct {
  MPI_Comm grid;
  int coords[2];
  int neighbours[kSides]; /* MPI_PROC_NULL at the edge of the plate */
  int rows, columns;      /* of this rank's block, without the halo */
  MPI_Datatype column;    /* one column of the block, for west and east */
} Block;

/* Position of a cell in the arrays, which have a halo of one cell on each side. */
static size_t cell(const Block* block, int row, int column) {
  return (size_t)row * (size_t)(block->columns + 2) + (size_t)column;
}

static Block make_block(void) {
  Block block;
  int size, dims[2] = {0, 0};
  const int periods[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &block.grid);
  int rank;
  MPI_Comm_rank(block.grid, &rank);
  MPI_Cart_coords(block.grid, rank, 2, block.coords);
  MPI_Cart_shift(block.grid, 0, 1, &block.neighbours[kNorth], &block.neighbours[kSouth]);
  MPI_Cart_shift(block.grid, 1, 1, &block.neighbours[kWest], &block.neighbours[kEast]);
  block.rows =
      kPlateCells * (block.coords[0] + 1) / dims[0] - kPlateCells * block.coords[0] / dims[0];
  block.columns =
      kPlateCells * (block.coords[1] + 1) / dims[1] - kPlateCells * block.coords[1] / dims[1];
  MPI_Type_vector(block.rows, 1, block.columns + 2, MPI_DOUBLE, &block.column);
  MPI_Type_commit(&block.column);
  return block;
}

/* The northern edge of the plate is held at 100 degrees, the other three at 0. */
static void set_boundary(const Block* block, double* now, double* next) {
  if (block->neighbours[kNorth] != MPI_PROC_NULL) return;
  for (int column = 0; column < block->columns + 2; ++column) {
    now[cell(block, 0, column)] = 100.0;
    next[cell(block, 0, column)] = 100.0;
  }
}

/* Sends the outermost cells of the block, receives the neighbours' into the halo. */
static void exchange_edges(const Block* block, double* now) {
  MPI_Request requests[2 * kSides];
  const int rows = block->rows, columns = block->columns;
  double* const edges[kSides] = {&now[cell(block, 1, 1)], &now[cell(block, rows, 1)],
                                 &now[cell(block, 1, 1)], &now[cell(block, 1, columns)]};
  double* const halos[kSides] = {&now[cell(block, 0, 1)], &now[cell(block, rows + 1, 1)],
                                 &now[cell(block, 1, 0)], &now[cell(block, 1, columns + 1)]};
  for (int side = 0; side < kSides; ++side) {
    const MPI_Datatype type = side < kWest ? MPI_DOUBLE : block->column;
    const int count = side < kWest ? columns : 1;
    /* A message carries the side that it leaves through: north meets south, west meets east. */
    MPI_Irecv(halos[side], count, type, block->neighbours[side], side ^ 1, block->grid,
              &requests[side]);
    MPI_Isend(edges[side], count, type, block->neighbours[side], side, block->grid,
              &requests[kSides + side]);
  }
  MPI_Status statuses[2 * kSides];
  MPI_Waitall(2 * kSides, requests, statuses);
}

/* One Jacobi step; returns the largest change of a cell of this block. */
static double relax(const Block* block, const double* now, double* next) {
  double largest = 0.0;
  for (int row = 1; row <= block->rows; ++row) {
    for (int column = 1; column <= block->columns; ++column) {
      const size_t here = cell(block, row, column);
      next[here] = 0.25 * (now[here - 1] + now[here + 1] + now[cell(block, row - 1, column)] +
                           now[cell(block, row + 1, column)]);
      largest = fmax(largest, fabs(next[here] - now[here]));
    }
  }
  return largest;
}

static double block_sum(const Block* block, const double* now) {
  double sum = 0.0;
  for (int row = 1; row <= block->rows; ++row) {
    for (int column = 1; column <= block->columns; ++column) sum += now[cell(block, row, column)];
  }
  return sum;
}

/* Rank 0 collects one sum per block and prints the plate's mean and each block's. */
static void print_result(const Block* block, const double* now, int steps, double residual) {
  int rank, size;
  MPI_Comm_rank(block->grid, &rank);
  MPI_Comm_size(block->grid, &size);
  const double mine[2] = {block_sum(block, now), (double)block->rows * block->columns};
  double* all = rank == 0 ? malloc(2 * (size_t)size * sizeof *all) : NULL;
  MPI_Gather(mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, block->grid);
  if (rank != 0) return;
  double sum = 0.0;
  for (int i = 0; i < size; ++i) sum += all[2 * i];
  printf("heat: %d x %d cells on %d ranks, %d steps, largest last change %.6f\n", kPlateCells,
         kPlateCells, size, steps, residual);
  printf("heat: mean temperature %.6f; by block:", sum / kPlateCells / kPlateCells);
  for (int i = 0; i < size; ++i) printf(" %.4f", all[2 * i] / all[2 * i + 1]);
  printf("\n");
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : kDefaultSteps;
  Block block = make_block();
  const size_t cells = (size_t)(block.rows + 2) * (size_t)(block.columns + 2);
  double* now = calloc(cells, sizeof *now);
  double* next = calloc(cells, sizeof *next);
  if (now == NULL || next == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  set_boundary(&block, now, next);
  double residual = 0.0;
  for (int step = 1; step <= steps; ++step) {
    exchange_edges(&block, now);
    const double change = relax(&block, now, next);
    if (step % kResidualInterval == 0 || step == steps)
      MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_MAX, block.grid);
    double* const swap = now;
    now = next;
    next = swap;
  }
  print_result(&block, now, steps, residual);
  free(now);
  free(next);
  MPI_Type_free(&block.column);
  MPI_Comm_free(&block.grid);
  MPI_Finalize();
  return 0;
}
