// NULL where a pointer to a handle belongs: MPI refuses the call, the program goes on. Where the
// recorder would have to look behind the pointer before the call, it counts it as lost (the
// manifest says how often); all others are there. Only what the MPI library itself survives.
#include "calls.h"

#define REFUSED(call)              \
  do {                             \
    EXPECT((call) != MPI_SUCCESS); \
    ++refused;                     \
  } while (0)

static int rank, size, refused;
#define W MPI_COMM_WORLD  // no constant in every MPI

static void neighbours(int tag) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int in = -1;
  MPI_Request r[2];
  L_Irecv(&in, 1, MPI_INT, from, tag, W, &r[0]);
  L_Isend(&rank, 1, MPI_INT, to, tag, W, &r[1]);
  L_Waitall(2, r, MPI_STATUSES_IGNORE);
  EXPECT(in == from);
}

static void requests(void) {
  int flag;
  REFUSED(MPI_Wait(NULL, MPI_STATUS_IGNORE));
  neighbours(1);
  REFUSED(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
  REFUSED(MPI_Request_free(NULL));
  REFUSED(MPI_Start(NULL));
  neighbours(2);
  REFUSED(MPI_Cancel(NULL));
}

// Some are recorded, without a handle.
static void objects(void) {
  EXPECT(DO(MPI_Group_free(NULL), "group:n") != MPI_SUCCESS);
  EXPECT(DO(MPI_Op_free(NULL), "op:n") != MPI_SUCCESS);
  EXPECT(DO(MPI_Info_free(NULL), "info:n") != MPI_SUCCESS);
  EXPECT(DO(MPI_Errhandler_free(NULL), "errhandler:n") != MPI_SUCCESS);
  EXPECT(DO(MPI_Comm_free_keyval(NULL), "comm_keyval:n") != MPI_SUCCESS);
  EXPECT(DO(MPI_Type_free_keyval(NULL), "type_keyval:n") != MPI_SUCCESS);
  EXPECT(DO(MPI_Win_free_keyval(NULL), "win_keyval:n") != MPI_SUCCESS);
#ifdef OPEN_MPI
  for (int i = 0; i < 3; ++i) REFUSED(MPI_Type_free(NULL));
  EXPECT(DO(MPI_File_close(NULL), "fh:n") != MPI_SUCCESS);
#else
  int in;
  REFUSED(MPI_Comm_free(NULL));
  REFUSED(MPI_Comm_disconnect(NULL));
  REFUSED(MPI_Mrecv(&in, 1, MPI_INT, NULL, MPI_STATUS_IGNORE));
  EXPECT(DO(MPI_Win_free(NULL), "win:n") != MPI_SUCCESS);
#endif
}

int main(int argc, char** argv) {
  log_init(&argc, &argv, &rank, &size);
  DO(MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN), "comm:C errhandler:E", W, MPI_ERRORS_RETURN);
  DO(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "comm:C errhandler:E",
     MPI_COMM_SELF, MPI_ERRORS_RETURN);
  requests();
  objects();
  EXPECT(refused == 8);
  // An array of requests that is not there is seen by the recorder like any other.
  EXPECT(DO(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE), "count:i", 2) != MPI_SUCCESS);
  // Null handles, unlike NULL, have a name.
  MPI_Request none = MPI_REQUEST_NULL;
  L_Wait(&none, MPI_STATUS_IGNORE);
  MPI_Comm no_comm = MPI_COMM_NULL;
  EXPECT(DO(MPI_Comm_free(&no_comm), "comm:C", MPI_COMM_NULL) != MPI_SUCCESS);
  MPI_Datatype predefined = MPI_INT;
  EXPECT(DO(MPI_Type_free(&predefined), "datatype:D", MPI_INT) != MPI_SUCCESS);
  neighbours(3);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
