/* Messages of every kind among four ranks, of which two run together as a group. What a rank prints
 * depends on all contents that it received, from within its group and from outside.
 *
 * GROUP_CHANGE=tag: rank 1 sends with another tag than usual. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 40000 };
static int me, all;
static int out[kMost], in[kMost];
static unsigned long long seen = 1469598103934665603u;

static void make(int n) {
  static int next = 1;
  for (int i = 0; i < n; ++i) out[i] = me * 1000003 + next++;
}
static void look(const void* data, size_t bytes) {
  for (const unsigned char* p = data; bytes > 0; --bytes) seen = (seen ^ *p++) * 1099511628211u;
}
static void forget(void) { memset(in, 0, sizeof in); }

/* The other rank of the node, and one of the other node. */
static int near(void) { return me ^ 1; }
static int far(void) { return me ^ 2; }

static void blocking(int with) {
  const int tag = getenv("GROUP_CHANGE") != NULL && me == 1 ? 6 : 5;
  MPI_Status s;
  MPI_Barrier(MPI_COMM_WORLD);  // or a receive from anybody takes a message of the next exchange
  for (int n = 1; n <= kMost; n *= 20) {
    make(n);
    if (me < with) {
      MPI_Send(out, n, MPI_INT, with, tag, MPI_COMM_WORLD);
      MPI_Recv(in, kMost, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
    } else {
      MPI_Recv(in, kMost, MPI_INT, with, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
      MPI_Ssend(out, n, MPI_INT, with, tag, MPI_COMM_WORLD);
    }
    look(in, sizeof(int) * (size_t)n), look(&s.MPI_SOURCE, 4);
  }
  make(300);
  MPI_Sendrecv(out, 300, MPI_INT, with, 1, in, 300, MPI_INT, with, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  look(in, 1200);
  make(70);
  memcpy(in, out, 280);
  MPI_Sendrecv_replace(in, 70, MPI_INT, with, 2, with, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  look(in, 280);
}

/* Receives for any message, posted before it is known which they take. */
static void wildcards(void) {
  MPI_Request r[6];
  MPI_Status s[3];
  int index;
  forget();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i)
    MPI_Irecv(in + 100 * i, 100, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &r[i]);
  for (int i = 1; i < 4; ++i) {
    make(10 + i);
    memcpy(out + 100 * i, out, 100);
    MPI_Isend(out + 100 * i, 10 + i, MPI_INT, (me + i) % all, 20, MPI_COMM_WORLD, &r[2 + i]);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Waitany(3, r, &index, &s[i]);
    look(in + 100 * index, 400), look(&s[i].MPI_SOURCE, 4);
  }
  MPI_Waitall(3, r + 3, MPI_STATUSES_IGNORE);
}

static void persistent_and_probed(int with) {
  MPI_Request r[2];
  MPI_Message m;
  int flag = 0;
  MPI_Datatype third;
  MPI_Type_vector(20, 1, 3, MPI_INT, &third);
  MPI_Type_commit(&third);
  forget();
  MPI_Recv_init(in, 1, third, with, 30, MPI_COMM_WORLD, &r[0]);
  MPI_Send_init(out, 20, MPI_INT, with, 30, MPI_COMM_WORLD, &r[1]);
  for (int i = 0; i < 3; ++i) {
    make(20);
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    look(in, 240);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  make(200);
  MPI_Isend(out, 1, third, with, 31, MPI_COMM_WORLD, &r[0]);
  MPI_Mprobe(with, MPI_ANY_TAG, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
  MPI_Mrecv(in, 20, MPI_INT, &m, MPI_STATUS_IGNORE);
  look(in, 80);
  do MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
  while (!flag);
  static char buffer[10000];
  MPI_Buffer_attach(buffer, sizeof buffer);
  make(50);
  MPI_Bsend(out, 50, MPI_INT, with, 32, MPI_COMM_WORLD);
  memset(out, 0, 200);
  MPI_Recv(in, 50, MPI_INT, with, 32, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  look(in, 200);
  void* old;
  int bytes;
  MPI_Buffer_detach(&old, &bytes);
  MPI_Type_free(&third);
}

static void collectives(MPI_Comm comm) {
  int n, rank, counts[8], at[8];
  double values[4], sums[4];
  MPI_Request r;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &rank);
  for (int i = 0; i < n; ++i) counts[i] = i + 1, at[i] = 4 * i;
  forget();
  make(10);
  if (rank == 1) memcpy(in, out, 40);
  MPI_Bcast(in, 10, MPI_INT, 1, comm);
  look(in, 40);
  for (int i = 0; i < 4; ++i) values[i] = 0.1 * me + i;
  MPI_Allreduce(values, sums, 4, MPI_DOUBLE, MPI_SUM, comm);
  look(sums, sizeof sums);
  MPI_Reduce(values, sums, 4, MPI_DOUBLE, MPI_MAX, 0, comm);
  if (rank == 0) look(sums, sizeof sums);
  MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
  look(in, 8u * (unsigned)n);
  MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, at, MPI_INT, comm);
  look(in, 16u * (unsigned)n);
  MPI_Gather(out, 3, MPI_INT, in, 3, MPI_INT, 0, comm);
  if (rank == 0) look(in, 12u * (unsigned)n);
  MPI_Iallreduce(values, sums, 4, MPI_DOUBLE, MPI_MIN, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  look(sums, sizeof sums);
  MPI_Scan(MPI_IN_PLACE, values, 4, MPI_DOUBLE, MPI_SUM, comm);
  look(values, sizeof values);
  MPI_Barrier(comm);
}

int main(int argc, char** argv) {
  MPI_Comm node, twin;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  if (all != 4) return 2;
  MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &node);
  MPI_Comm_dup(node, &twin);
  blocking(near());
  blocking(far());
  wildcards();
  persistent_and_probed(near());
  persistent_and_probed(far());
  collectives(MPI_COMM_WORLD);
  collectives(node);
  collectives(twin);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&node);
  printf("rank %d has seen %016llx\n", me, seen);
  MPI_Finalize();
  return 0;
}
