// Calls of MPI_Comm_rank out of libraries of which each is unloaded before the next one is loaded,
// in its place. Prints what call_paths.c prints; says on stderr when no library came to where
// another one was. Every second pair is closed by the C library's own dlclose(), as where something
// puts itself between the program and whoever listens to it.
//
//   unload DEPTH FIRST SECOND      two libraries made of unload_part.c
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRounds = 6, kCalls = 3, kFrames = 5, kLeafLine = 15, kMiddleLine = 22, kCallLine = 27 };

#define APART __attribute__((noinline, noclone))

static int use_line, main_line;
static void* places[2];

static int close_directly(void* library) {
  void* const libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  void* const found = libc != NULL ? dlsym(libc, "dlclose") : NULL;
  int (*close_it)(void*) = dlclose;
  if (found != NULL) memcpy(&close_it, &found, sizeof close_it);
  return close_it(library);
}

/* Loads, calls, unloads. */
APART static void use(const char* file, int which, int is_direct, int* sum) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  void* const found = dlsym(library, "part_call");
  void (*part)(int*);
  memcpy(&part, &found, sizeof part);
  places[which] = found;
  use_line = __LINE__ + 1;
  for (int i = 0; i < kCalls; ++i) part(sum);
  if (is_direct)
    close_directly(library);
  else
    dlclose(library);
}

static void print(int depth, const char* which) {
  char frames[kFrames][64];
  snprintf(frames[0], sizeof frames[0], "main unload.c:%d", main_line);
  snprintf(frames[1], sizeof frames[1], "use unload.c:%d", use_line);
  snprintf(frames[2], sizeof frames[2], "part_call unload_part.c:%d", kCallLine);
  snprintf(frames[3], sizeof frames[3], "part_middle_%s unload_part.c:%d", which, kMiddleLine);
  snprintf(frames[4], sizeof frames[4], "part_leaf_%s unload_part.c:%d", which, kLeafLine);
  const int first = depth < kFrames ? kFrames - depth : 0;
  for (int i = first; i < kFrames; ++i) printf("%s%s", i == first ? "" : " > ", frames[i]);
  printf(",%d\n", kRounds * kCalls / 2);
}

int main(int argc, char** argv) {
  int sum = 0;
  MPI_Init(&argc, &argv);
  if (argc != 4) MPI_Abort(MPI_COMM_WORLD, 2);
  main_line = __LINE__ + 1;
  for (int i = 0; i < kRounds; ++i) use(argv[2 + i % 2], i % 2, i / 2 % 2, &sum);
  print(atoi(argv[1]), "a");
  print(atoi(argv[1]), "b");
  if (places[0] != places[1]) fprintf(stderr, "unload: the libraries were in different places\n");
  MPI_Finalize();
  return 0;
}
