// Communicators out of communicators: split in halves down to one rank, with the ranks turned
// round; freed out of order while others are made; a grid, its rows and messages over its edges; a
// duplicate of an inter-communicator; groups that overlap.
#include "calls.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

static void ring(MPI_Comm c, int times) {
  int me, n, in;
  MPI_Status st;
  L_Comm_rank(c, &me);
  L_Comm_size(c, &n);
  for (int i = 0; n > 1 && i < times; ++i) {
    L_Send(&me, 1, MPI_INT, (me + 1) % n, 4, c);
    L_Recv(&in, 1, MPI_INT, (me + n - 1) % n, 4, c, &st);
    EXPECT(in == (me + n - 1) % n);
  }
}

static void split(MPI_Comm c, int color, int key, MPI_Comm* new, const char* alias) {
  DO(MPI_Comm_split(c, color, key, new), "comm:C color:u key:i newcomm:C+", c, color, key, *new,
     alias);
}

static void halves(int round) {
  MPI_Comm level[8], c = W, pair;
  int depth = 0, n = size, me = rank;
  char path[32] = "@@half", alias[32];
  while (n > 1) {
    const int color = (me + round) % 2;
    sprintf(path + strlen(path), "%d", color);
    split(c, color, -me, &level[depth], path);
    c = level[depth++];
    L_Comm_rank(c, &me);
    L_Comm_size(c, &n);
    ring(c, 2 + round);
  }
  for (int i = 1; i < depth; i += 2) L_Comm_free(&level[i]);
  const int color = rank / 2 == 0 && size > 3 ? MPI_UNDEFINED : rank / 2;
  snprintf(alias, sizeof alias, "@@pair%d", color);
  split(W, color, rank, &pair, alias);
  if (pair != MPI_COMM_NULL) ring(pair, 1);
  for (int i = 0; i < depth; i += 2) L_Comm_free(&level[i]);
  if (pair != MPI_COMM_NULL) L_Comm_free(&pair);
}

static void grid(void) {
  int dims[2] = {0, 0}, zero[2] = {0, 0}, periods[2] = {0, 1}, keep[2] = {0, 1}, at[2], src, dst;
  MPI_Comm cart, row, row_dup;
  MPI_Status st;
  char alias[32];
  DO(MPI_Dims_create(size, 2, dims), "nnodes:i ndims:i dims:V dims_in:V", size, 2, 2, dims, 2,
     zero);
  DO(MPI_Cart_create(W, 2, dims, periods, 0, &cart),
     "comm_old:C ndims:i dims:V periods:V reorder:i comm_cart:C+", W, 2, 2, dims, 2, periods, 0,
     cart, "@@cart");
  int me;
  L_Comm_rank(cart, &me);
  for (int d = 0; d < 2; ++d)
    for (int disp = -2; disp <= 2; ++disp) {
      DO(MPI_Cart_shift(cart, d, disp, &src, &dst),
         "comm:C direction:i disp:i rank_source:r rank_dest:r", cart, d, disp, src, dst);
      int in = -1;
      DO(MPI_Sendrecv(&me, 1, MPI_INT, dst, 1, &in, 1, MPI_INT, src, 1, cart, &st),
         "sendcount:i sendtype:D dest:r sendtag:t recvcount:i recvtype:D source:r recvtag:t "
         "comm:C status:S",
         1, MPI_INT, dst, 1, 1, MPI_INT, src, 1, cart, &st);
      EXPECT(in == (src == MPI_PROC_NULL ? -1 : src));
    }
  DO(MPI_Cart_coords(cart, me, 2, at), "comm:C rank:i maxdims:i coords:V", cart, me, 2, 2, at);
  snprintf(alias, sizeof alias, "@@row%d", at[0]);
  DO(MPI_Cart_sub(cart, keep, &row), "comm:C remain_dims:V newcomm:C+", cart, 2, keep, row, alias);
  ring(row, 3);
  snprintf(alias, sizeof alias, "@@row_dup%d", at[0]);
  DO(MPI_Comm_dup(row, &row_dup), "comm:C newcomm:C+", row, row_dup, alias);
  L_Comm_free(&row);
  ring(row_dup, 1);
  L_Comm_free(&row_dup);
  L_Comm_free(&cart);
}

// The aliases are "@@inter" and its like, where ranks are those of the other group.
static void inter(void) {
  const int low_size = (size + 1) / 2, low = rank < low_size;
  MPI_Comm half, joined, dup;
  split(W, low, -rank, &half, low ? "@@low" : "@@high");
  const int leader = low ? size - 1 : low_size - 1;
  DO(MPI_Intercomm_create(half, 0, W, leader, 2, &joined),
     "local_comm:C local_leader:i peer_comm:C remote_leader:i tag:i newintercomm:C+", half, 0, W,
     leader, 2, joined, "@@joined");
  DO(MPI_Comm_dup(joined, &dup), "comm:C newcomm:C+", joined, dup, "@@inter");
  L_Comm_free(&joined);
  int me, n, in;
  MPI_Status st;
  L_Comm_rank(dup, &me);
  DO(MPI_Comm_remote_size(dup, &n), "comm:C size:i", dup, n);
  if (low) L_Send(&me, 1, MPI_INT, me % n, 3, dup);
  for (int i = me; !low && i < low_size; i += size - low_size) {
    L_Recv(&in, 1, MPI_INT, i, 3, dup, &st);
    EXPECT(in == i);
  }
  L_Comm_free(&dup);
  L_Comm_free(&half);
}

static void overlapping(void) {
  MPI_Group world, two;
  MPI_Comm c;
  char alias[32];
  DO(MPI_Comm_group(W, &world), "comm:C group:G+", W, world);
  for (int i = 0; i + 1 < size; ++i) {
    int ranks[2] = {i + 1, i};
    DO(MPI_Group_incl(world, 2, ranks, &two), "group:G n:i ranks:V newgroup:G+", world, 2, 2, ranks,
       two);
    if (rank == i || rank == i + 1) {
      snprintf(alias, sizeof alias, "@@two%d", i);
      DO(MPI_Comm_create_group(W, two, i, &c), "comm:C group:G tag:i newcomm:C+", W, two, i, c,
         alias);
      ring(c, 1);
      L_Comm_free(&c);
    }
    L_Group_free(&two);
  }
  L_Group_free(&world);
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  for (int round = 0; round < 3; ++round) halves(round);
  grid();
  overlapping();
  halves(3);
  inter();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
