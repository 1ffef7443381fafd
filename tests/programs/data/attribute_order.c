// Several attributes of one object: in which order their functions are called, which ask something
// each; and keyvals that are freed before their attributes.
#include "calls.h"

enum { kAttributes = 5 };

// Which attribute: its function makes a call of its own.
static void ask(MPI_Comm comm, long which) {
  int number;
  if (which % kAttributes == 0)
    DO(MPI_Comm_size(comm, &number), "comm:C size:i", comm, number);
  else if (which % kAttributes == 1)
    DO(MPI_Type_size(MPI_INT, &number), "datatype:D size:i", MPI_INT, number);
  else if (which % kAttributes == 2)
    DO(MPI_Comm_test_inter(comm, &number), "comm:C flag:i", comm, number);
  else if (which % kAttributes == 3)
    DO(MPI_Initialized(&number), "flag:i", number);
  else
    DO(MPI_Comm_rank(comm, &number), "comm:C rank:i", comm, number);
}

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)keyval, (void)extra;
  ask(comm, (long)in);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_fn(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)extra;
  ask(comm, (long)value);
  return MPI_SUCCESS;
}

// The next keyval has the name of the one before, and is another one.
static void freed_before(void) {
  MPI_Comm comm;
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "comm:C newcomm:C+", MPI_COMM_WORLD, comm, "@@comm");
  for (long i = 0; i < 3; ++i) {
    int keyval;
    DO(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_fn, &keyval, NULL), "comm_keyval:K+",
       keyval);
    DO(MPI_Comm_set_attr(comm, keyval, (void*)i), "comm:C comm_keyval:K", comm, keyval);
    const int freed = keyval;
    DO(MPI_Comm_free_keyval(&keyval), "comm_keyval:K-", freed);
  }
  L_Comm_free(&comm);
}

int main(int argc, char** argv) {
  int me, n, keyvals[kAttributes];
  const long order[] = {2, 0, 4, 1, 3};
  MPI_Comm comm, same;
  log_init(&argc, &argv, &me, &n);
  DO(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "comm:C newcomm:C+", MPI_COMM_WORLD, comm, "@@comm");
  for (int i = 0; i < kAttributes; ++i)
    DO(MPI_Comm_create_keyval(copy, delete_fn, &keyvals[i], NULL), "comm_keyval:K+", keyvals[i]);
  for (int i = 0; i < kAttributes; ++i)
    DO(MPI_Comm_set_attr(comm, keyvals[order[i]], (void*)order[i]), "comm:C comm_keyval:K", comm,
       keyvals[order[i]]);
  // Set again, as the same one.
  DO(MPI_Comm_set_attr(comm, keyvals[0], (void*)(long)kAttributes), "comm:C comm_keyval:K", comm,
     keyvals[0]);
  DO(MPI_Comm_dup(comm, &same), "comm:C newcomm:C+", comm, same, "@@same");
  L_Comm_free(&same);
  L_Comm_free(&comm);
  for (int i = 0; i < kAttributes; ++i) {
    const int freed = keyvals[i];
    DO(MPI_Comm_free_keyval(&keyvals[i]), "comm_keyval:K-", freed);
  }
  freed_before();
  log_finalize();
  return 0;
}
