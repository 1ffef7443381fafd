// What must survive when the recorder's tables begin anew, which is when a program has made many
// different calls: requests that are outstanding all the time, persistent ones, those that were
// made in a pause, derived types, and calls that come back after others were forgotten.
//
//   parts ROUNDS [threads]
//
// For two ranks. "threads": two more threads of each rank do the same on communicators of their
// own. With REFRAIN_TEST_KILL=FILE both ranks stop behind the rounds, right after MPI_Query_thread:
// rank 0 makes the file and waits, rank 1 is killed once the file is there. Every run makes the
// same calls until then.
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 3, kSendsPerRound = 40, kTypes = 50, kEach = 16 };

static int rank, partner, rounds;

typedef struct {
  MPI_Comm comm;
  int number;
  pthread_t thread;
  volatile int* last_began;  // threads begin one after the other
} Worker;

// Receives that are posted first and completed last.
static MPI_Request early[2];
// One that is posted while recording is paused, and completed while it is not.
static MPI_Request unseen;

static void finish_unseen(void) {
  int value = rank;
  MPI_Send(&value, 1, MPI_INT, partner, 300, MPI_COMM_WORLD);
  MPI_Wait(&unseen, MPI_STATUS_IGNORE);
}

static void one_round(Worker* w, int round, MPI_Request* persistent, int* buffer) {
  const int kinds = rounds > 900 ? rounds / 3 : 300;
  int flag = 0;
  for (int i = 0; i < kSendsPerRound; ++i)
    MPI_Send(buffer, 0, MPI_INT, MPI_PROC_NULL, round % kinds * kSendsPerRound + i, w->comm);
  for (int i = 0; i < 3; ++i) MPI_Iprobe(MPI_PROC_NULL, i, w->comm, &flag, MPI_STATUS_IGNORE);
  MPI_Request requests[4];
  for (int i = 0; i < 2; ++i) {
    MPI_Irecv(&buffer[i], 1, MPI_INT, partner, i, w->comm, &requests[i]);
    MPI_Isend(&buffer[2 + i], 1, MPI_INT, partner, i, w->comm, &requests[2 + i]);
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  if (round % kEach == 0) {
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
    MPI_Datatype type;
    MPI_Type_vector(2, 1 + round % kTypes, 2 * kTypes, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Send(buffer, 1, type, MPI_PROC_NULL, 7, w->comm);
    MPI_Type_free(&type);
  }
}

static void* work(void* argument) {
  Worker* w = argument;
  int* const buffer = calloc(8 * kTypes, sizeof(int));
  MPI_Request persistent[2];
  MPI_Recv_init(buffer, 1, MPI_INT, partner, 100, w->comm, &persistent[0]);
  MPI_Send_init(buffer + 1, 1, MPI_INT, partner, 100, w->comm, &persistent[1]);
  __atomic_store_n(w->last_began, w->number, __ATOMIC_SEQ_CST);
  for (int round = 0; round < rounds; ++round) {
    one_round(w, round, persistent, buffer);
    if (w->number == 0 && round == rounds / 2) finish_unseen();
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&persistent[i]);
  free(buffer);
  return NULL;
}

static void finish_early_receives(void) {
  int value = rank;
  for (int i = 0; i < 2; ++i) MPI_Send(&value, 1, MPI_INT, partner, 200 + i, MPI_COMM_WORLD);
  MPI_Wait(&early[0], MPI_STATUS_IGNORE);
  MPI_Status status;
  MPI_Wait(&early[1], &status);
}

int main(int argc, char** argv) {
  const int threads = argc > 2 && strcmp(argv[2], "threads") == 0 ? kThreads : 1;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  partner = rank ^ 1;
  rounds = argc > 1 ? atoi(argv[1]) : 0;
  static int values[3];
  MPI_Irecv(&values[0], 1, MPI_INT, partner, 200, MPI_COMM_WORLD, &early[0]);
  MPI_Irecv(&values[1], 1, MPI_INT, MPI_ANY_SOURCE, 201, MPI_COMM_WORLD, &early[1]);
  MPI_Pcontrol(0);
  MPI_Irecv(&values[2], 1, MPI_INT, partner, 300, MPI_COMM_WORLD, &unseen);
  MPI_Pcontrol(1);
  Worker workers[kThreads];
  volatile int last_began = -1;
  for (int i = 0; i < threads; ++i) {
    workers[i].number = i;
    workers[i].last_began = &last_began;
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
  }
  for (int i = 1; i < threads; ++i) {
    pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    while (__atomic_load_n(&last_began, __ATOMIC_SEQ_CST) != i) usleep(1000);
  }
  work(&workers[0]);
  for (int i = 1; i < threads; ++i) pthread_join(workers[i].thread, NULL);
  MPI_Query_thread(&provided);
  const char* const file = getenv("REFRAIN_TEST_KILL");
  if (file != NULL) {
    if (rank == 0) close(creat(file, 0600));
    while (access(file, F_OK) != 0) usleep(1000);
    if (rank == 1) raise(SIGKILL);
    pause();
  }
  finish_early_receives();
  for (int i = 0; i < threads; ++i) MPI_Comm_free(&workers[i].comm);
  MPI_Finalize();
  if (rank == 0) printf("parts: done\n");
  return 0;
}
