// Probes, matched probes and matched receives.
#include "calls.h"

static void receive(int size) {
  MPI_Status st;
  int value, flag, count;
  for (int i = 1; i < size; ++i) {
    DO(MPI_Probe(i, 1, MPI_COMM_WORLD, &st), "source:r tag:t comm:C status:S", i, 1, MPI_COMM_WORLD,
       &st);
    DO(MPI_Get_count(&st, MPI_INT, &count), "datatype:D count:i", MPI_INT, count);
    L_Recv(&value, count, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int i = 1; i < size; ++i) {
    do
      DO(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &st),
         "source:r tag:t comm:C flag:f status:S", MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, flag, &st);
    while (!flag);
    L_Recv(&value, 1, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, &st);
  }
  for (int i = 1; i < size; ++i) {
    MPI_Message m, old;
    DO(MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &m, &st),
       "source:r tag:t comm:C message:M+ status:S", MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, m, &st);
    old = m;
    DO(MPI_Mrecv(&value, 1, MPI_INT, &m, &st), "count:i datatype:D message:M- status:S", 1, MPI_INT,
       old, &st);
    EXPECT(value == st.MPI_SOURCE);
  }
  for (int i = 1; i < size; ++i) {
    MPI_Message m, old;
    MPI_Request r;
    do MPI_Improbe(i, 4, MPI_COMM_WORLD, &flag, &m, &st);
    while (!flag && (DID("MPI_Improbe", "source:r tag:t comm:C flag:f status:S", i, 4,
                         MPI_COMM_WORLD, 0, &st),
                     1));
    DID("MPI_Improbe", "source:r tag:t comm:C flag:f message:M+ status:S", i, 4, MPI_COMM_WORLD,
        flag, m, &st);
    old = m;
    DO(MPI_Imrecv(&value, 1, MPI_INT, &m, &r), "count:i datatype:D message:M- request:R+", 1,
       MPI_INT, old, &r);
    L_Wait(&r, &st);
    EXPECT(value == i);
  }
  MPI_Message none;
  DO(MPI_Mprobe(MPI_PROC_NULL, 9, MPI_COMM_WORLD, &none, &st), "source:r message:M status:S",
     MPI_PROC_NULL, none, &st);
  DO(MPI_Mrecv(&value, 1, MPI_INT, &none, &st), "message:s status:S", "MPI_MESSAGE_NO_PROC", &st);
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  if (rank == 0)
    receive(size);
  else
    for (int tag = 1; tag <= 4; ++tag) L_Send(&rank, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
