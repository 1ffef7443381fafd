/* Wavefronts through a mesh of ranks, from all four corners, as a transport sweep makes them.
 *
 *   sweep sweep_8p|sweep_32p [ITERATIONS]     on 8 (4 x 2) and 32 (8 x 4) ranks
 *
 * In each of the eight octants (two for every corner) a rank gets kBlocks blocks from its
 * neighbours upstream, works on each, and passes them on; so ranks far from the corner wait while
 * the pipeline fills. An iteration ends with a reduction.
 */
#include "work.h"

enum { kBlocks = 10, kIterations = 12, kCorners = 4, kMaxFace = 4096 };

static double g_block_work;
static int g_face; /* doubles of a face between neighbours */

static int neighbour(const int dims[2], int x, int y) {
  if (x < 0 || y < 0 || x >= dims[0] || y >= dims[1]) return MPI_PROC_NULL;
  return x * dims[1] + y;
}

static void corner(const int dims[2], int dx, int dy) {
  static double face_x[kMaxFace], face_y[kMaxFace];
  const int x = g_rank / dims[1], y = g_rank % dims[1];
  for (int block = 0; block < kBlocks; ++block) {
    MPI_Recv(face_x, g_face, MPI_DOUBLE, neighbour(dims, x - dx, y), kTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Recv(face_y, g_face, MPI_DOUBLE, neighbour(dims, x, y - dy), kTag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    do_work(g_block_work);
    MPI_Send(face_x, g_face, MPI_DOUBLE, neighbour(dims, x + dx, y), kTag, MPI_COMM_WORLD);
    MPI_Send(face_y, g_face, MPI_DOUBLE, neighbour(dims, x, y + dy), kTag, MPI_COMM_WORLD);
  }
}

static void iteration(int i) {
  (void)i;
  int dims[2] = {0, 0};
  MPI_Dims_create(g_size, 2, dims);
  for (int c = 0; c < kCorners; ++c) {
    refrain_region_begin("sweep");
    for (int half = 0; half < 2; ++half) corner(dims, c & 1 ? 1 : -1, c & 2 ? 1 : -1);
    refrain_region_end("sweep");
  }
  double mine = g_worked, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct trend_case kCases[] = {{"sweep_8p", iteration}, {"sweep_32p", iteration}};
  begin(&argc, &argv);
  const int is_large = argc > 1 && strcmp(argv[1], "sweep_32p") == 0;
  g_block_work = is_large ? 0.0004 : 0.0002;
  g_face = is_large ? 1500 : 500;
  const int status = run_case(argc, argv, kCases, sizeof kCases / sizeof *kCases, kIterations);
  MPI_Finalize();
  return status;
}
