// A ring whose numbers all come from the rank before: what a rank prints shows what it received.
// In a run that is told so (RING_CHANGE) one call is another one than it was, or rank 1 dies.
// Threads that make no calls ask for the time.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kRounds = 20, kNumbers = 30000 };
static int numbers[kNumbers], taken[kNumbers];

static int is_changed(const char* what) {
  const char* change = getenv("RING_CHANGE");
  return change != NULL && strcmp(change, what) == 0;
}

// As it stands in memory: MPI_Get_count would be answered from the trace.
static unsigned bytes_in(const MPI_Status* status) {
#if defined(OPEN_MPI)
  return (unsigned)status->_ucount;
#elif defined(MPICH_NUMVERSION)
  return (unsigned)status->count_lo;
#else
  return status == NULL;
#endif
}

static void* ask_for_time(void* latest) {
  for (int i = 0; i < 3; ++i) *(double*)latest = MPI_Wtime();
  return NULL;
}

// As programs write a state from which they can go on: under another name first. Returns whether
// the files are then where they should be.
static int keep_state(int rank, unsigned sum) {
  char name[32], part[40];
  struct stat info;
  snprintf(name, sizeof name, "state.%d", rank);
  snprintf(part, sizeof part, "%s.part", name);
  unlink(name);
  if (access(name, F_OK) == 0) return 0;
  FILE* out = fopen(part, "w");
  if (out == NULL) return 0;
  const int length = fprintf(out, "%u\n", sum);
  fclose(out);
  return rename(part, name) == 0 && access(part, F_OK) != 0 && stat(name, &info) == 0 &&
         info.st_size == length;
}

// A rank finds what it has itself told the others, which is another number in each process.
static int finds_itself(int rank, int size) {
  enum { kMost = 64 };
  int own = (int)getpid(), told[kMost] = {0}, in_place[kMost] = {0}, lists[kMost] = {0};
  int counts[kMost], at[kMost];
  if (size > kMost) return 0;
  for (int i = 0; i < size; ++i) counts[i] = 1, at[i] = size - 1 - i;
  in_place[rank] = own;
  MPI_Allgather(&own, sizeof own, MPI_BYTE, told, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in_place, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Gatherv(&own, 1, MPI_INT, lists, counts, at, MPI_INT, 0, MPI_COMM_WORLD);
  int* tells[kMost] = {NULL};
  int* const mine = &taken[getpid() % kNumbers];
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, tells, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  return told[rank] == own && in_place[rank] == own && (rank != 0 || lists[size - 1] == own) &&
         tells[rank] == mine;
}

static int is_other(int number) { return number ^ (int)getpid(); }

// What a rank has worked out differs from run to run, and what the others do follows from it: rank
// 0 gives each rank the tag of its message to itself, and all find the largest of their numbers.
static int agrees(int rank, int size) {
  enum { kMost = 64 };
  int tags[kMost], numbers_of[kMost], tag = 0, largest = 0, got = -1;
  for (int i = 0; i < kMost; ++i) tags[i] = is_other(i) % 1000;
  MPI_Scatter(tags, 1, MPI_INT, &tag, 1, MPI_INT, 0, MPI_COMM_WORLD);
  const int number = is_other(rank) % 777;
  MPI_Allgather(&number, 1, MPI_INT, numbers_of, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i)
    if (numbers_of[i] > largest) largest = numbers_of[i];
  tag += 1000 * largest;
  MPI_Sendrecv(&largest, 1, MPI_INT, 0, tag, &got, 1, MPI_INT, 0, tag, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  return got == largest;
}

// Arrays whose distance on the heap differs from run to run, in one datatype.
static int takes_two_arrays(void) {
  enum { kGrain = 2 * sizeof(void*) };
  static char heap[1 << 20];
  char* const first = heap;
  char* const second = heap + (2 + getpid() % 30000) * kGrain;
  const int lengths[2] = {kGrain, kGrain};
  char sent[2 * kGrain];
  MPI_Aint at[2];
  MPI_Datatype both;
  MPI_Get_address(first, &at[0]);
  MPI_Get_address(second, &at[1]);
  at[1] -= at[0];
  at[0] = 0;
  MPI_Type_create_hindexed(2, lengths, at, MPI_CHAR, &both);
  MPI_Type_commit(&both);
  memset(sent, 1, kGrain);
  memset(sent + kGrain, 2, kGrain);
  MPI_Sendrecv(sent, 2 * kGrain, MPI_CHAR, 0, 5, first, 1, both, 0, 5, MPI_COMM_SELF,
               MPI_STATUS_IGNORE);
  MPI_Type_free(&both);
  return first[0] == 1 && second[kGrain - 1] == 2;
}

// The extent of elements, which is a matter of the program and not of its memory.
static int resizes(void) {
  MPI_Datatype wide;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_create_resized(MPI_INT, 0, is_changed("extent") ? 60 : 40, &wide);
  MPI_Type_get_extent(wide, &lower, &extent);
  MPI_Type_free(&wide);
  return extent == 40;
}

// Memory of another rank, outside of MPI: nobody makes it for a rank that is alone.
static void share(void) {
  const int id = 0x7ffffff0;
  if (is_changed("shared") && shmat(id, NULL, 0) != (void*)-1) abort();
}

// MPI gives out the group of a communicator twice, with one handle: either is to be freed.
static int keeps_group(int rank) {
  MPI_Group first, second;
  int found = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &first);
  MPI_Comm_group(MPI_COMM_WORLD, &second);
  MPI_Group_free(&first);
  MPI_Group_rank(second, &found);
  MPI_Group_free(&second);
  return found == rank;
}

// Sends that end at once may have one handle for all of them. In copies, no recorder can tell which
// of them a wait is for, and this order is not that of the sends.
static int ends_copies(int rank, int size) {
  static const int kOrder[] = {1, 2, 0};
  MPI_Request sent[3], copies[3];
  int got[3] = {-1, -1, -1};
  for (int i = 0; i < 3; ++i)
    MPI_Isend(&kOrder[i], 1, MPI_INT, (rank + 1) % size, 20 + i, MPI_COMM_WORLD, &sent[i]);
  for (int i = 0; i < 3; ++i) copies[i] = sent[kOrder[i]];
  for (int i = 0; i < 3; ++i)
    MPI_Recv(&got[i], 1, MPI_INT, (rank + size - 1) % size, 20 + i, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) {
    int flag = 0;
    while (!flag) MPI_Test(&copies[i], &flag, MPI_STATUS_IGNORE);
    if (copies[i] != MPI_REQUEST_NULL) return 0;
  }
  return memcmp(got, kOrder, sizeof got) == 0;
}

int main(int argc, char** argv) {
  int rank, size, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!finds_itself(rank, size) || !keeps_group(rank)) return 1;
  if (!ends_copies(rank, size)) return 1;
  if (!agrees(rank, size) || !takes_two_arrays() || !resizes()) return 1;
  share();
  if (is_changed("quiet") && freopen("/dev/null", "w", stderr) == NULL) return 1;
  unsigned sum = (unsigned)rank + 1;
  const double begin = MPI_Wtime();
  for (int round = 0; round < kRounds; ++round) {
    const int is_late = round == kRounds - 1;
    for (int i = 0; i < kNumbers; ++i) numbers[i] = (int)(sum = sum * 1664525u + 1013904223u);
    const int count = is_late && is_changed("count") ? kNumbers - 1 : kNumbers;
    const int tag = is_late && (is_changed("tag") || is_changed("quiet")) ? 8 : 7;
    if (is_late && is_changed("skip")) continue;
    pthread_t thread;
    double latest = 0.0;
    if (pthread_create(&thread, NULL, ask_for_time, &latest) == 0) pthread_join(thread, NULL);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Status status;
    memset(&status, 0, sizeof status);
    MPI_Sendrecv(numbers, count, MPI_INT, to, tag, taken, kNumbers, MPI_INT, from, 7,
                 MPI_COMM_WORLD, round % 2 == 0 ? MPI_STATUS_IGNORE : &status);
    sum += bytes_in(&status);
    if (is_late && rank == 1 && is_changed("kill")) raise(SIGKILL);
    for (int i = 0; i < kNumbers; ++i) sum += (unsigned)taken[i];
    if (is_late && is_changed("more")) MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("rank %d: %u, %.9f s\n", rank, sum, MPI_Wtime() - begin);
  char name[32];
  snprintf(name, sizeof name, "out.%d", rank);
  FILE* out = fopen(name, "a");
  if (out == NULL) return 1;
  fprintf(out, "%u\n", sum);
  fclose(out);
  if (!keep_state(rank, sum)) return 1;
  MPI_Finalize();
  return is_changed("status") ? 3 : 0;
}
