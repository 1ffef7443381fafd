// Communicators of MPICH whose ranks are threads. No barrier: MPICH 4.2.1 hangs in it now and then.
#include <pthread.h>

#include "calls.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40200000
enum { kThreads = 2 };
static MPI_Comm threads_comm;
static int size;

static void* worker(void* number) {
  int me, all, is_threadcomm, in = -1;
  if (*(int*)number > 0) log_thread("second");
  DO(MPIX_Threadcomm_start(threads_comm), "threadcomm:C", threads_comm);
  L_Comm_rank(threads_comm, &me);
  L_Comm_size(threads_comm, &all);
  EXPECT(all == kThreads * size);
  DO(MPIX_Comm_test_threadcomm(threads_comm, &is_threadcomm), "comm:C flag:i", threads_comm, 1);
  EXPECT(is_threadcomm);
  const int to = (me + 1) % all, from = (me + all - 1) % all;
  MPI_Request r;
  L_Irecv(&in, 1, MPI_INT, from, 4, threads_comm, &r);
  L_Send(&me, 1, MPI_INT, to, 4, threads_comm);
  L_Wait(&r, MPI_STATUS_IGNORE);
  EXPECT(in == from);
  DO(MPIX_Threadcomm_finish(threads_comm), "threadcomm:C", threads_comm);
  return NULL;
}
#endif

int main(int argc, char** argv) {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 40200000
  (void)argc, (void)argv;
  SKIP("no communicators of threads in this MPI");
#else
  int rank, is_threadcomm, numbers[kThreads] = {0, 1};
  pthread_t second;
  L_Init_multiple(argc, argv);
  L_Comm_rank(MPI_COMM_WORLD, &rank);
  L_Comm_size(MPI_COMM_WORLD, &size);
  DO(MPIX_Comm_test_threadcomm(MPI_COMM_WORLD, &is_threadcomm), "comm:C flag:i", MPI_COMM_WORLD, 0);
  EXPECT(!is_threadcomm);
  DO(MPIX_Threadcomm_init(MPI_COMM_WORLD, kThreads, &threads_comm),
     "comm:C num_threads:i newthreadcomm:C+", MPI_COMM_WORLD, kThreads, threads_comm, "@@threads");
  pthread_create(&second, NULL, worker, &numbers[1]);
  worker(&numbers[0]);
  pthread_join(second, NULL);
  const MPI_Comm old = threads_comm;
  DO(MPIX_Threadcomm_free(&threads_comm), "threadcomm:C-", old);
  log_finalize();
  printf("rank %d of %d done\n", rank, size);
  return 0;
#endif
}
