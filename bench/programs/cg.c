/* Conjugate gradients with a random sparse matrix, which is cut into rows and columns of ranks.
 *
 *   cg [rounds [cells]]      default 12 and 4000 (rows of a rank's block); ranks: a power of two
 *
 * 25 iterations make a round. A product with the matrix is summed along a row of ranks by
 * recursive halving, and exchanged with the rank on the other side of the diagonal; a dot product
 * is summed along the row as well. All of it is Irecv, Send, Wait.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"
#include "work.h"

static const double kSmallest = 1e-200; /* of a square: the solution is exact */
enum { kIterations = 25, kInRow = 12, kMaxSteps = 16 };

static int rows, columns, row, column, rank, n;
static int steps, partner[kMaxSteps], transposed;
static int* where;
static double *value, *x, *z, *p, *q, *r, *w, *scratch;

static void exchange(const double* out, double* in, int count, int with, int tag) {
  MPI_Request request;
  MPI_Irecv(in, count, MPI_DOUBLE, with, tag, MPI_COMM_WORLD, &request);
  MPI_Send(out, count, MPI_DOUBLE, with, tag, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double sum_along_row(double mine) {
  for (int i = 0; i < steps; ++i) {
    double theirs;
    exchange(&mine, &theirs, 1, partner[i], 1);
    mine += theirs;
  }
  return mine;
}

static void sum_vector_along_row(double* v) {
  for (int i = 0; i < steps; ++i) {
    exchange(v, scratch, n, partner[i], 2);
    for (int k = 0; k < n; ++k) v[k] += scratch[k];
  }
}

static void multiply(const double* by, double* out) {
  for (int i = 0; i < n; ++i) {
    double sum = 0.0;
    for (int k = 0; k < kInRow; ++k) sum += value[i * kInRow + k] * by[where[i * kInRow + k]];
    w[i] = sum;
  }
  work(rank, (double)n * kInRow);
  sum_vector_along_row(w);
#ifdef WORK_NS /* as in the NAS Parallel Benchmarks: so all ranks make the same calls */
  exchange(w, out, n, transposed, 3);
  return;
#endif
  if (transposed != rank)
    exchange(w, out, n, transposed, 3);
  else
    memcpy(out, w, (size_t)n * sizeof *w);
}

static double dot(const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  work(rank, n);
  return sum_along_row(sum);
}

static double solve(void) {
  for (int i = 0; i < n; ++i) q[i] = z[i] = 0.0, r[i] = p[i] = x[i];
  double rho = dot(r, r);
  for (int it = 0; it < kIterations; ++it) {
    multiply(p, q);
    const double before = rho, alpha = rho > kSmallest ? rho / dot(p, q) : 0.0;
    for (int i = 0; i < n; ++i) z[i] += alpha * p[i], r[i] -= alpha * q[i];
    rho = dot(r, r);
    for (int i = 0; i < n; ++i) p[i] = r[i] + (before > kSmallest ? rho / before : 0.0) * p[i];
  }
  multiply(z, r);
  for (int i = 0; i < n; ++i) q[i] = x[i] - r[i];
  return sqrt(dot(q, q));
}

/* The diagonal is large; all else is small. */
static void make_matrix(void) {
  unsigned state = (unsigned)(7 + row * columns + column);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < kInRow; ++k) {
      state = state * 1664525u + 1013904223u;
      where[i * kInRow + k] = k == 0 ? i : (int)(state >> 8) % n;
      value[i * kInRow + k] = k == 0 && row == column ? 10.0 : 0.02 * (double)(state & 7);
    }
}

static void find_partners(int size) {
  for (columns = 1; columns * columns < size; columns *= 2) continue;
  rows = size / columns;
  row = rank / columns;
  column = rank % columns;
  for (int bit = 1; bit < columns; bit *= 2) partner[steps++] = row * columns + (column ^ bit);
  transposed = rows == columns ? column * columns + row : rank;
}

int main(int argc, char** argv) {
  int size;
  timed_init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 12;
  n = argc > 2 ? atoi(argv[2]) : 4000;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if ((size & (size - 1)) != 0 || n < 1) MPI_Abort(MPI_COMM_WORLD, 2);
  find_partners(size);
  double* const room = calloc(7 * (size_t)n + (size_t)n * kInRow, sizeof(double));
  where = calloc((size_t)n * kInRow, sizeof *where);
  if (room == NULL || where == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  x = room, z = x + n, p = z + n, q = p + n, r = q + n, w = r + n, scratch = w + n,
  value = scratch + n;
  make_matrix();
  for (int i = 0; i < n; ++i) x[i] = 1.0;
  double left = 0.0, zeta = 0.0;
  for (int i = 0; i < rounds; ++i) {
    begin_iteration();
    left = solve();
    const double xz = dot(x, z), zz = dot(z, z);
    zeta = 20.0 + 1.0 / xz;
    for (int k = 0; k < n; ++k) x[k] = z[k] / sqrt(zz);
    end_iteration();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("cg: %d ranks, %d rounds, zeta %.6f, left %.3e\n", size, rounds, zeta, left);
  free(room);
  free(where);
  timed_finalize(rank);
  return 0;
}
