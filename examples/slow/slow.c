/* A program that is slow on purpose, for docs/tutorial.md: a field on a ring of ranks, smoothed
 * step by step, with a halo of one cell on each side.
 *
 *   mpiexec -n 4 ./slow                two faults: see exchange_in_order() and first_share()
 *   mpiexec -n 4 ./slow order          the first one mended
 *   mpiexec -n 4 ./slow order share    both mended
 *
 * Every version computes the same field and prints the same sum. What takes time is a sleep, so
 * that the faults are there on a machine with fewer cores than ranks as well.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kCells = 4096, kSteps = 20, kHalo = 256, kCellNs = 8000, kPackNs = 4000000 };

struct ring {
  int me, size, left, right;
  int begin, count; /* which cells are ours */
};

/* The halo is padded, as if the field had more dimensions. */
static double out_left[kHalo], out_right[kHalo], in_left[kHalo], in_right[kHalo];

static void take_time(long ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  nanosleep(&time, NULL);
}

/* Gathers an edge of the field into a message. */
static void pack(double* message, double edge) {
  for (int i = 0; i < kHalo; ++i) message[i] = edge;
  take_time(kPackNs);
}

/* Each rank receives, and only then makes up the message that its neighbour waits for: the ranks
 * pack one after the other, twice around the ring. */
static void exchange_in_order(const struct ring* r, double first, double last) {
  if (r->me != 0)
    MPI_Recv(in_left, kHalo, MPI_DOUBLE, r->left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pack(out_right, last);
  MPI_Send(out_right, kHalo, MPI_DOUBLE, r->right, 1, MPI_COMM_WORLD);
  if (r->me == 0)
    MPI_Recv(in_left, kHalo, MPI_DOUBLE, r->left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (r->me != 0)
    MPI_Recv(in_right, kHalo, MPI_DOUBLE, r->right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pack(out_left, first);
  MPI_Send(out_left, kHalo, MPI_DOUBLE, r->left, 2, MPI_COMM_WORLD);
  if (r->me == 0)
    MPI_Recv(in_right, kHalo, MPI_DOUBLE, r->right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All ranks pack at the same time, and nobody waits for anybody but the neighbours. */
static void exchange_at_once(const struct ring* r, double first, double last) {
  MPI_Request requests[4];
  MPI_Status statuses[4];
  MPI_Irecv(in_left, kHalo, MPI_DOUBLE, r->left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in_right, kHalo, MPI_DOUBLE, r->right, 2, MPI_COMM_WORLD, &requests[1]);
  pack(out_right, last);
  MPI_Isend(out_right, kHalo, MPI_DOUBLE, r->right, 1, MPI_COMM_WORLD, &requests[2]);
  pack(out_left, first);
  MPI_Isend(out_left, kHalo, MPI_DOUBLE, r->left, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, statuses);
}

/* The last rank gets what is left over, and whoever wrote this counted on there being little of it:
 * the others round down to a multiple of 512 cells. */
static void first_share(struct ring* r) {
  const int each = kCells / (r->size + 1) / 512 * 512;
  r->begin = r->me * each;
  r->count = r->me == r->size - 1 ? kCells - r->begin : each;
}

static void even_share(struct ring* r) {
  r->begin = (int)((long)kCells * r->me / r->size);
  r->count = (int)((long)kCells * (r->me + 1) / r->size) - r->begin;
}

/* Every cell becomes the mean of itself and its neighbours. */
static void smooth(const struct ring* r, double* field) {
  double before = in_left[0];
  for (int i = 0; i < r->count; ++i) {
    const double mine = field[i];
    const double after = i + 1 < r->count ? field[i + 1] : in_right[0];
    field[i] = (before + mine + after) / 3;
    before = mine;
  }
  take_time((long)r->count * kCellNs);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int at_once = 0, even = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "order") == 0) at_once = 1;
    if (strcmp(argv[i], "share") == 0) even = 1;
  }
  struct ring r;
  MPI_Comm_rank(MPI_COMM_WORLD, &r.me);
  MPI_Comm_size(MPI_COMM_WORLD, &r.size);
  if (r.size < 2 || r.size > 7) {
    if (r.me == 0) fprintf(stderr, "slow: on 2 to 7 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  r.left = (r.me + r.size - 1) % r.size;
  r.right = (r.me + 1) % r.size;
  if (even)
    even_share(&r);
  else
    first_share(&r);
  double* field = malloc((size_t)r.count * sizeof *field);
  for (int i = 0; i < r.count; ++i) field[i] = (r.begin + i) % 97;
  for (int step = 0; step < kSteps; ++step) {
    const double first = field[0], last = field[r.count - 1];
    if (at_once)
      exchange_at_once(&r, first, last);
    else
      exchange_in_order(&r, first, last);
    smooth(&r, field);
  }
  double mine = 0, sum = 0;
  for (int i = 0; i < r.count; ++i) mine += field[i] * field[i];
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (r.me == 0) printf("slow: sum of squares %.6f\n", sum);
  free(field);
  MPI_Finalize();
  return 0;
}
