// Communicators: made in every way, freed, ids reused; ranks with different histories, so that ids
// counted by each rank alone would disagree. Every alias "@@x" must have one id on all its members.
#include "calls.h"

static int rank, size;
#define W MPI_COMM_WORLD  // no constant in every MPI

static void talk(MPI_Comm c) {
  int me, n, sum, one = 1;
  L_Comm_rank(c, &me);
  L_Comm_size(c, &n);
  L_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
  EXPECT(sum == n);
  int in = -1;
  MPI_Status st;
  DO(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &in, 1, MPI_INT, (me + n - 1) % n, 1, c, &st),
     "sendcount:i sendtype:D dest:r sendtag:t recvcount:i recvtype:D source:r recvtag:t comm:C "
     "status:S",
     1, MPI_INT, (me + 1) % n, 1, 1, MPI_INT, (me + n - 1) % n, 1, c, &st);
  EXPECT(in == (me + n - 1) % n);
}

// Communicators of MPI_COMM_SELF, a different number on each rank.
static void diverge(MPI_Comm* own) {
  for (int i = 0; i < rank; ++i) {
    char alias[32];
    snprintf(alias, sizeof alias, "@self%d", i);
    DO(MPI_Comm_dup(MPI_COMM_SELF, &own[i]), "comm:C newcomm:C+", MPI_COMM_SELF, own[i], alias);
  }
}

static void split_and_dup(void) {
  MPI_Comm half, dup, late, typed;
  char alias[32];
  snprintf(alias, sizeof alias, "@@half%d", rank % 2);
  DO(MPI_Comm_split(W, rank % 2, -rank, &half), "comm:C color:i key:i newcomm:C+", W, rank % 2,
     -rank, half, alias);
  talk(half);
  DO(MPI_Comm_dup(W, &dup), "comm:C newcomm:C+", W, dup, "@@dup");
  talk(dup);
  MPI_Request r;
  MPI_Comm_idup(dup, &late, &r);  // the id may arrive with the completion
  DID("MPI_Comm_idup", "comm:C newcomm:C+ request:R+", dup, late, "@@late", &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  talk(late);
  DO(MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &typed),
     "comm:C split_type:s key:i info:N newcomm:C+", W, "MPI_COMM_TYPE_SHARED", 0, MPI_INFO_NULL,
     typed, "@@typed");
  talk(typed);
  int same;
  DO(MPI_Comm_compare(W, dup, &same), "comm1:C comm2:C result:s", W, dup, "MPI_CONGRUENT");
  L_Comm_free(&half);
  L_Comm_free(&typed);
  MPI_Comm none;
  DO(MPI_Comm_split(dup, rank == 0 ? MPI_UNDEFINED : 1, 0, &none), "comm:C color:u newcomm:C+", dup,
     rank == 0 ? MPI_UNDEFINED : 1, none, "@@butzero");
  if (none != MPI_COMM_NULL) {
    talk(none);
    L_Comm_free(&none);
  }
  DO(MPI_Comm_set_name(dup, "a name"), "comm:C comm_name:s", dup, "a name");
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  DO(MPI_Comm_get_name(dup, name, &length), "comm:C comm_name:s resultlen:i", dup, "a name", 6);
  L_Comm_free(&late);
  L_Comm_free(&dup);
}

static void by_group(void) {
  MPI_Group world, even;
  MPI_Comm evens, created;
  int ranks[16], n = 0;
  for (int i = 0; i < size; i += 2) ranks[n++] = i;
  DO(MPI_Comm_group(W, &world), "comm:C group:G+", W, world);
  DO(MPI_Group_incl(world, n, ranks, &even), "group:G n:i ranks:V newgroup:G+", world, n, n, ranks,
     even);
  DO(MPI_Comm_create(W, even, &created), "comm:C group:G newcomm:C+", W, even, created,
     "@@created");
  if (rank % 2 == 0) {
    DO(MPI_Comm_create_group(W, even, 5, &evens), "comm:C group:G tag:i newcomm:C+", W, even, 5,
       evens, "@@evens");
    talk(evens);
    talk(created);
    L_Comm_free(&created);
    L_Comm_free(&evens);
  }
  L_Group_free(&even);
  L_Group_free(&world);
}

static void inter(void) {
  if (size < 2) return;
  MPI_Comm half, inter_comm, merged;
  const int low = rank < size / 2;
  DO(MPI_Comm_split(W, low, 0, &half), "comm:C color:i key:i newcomm:C+", W, low, 0, half,
     low ? "@@low" : "@@high");
  DO(MPI_Intercomm_create(half, 0, W, low ? size / 2 : 0, 9, &inter_comm),
     "local_comm:C local_leader:i peer_comm:C remote_leader:i tag:i newintercomm:C+", half, 0, W,
     low ? size / 2 : 0, 9, inter_comm, "@@inter");
  int flag, n, me;
  DO(MPI_Comm_test_inter(inter_comm, &flag), "comm:C flag:i", inter_comm, 1);
  DO(MPI_Comm_remote_size(inter_comm, &n), "comm:C size:i", inter_comm, n);
  L_Comm_rank(inter_comm, &me);
  int value = rank, other = -1;
  MPI_Status st;
  if (me == 0) {
    L_Send(&value, 1, MPI_INT, 0, 3, inter_comm);
    L_Recv(&other, 1, MPI_INT, 0, 3, inter_comm, &st);
    EXPECT(other == (low ? size / 2 : 0));
  }
  const int root = low ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  DO(MPI_Bcast(&value, 1, MPI_INT, root, inter_comm), "count:i root:r comm:C", 1, root, inter_comm);
  EXPECT(low ? value == rank : value == 0);
  DO(MPI_Intercomm_merge(inter_comm, !low, &merged), "intercomm:C high:i newintracomm:C+",
     inter_comm, !low, merged, "@@merged");
  talk(merged);
  L_Comm_free(&merged);
  L_Comm_free(&inter_comm);
  L_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Comm own[16];
  log_init(&argc, &argv, &rank, &size);
  diverge(own);
  for (int round = 0; round < 2; ++round) {
    split_and_dup();
    by_group();
    inter();
  }
  for (int i = 0; i < rank; ++i) L_Comm_free(&own[i]);
  split_and_dup();
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
