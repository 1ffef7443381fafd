// Errors that come back: the program sees the code that MPI gave, the trace has it too.
#include "calls.h"

static int handled;

static void handler(MPI_Comm* c, int* code, ...) {
  (void)c;
  int error_class;
  DO(MPI_Error_class(*code, &error_class), "errorcode:i errorclass:s", *code,
     handled ? "MPI_ERR_TAG" : "MPI_ERR_RANK");
  ++handled;
}

int main(int argc, char** argv) {
  int rank, size;
  log_init(&argc, &argv, &rank, &size);
  const MPI_Comm W = MPI_COMM_WORLD;
  DO(MPI_Comm_set_errhandler(W, MPI_ERRORS_RETURN), "comm:C errhandler:E", W, MPI_ERRORS_RETURN);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int big[8] = {0}, small[8], rc, error_class, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Request r[2];
  MPI_Status st[2];

  // Truncation: the message is longer than the room.
  L_Isend(big, 8, MPI_INT, to, 1, W, &r[0]);
  rc = DO(MPI_Recv(small, 2, MPI_INT, from, 1, W, &st[0]),
          "count:i datatype:D source:r tag:t comm:C", 2, MPI_INT, from, 1, W);
  EXPECT(rc != MPI_SUCCESS);
  DO(MPI_Error_class(rc, &error_class), "errorcode:i errorclass:s", rc, "MPI_ERR_TRUNCATE");
  EXPECT(error_class == MPI_ERR_TRUNCATE);
  DO(MPI_Error_string(rc, text, &length), "errorcode:i resultlen:i", rc, length);
  L_Wait(&r[0], MPI_STATUS_IGNORE);

  // The same in one request of two.
  L_Irecv(&small[0], 1, MPI_INT, from, 2, W, &r[0]);
  L_Irecv(&small[4], 4, MPI_INT, from, 3, W, &r[1]);
  L_Barrier(W);
  L_Send(big, 4, MPI_INT, to, 2, W);
  L_Send(big, 4, MPI_INT, to, 3, W);
  MPI_Error_class(0, &error_class);
  DID("MPI_Error_class", "errorcode:i errorclass:s", 0, "MPI_SUCCESS");
  rc = MPI_Waitall(2, r, st);
  EXPECT(rc == MPI_ERR_IN_STATUS);
  // The other one may be complete, or pending: then it is still there.
  const int complete = st[1].MPI_ERROR == MPI_SUCCESS;
  char first[64], second[64], statuses[160];
  snprintf(first, sizeof first, "{\"source\":%d,\"tag\":2,\"error\":%d}", from, st[0].MPI_ERROR);
  snprintf(second, sizeof second, "{\"source\":%d,\"tag\":3,\"error\":0}", from);
  snprintf(statuses, sizeof statuses, "[%s,%s]", first, complete ? second : "\"?\"");
  log_call(0, "MPI_Waitall", rc, "count:i array_of_requests:A array_of_statuses:j", 2, 2, r,
           statuses);
  EXPECT(st[0].MPI_ERROR != MPI_SUCCESS && (complete || st[1].MPI_ERROR == MPI_ERR_PENDING));
  for (int i = 0; i < 2; ++i)
    if (r[i] != MPI_REQUEST_NULL) DO(MPI_Wait(&r[i], &st[1]), "request:R", &r[i]);
  MPI_Error_class(st[0].MPI_ERROR, &error_class);
  DID("MPI_Error_class", "errorcode:i errorclass:s", st[0].MPI_ERROR, "MPI_ERR_TRUNCATE");

  // An argument that MPI refuses.
  rc = DO(MPI_Send(big, 1, MPI_INT, size + 5, 1, W), "count:i datatype:D dest:r tag:t comm:C", 1,
          MPI_INT, size + 5, 1, W);
  EXPECT(rc != MPI_SUCCESS);
  rc = DO(MPI_Recv(big, -1, MPI_INT, 0, 1, W, &st[0]), "count:i datatype:D source:r tag:t comm:C",
          -1, MPI_INT, 0, 1, W);
  EXPECT(rc != MPI_SUCCESS);

  // A handler of the program's own, which calls MPI.
  MPI_Errhandler own, old;
  MPI_Comm dup;
  DO(MPI_Comm_dup(W, &dup), "comm:C newcomm:C+", W, dup, "@@dup");
  DO(MPI_Comm_create_errhandler(handler, &own), "errhandler:E+", own);
  DO(MPI_Comm_set_errhandler(dup, own), "comm:C errhandler:E", dup, own);
  rc = DO(MPI_Send(big, 1, MPI_INT, size + 5, 1, dup), "count:i dest:r comm:C", 1, size + 5, dup);
  EXPECT(handled == 1);
  DO(MPI_Comm_call_errhandler(dup, MPI_ERR_TAG), "comm:C errorcode:i", dup, MPI_ERR_TAG);
  EXPECT(handled == 2);
  // It stays with its communicator, and with those that are made from that.
  old = own;
  DO(MPI_Errhandler_free(&own), "errhandler:E-", old);
  MPI_Comm split;
  DO(MPI_Comm_split(dup, 0, rank, &split), "comm:C color:i key:i newcomm:C+", dup, 0, rank, split,
     "@@split");
  DO(MPI_Comm_call_errhandler(dup, MPI_ERR_TAG), "comm:C errorcode:i", dup, MPI_ERR_TAG);
  DO(MPI_Comm_call_errhandler(split, MPI_ERR_TAG), "comm:C errorcode:i", split, MPI_ERR_TAG);
  EXPECT(handled == 4);
  L_Comm_free(&split);
  L_Comm_free(&dup);
  int code, new_class;
  DO(MPI_Add_error_class(&new_class), "errorclass:i", new_class);
  DO(MPI_Add_error_code(new_class, &code), "errorclass:i errorcode:i", new_class, code);
  DO(MPI_Add_error_string(code, "our own"), "errorcode:i string:s", code, "our own");
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
