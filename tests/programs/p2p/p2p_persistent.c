// Persistent requests: made once, started often, inactive in between, freed at the end.
#include "calls.h"

static int out[3], in[3];

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request r[4];
  MPI_Status st[4];
  DO(MPI_Recv_init(&in[0], 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r[0]), kRecvSpec " request:R+", 1,
     MPI_INT, from, 1, MPI_COMM_WORLD, &r[0]);
  DO(MPI_Send_init(&out[0], 1, MPI_INT, to, 1, MPI_COMM_WORLD, &r[1]), kSendSpec " request:R+", 1,
     MPI_INT, to, 1, MPI_COMM_WORLD, &r[1]);
  DO(MPI_Recv_init(&in[1], 2, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[2]),
     kRecvSpec " request:R+", 2, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &r[2]);
  DO(MPI_Ssend_init(&out[1], 2, MPI_INT, to, 2, MPI_COMM_WORLD, &r[3]), kSendSpec " request:R+", 2,
     MPI_INT, to, 2, MPI_COMM_WORLD, &r[3]);
  for (int round = 0; round < 5; ++round) {
    out[0] = rank * 100 + round;
    out[1] = rank;
    if (round % 2) {
      DO(MPI_Startall(4, r), "count:i array_of_requests:A", 4, 4, r);
    } else {
      for (int i = 0; i < 4; ++i) DO(MPI_Start(&r[i]), "request:R", &r[i]);
    }
    if (round < 2)
      L_Waitall(4, r, st);
    else if (round < 4)
      for (int i = 0; i < 4; ++i) L_Wait(&r[i], &st[i]);
    else
      DO(MPI_Waitall(4, r, MPI_STATUSES_IGNORE),
         "array_of_requests:A array_of_statuses:s =matched:j", 4, r, "MPI_STATUSES_IGNORE",
         "\"?\"");
    EXPECT(in[0] == from * 100 + round && in[1] == from);
  }
  DO(MPI_Wait(&r[0], &st[0]), "request:R status:j", &r[0],  // inactive: the empty status at once
     "{\"source\":\"MPI_ANY_SOURCE\",\"tag\":\"MPI_ANY_TAG\"}");
  for (int i = 0; i < 4; ++i) DO(MPI_Request_free(&r[i]), "request:R", &r[i]);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
