// MPICH's reduction operators and error handlers that carry a state and say when they are gone.
#include "calls.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
static int state = 17, operations, errors, destroyed;

static void add(void* in, void* inout, MPI_Count n, MPI_Datatype t, void* extra) {
  (void)t;
  EXPECT(extra == &state);
  for (MPI_Count i = 0; i < n; ++i) ((int*)inout)[i] += ((int*)in)[i];
  ++operations;
}

static void destroy(void* extra) {
  EXPECT(extra == &state);
  ++destroyed;
}

static void of_comm(MPI_Comm c, int code, void* extra) {
  int error_class;
  (void)c;
  EXPECT(extra == &state);
  DO(MPI_Error_class(code, &error_class), "errorcode:i errorclass:s", code, "MPI_ERR_TAG");
  ++errors;
}

static void of_win(MPI_Win w, int code, void* extra) { (void)w, (void)code, (void)extra; }
static void of_file(MPI_File f, int code, void* extra) { (void)f, (void)code, (void)extra; }
static void of_session(MPI_Session s, int code, void* extra) { (void)s, (void)code, (void)extra; }

static void end_errhandler(MPI_Errhandler h) {
  const MPI_Errhandler old = h;
  DO(MPI_Errhandler_free(&h), "errhandler:E-", old);
}
#endif

int main(int argc, char** argv) {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 50000000
  (void)argc, (void)argv;
  SKIP("no callbacks with a state in this MPI");
#else
  int rank, size, sum;
  MPI_Op op;
  MPI_Errhandler h;
  MPI_Comm c;
  log_init(&argc, &argv, &rank, &size);
  DO(MPIX_Op_create_x(add, destroy, 1, &state, &op), "commute:i op:O+", 1, op);
  const int one = 1;
  L_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  EXPECT(sum == size && operations > 0);
  const MPI_Op old_op = op;
  DO(MPI_Op_free(&op), "op:O-", old_op);
  EXPECT(destroyed == 1);
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &c), "comm:C newcomm:C+", MPI_COMM_WORLD, c, "@@handled");
  DO(MPIX_Comm_create_errhandler_x(of_comm, destroy, &state, &h), "errhandler:E+", h);
  DO(MPI_Comm_set_errhandler(c, h), "comm:C errhandler:E", c, h);
  DO(MPI_Comm_call_errhandler(c, MPI_ERR_TAG), "comm:C errorcode:i", c, MPI_ERR_TAG);
  EXPECT(errors == 1);
  end_errhandler(h);
  L_Comm_free(&c);
  DO(MPIX_Win_create_errhandler_x(of_win, destroy, &state, &h), "errhandler:E+", h);
  end_errhandler(h);
  DO(MPIX_File_create_errhandler_x(of_file, destroy, &state, &h), "errhandler:E+", h);
  end_errhandler(h);
  DO(MPIX_Session_create_errhandler_x(of_session, destroy, &state, &h), "errhandler:E+", h);
  end_errhandler(h);
  EXPECT(destroyed == 5);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
