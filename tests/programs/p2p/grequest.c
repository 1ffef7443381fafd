// Generalised requests: the program says when they are complete, and what their status is.
#include "calls.h"

static int queries, frees, cancels;

static int query(void* extra, MPI_Status* status) {
  ++queries;
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  DO(MPI_Status_set_elements(status, MPI_INT, *(int*)extra), "datatype:D count:i", MPI_INT,
     *(int*)extra);
  DO(MPI_Status_set_cancelled(status, 0), "flag:i", 0);
  return MPI_SUCCESS;
}

static int release(void* extra) {
  (void)extra;
  ++frees;
  return MPI_SUCCESS;
}

static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  ++cancels;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int rank, size, flag = 1, count = 3, got = 0;
  log_init(&argc, &argv, &rank, &size);
  MPI_Request r, kept;
  MPI_Status st;
  for (int round = 0; round < 3; ++round) {
    DO(MPI_Grequest_start(query, release, cancel, &count, &r), "request:R+", &r);
    DO(MPI_Test(&r, &flag, &st), "request:R flag:i", &r, 0);
    EXPECT(flag == 0);
    kept = r;
    DO(MPI_Grequest_complete(kept), "request:R", &r);
    DO(MPI_Wait(&r, &st), "request:R status:j", &r,
       "{\"source\":\"MPI_UNDEFINED\",\"tag\":\"MPI_UNDEFINED\"}");
    EXPECT(queries == round + 1 && frees == round + 1);
    DO(MPI_Get_count(&st, MPI_INT, &got), "datatype:D count:i", MPI_INT, 3);
    EXPECT(got == 3 && st.MPI_TAG == MPI_UNDEFINED);
  }
  // One that is cancelled, and then complete all the same.
  DO(MPI_Grequest_start(query, release, cancel, &count, &r), "request:R+", &r);
  DO(MPI_Cancel(&r), "request:R", &r);
  EXPECT(cancels == 1);
  DO(MPI_Grequest_complete(r), "request:R", &r);
  L_Wait(&r, MPI_STATUS_IGNORE);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
