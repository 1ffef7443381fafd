// Not linked with MPI: opens the library at run time and asks for each function by name.
//
//   late_mpi global    the functions as everybody sees them: the recorder's come first
//   late_mpi handle    the functions of the opened library itself: nobody can stand before those
//   late_mpi mixed     all but MPI_Isend and MPI_Get_processor_name as everybody sees them
//   late_mpi end       all but MPI_Finalize
//
// Logs by its own hand: log.c would bring MPI along.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

#ifdef OPEN_MPI
#define WORLD ((MPI_Comm)address_of("ompi_mpi_comm_world"))
#define INT ((MPI_Datatype)address_of("ompi_mpi_int"))
#else
#define WORLD MPI_COMM_WORLD
#define INT MPI_INT
#endif
// The function of that name, as `from` has it.
#define FROM(from, name) ((__typeof__(&name))find(from, #name))
#define CALL(name) FROM(everybody, name)
#define UNSEEN(name) FROM(some, name)

static void* library;
static void *everybody, *some;  // handles to ask
static FILE* file;
static int seen;  // what `some` has is logged as well

static void* find(void* from, const char* name) {
  void* const found = dlsym(from, name);
  if (found == NULL) fprintf(stderr, "no %s\n", name);
  EXPECT(found != NULL);
  return found;
}

#ifdef OPEN_MPI
static void* address_of(const char* name) { return find(library, name); }
#endif

static void open_log(void) {
  const char* base = getenv("REFRAIN_TEST_LOG");
  const char* rank = getenv("PMI_RANK");
  char path[4096];
  if (rank == NULL) rank = getenv("OMPI_COMM_WORLD_RANK");
  if (base == NULL) return;
  snprintf(path, sizeof path, "%s.%s", base, rank ? rank : "0");
  EXPECT((file = fopen(path, "w")) != NULL);
}

static void did(int line, const char* call, const char* args) {
  if (file == NULL) return;
  fprintf(file, "{\"call\":\"%s\",\"args\":{%s},\"line\":%d}\n", call, args, line);
}

static void exchange(int rank, int size, int tag) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int in = -1;
  MPI_Request received, sent;
  char args[128];
  snprintf(args, sizeof args, "\"count\":1,\"source\":%d,\"tag\":%d", from, tag);
  CALL(MPI_Irecv)(&in, 1, INT, from, tag, WORLD, &received), did(__LINE__, "MPI_Irecv", args);
  snprintf(args, sizeof args, "\"count\":1,\"dest\":%d,\"tag\":%d", to, tag);
  UNSEEN(MPI_Isend)(&rank, 1, INT, to, tag, WORLD, &sent);
  if (seen) did(__LINE__ - 1, "MPI_Isend", args);
  CALL(MPI_Wait)(&received, MPI_STATUS_IGNORE), did(__LINE__, "MPI_Wait", "");
  CALL(MPI_Wait)(&sent, MPI_STATUS_IGNORE), did(__LINE__, "MPI_Wait", "");
  EXPECT(in == from);
}

int main(int argc, char** argv) {
  int rank, size, length;
  char name[MPI_MAX_PROCESSOR_NAME];
  EXPECT(argc == 2);
  if (getenv("REFRAIN_OUTPUT") == NULL) EXPECT(dlsym(RTLD_DEFAULT, "MPI_Init") == NULL);
  EXPECT((library = dlopen(MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL)) != NULL);
  everybody = strcmp(argv[1], "handle") == 0 ? library : RTLD_DEFAULT;
  some = strcmp(argv[1], "mixed") == 0 ? library : everybody;
  seen = everybody == some;
  open_log();
  CALL(MPI_Init)(&argc, &argv), did(__LINE__, "MPI_Init", "\"argc\":2");
  CALL(MPI_Comm_rank)(WORLD, &rank), did(__LINE__, "MPI_Comm_rank", "\"comm\":\"MPI_COMM_WORLD\"");
  CALL(MPI_Comm_size)(WORLD, &size), did(__LINE__, "MPI_Comm_size", "\"comm\":\"MPI_COMM_WORLD\"");
  for (int i = 0; i < 10; ++i) exchange(rank, size, i % 3);
  UNSEEN(MPI_Get_processor_name)(name, &length);
  if (seen) did(__LINE__ - 1, "MPI_Get_processor_name", "");
  CALL(MPI_Barrier)(WORLD), did(__LINE__, "MPI_Barrier", "\"comm\":\"MPI_COMM_WORLD\"");
  if (strcmp(argv[1], "end") == 0)
    FROM(library, MPI_Finalize)();
  else
    CALL(MPI_Finalize)(), did(__LINE__, "MPI_Finalize", "");
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
