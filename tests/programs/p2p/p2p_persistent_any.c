// Persistent receives from anybody, and with any tag: each start takes another message. Who sends
// first follows from pauses alone, so that only a replay that asks for the recorded messages gets
// them again.
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include <unistd.h>

#include "calls.h"

enum { kRounds = 8 };

static void receive(int size) {
  int in[2] = {-1, -1};
  MPI_Request r[2];
  MPI_Status st[2];
  MPI_Datatype pair;
  DO(MPI_Type_contiguous(1, MPI_INT, &pair), "count:i oldtype:D newtype:D+", 1, MPI_INT, pair);
  L_Type_commit(&pair);
  DO(MPI_Recv_init(&in[0], 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]),
     kRecvSpec " request:R+", 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[0]);
  DO(MPI_Recv_init(&in[1], 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]),
     kRecvSpec " request:R+", 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
  L_Type_free(&pair);  // the requests keep it
  for (int round = 0; round < kRounds; ++round) {
    L_Barrier(MPI_COMM_WORLD);
    for (int left = size - 1; left > 0; left -= 2) {
      const int both = left > 1;
      if (both && round % 2) {
        DO(MPI_Startall(2, r), "count:i array_of_requests:A", 2, 2, r);
      } else {
        DO(MPI_Start(&r[0]), "request:R", &r[0]);
        if (both) DO(MPI_Start(&r[1]), "request:R", &r[1]);
      }
      L_Wait(&r[0], &st[0]);
      EXPECT(in[0] == st[0].MPI_SOURCE * 100 + st[0].MPI_TAG);
      if (!both) continue;
      L_Wait(&r[1], &st[1]);
      EXPECT(in[1] == st[1].MPI_SOURCE * 100 + st[1].MPI_TAG);
    }
  }
  for (int i = 0; i < 2; ++i) DO(MPI_Request_free(&r[i]), "request:R", &r[i]);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  if (rank == 0) receive(size);
  for (int round = 0; rank > 0 && round < kRounds; ++round) {
    const int tag = round % 3, out = rank * 100 + tag;
    L_Barrier(MPI_COMM_WORLD);
    usleep((useconds_t)(round % 2 == rank % 2 ? 20000 : 0));
    L_Send(&out, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  }
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
