// Every blocking send mode, Sendrecv, Sendrecv_replace, MPI_PROC_NULL and messages to oneself.
#include "log.h"

enum { kModes = 4 };

static void modes(int rank, int size) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int out[10], in[10];
  for (int i = 0; i < 10; ++i) out[i] = rank * 100 + i;
  static char attached[4096];
  DO(MPI_Buffer_attach(attached, sizeof attached), "size:i", (int)sizeof attached);
  for (int mode = 0; mode < kModes; ++mode) {
    MPI_Request r;
    MPI_Status st;
    DO(MPI_Irecv(in, 10, MPI_INT, from, mode, MPI_COMM_WORLD, &r),
       "count:i datatype:D source:r tag:t comm:C request:R+", 10, MPI_INT, from, mode,
       MPI_COMM_WORLD, &r);
    DO(MPI_Barrier(MPI_COMM_WORLD), "comm:C", MPI_COMM_WORLD);
    const char* spec = "count:i datatype:D dest:r tag:t comm:C";
    if (mode == 0)
      DO(MPI_Send(out, 10, MPI_INT, to, 0, MPI_COMM_WORLD), spec, 10, MPI_INT, to, 0,
         MPI_COMM_WORLD);
    if (mode == 1)
      DO(MPI_Bsend(out, 9, MPI_INT, to, 1, MPI_COMM_WORLD), spec, 9, MPI_INT, to, 1,
         MPI_COMM_WORLD);
    if (mode == 2)
      DO(MPI_Ssend(out, 8, MPI_INT, to, 2, MPI_COMM_WORLD), spec, 8, MPI_INT, to, 2,
         MPI_COMM_WORLD);
    if (mode == 3)
      DO(MPI_Rsend(out, 7, MPI_INT, to, 3, MPI_COMM_WORLD), spec, 7, MPI_INT, to, 3,
         MPI_COMM_WORLD);
    DO(MPI_Wait(&r, &st), "request:R status:S", &r, &st);
    int count;
    DO(MPI_Get_count(&st, MPI_INT, &count), "status:S datatype:D count:i", &st, MPI_INT, count);
    EXPECT(count == 10 - mode && in[0] == from * 100);
  }
  void* p;
  int bytes;
  DO(MPI_Buffer_detach(&p, &bytes), "size:i", bytes);
  EXPECT(bytes == (int)sizeof attached);
}

static void exchange(int rank, int size) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  double out[4] = {rank, 1, 2, 3}, in[4];
  MPI_Status st;
  const char* spec =
      "sendcount:i sendtype:D dest:r sendtag:t recvcount:i recvtype:D source:r recvtag:t comm:C "
      "status:S";
  DO(MPI_Sendrecv(out, 4, MPI_DOUBLE, to, 11, in, 4, MPI_DOUBLE, from, 11, MPI_COMM_WORLD, &st),
     spec, 4, MPI_DOUBLE, to, 11, 4, MPI_DOUBLE, from, 11, MPI_COMM_WORLD, &st);
  EXPECT(in[0] == from);
  DO(MPI_Sendrecv(out, 3, MPI_DOUBLE, to, 12, in, 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  MPI_COMM_WORLD, &st),
     spec, 3, MPI_DOUBLE, to, 12, 4, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
  DO(MPI_Sendrecv_replace(out, 2, MPI_DOUBLE, to, 13, from, 13, MPI_COMM_WORLD, &st),
     "count:i datatype:D dest:r sendtag:t source:r recvtag:t comm:C status:S", 2, MPI_DOUBLE, to,
     13, from, 13, MPI_COMM_WORLD, &st);
  EXPECT(out[0] == from);
  DO(MPI_Sendrecv(out, 1, MPI_DOUBLE, to, 14, in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 14, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE),
     "source:r recvtag:t status:S =matched:j", MPI_ANY_SOURCE, 14, MPI_STATUS_IGNORE,
     json_message(from, 14));
}

static void ends(int rank, int size) {
  // A chain with open ends: the first and last rank talk to MPI_PROC_NULL.
  const int to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  const int from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int out = rank, in = -1;
  MPI_Status st;
  DO(MPI_Send(&out, 1, MPI_INT, to, 21, MPI_COMM_WORLD), "count:i dest:r tag:t comm:C", 1, to, 21,
     MPI_COMM_WORLD);
  DO(MPI_Recv(&in, 1, MPI_INT, from, 21, MPI_COMM_WORLD, &st),
     "count:i source:r tag:t comm:C status:S", 1, from, 21, MPI_COMM_WORLD, &st);
  EXPECT(in == (rank > 0 ? rank - 1 : -1));
  DO(MPI_Sendrecv(&out, 1, MPI_INT, rank, 22, &in, 1, MPI_INT, rank, 22, MPI_COMM_WORLD, &st),
     "dest:r source:r status:S", rank, rank, &st);
  EXPECT(in == rank);
  DO(MPI_Sendrecv(&out, 0, MPI_INT, 0, 23, &in, 0, MPI_INT, 0, 23, MPI_COMM_SELF, &st),
     "sendcount:i dest:r comm:C status:S", 0, 0, MPI_COMM_SELF, &st);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  modes(rank, size);
  exchange(rank, size);
  ends(rank, size);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
