/* Everything by which a program could see that MPI_COMM_WORLD is not the whole job. Prints the same
 * lines whether there is an analyser in the job or not.
 *
 *   world [end | abort | die] */
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

/* A line is one write(): the C library may write a long one in pieces, and the launcher then mixes
 * the lines of the ranks. */
__attribute__((format(printf, 1, 2))) static void say(const char* format, ...) {
  char line[4096];
  va_list values;
  va_start(values, format);
  const int length = vsnprintf(line, sizeof line, format, values);
  va_end(values);
  if (length < 0 || length >= (int)sizeof line || write(1, line, (size_t)length) != length) exit(9);
}

static const char* name_of(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? "world" : comm == MPI_COMM_SELF ? "self" : "another";
}

static int copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)key;
  say("%d copies of %s, %s\n", rank, name_of(comm), (const char*)extra);
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int gone(MPI_Comm comm, int key, void* value, void* extra) {
  (void)key, (void)value;
  say("%d deletes of %s, %s\n", rank, name_of(comm), (const char*)extra);
  return MPI_SUCCESS;
}

static int with_self(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int n = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  say("%d ends with %d ranks\n", rank, n);
  return MPI_SUCCESS;
}

static void handler(MPI_Comm* comm, int* code, ...) {
  int class = 0;
  MPI_Error_class(*code, &class);
  say("%d error %d on %s\n", rank, class == MPI_ERR_ROOT, name_of(*comm));
}

static void predefined(MPI_Comm comm, const char* what) {
  const int keys[] = {MPI_TAG_UB, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE};
  for (int i = 0; i < 5; ++i) {
    int *value = NULL, flag = 0;
    MPI_Comm_get_attr(comm, keys[i], &value, &flag);
    say("%d %s attribute %d: %d %d\n", rank, what, i, flag, flag ? *value : 0);
  }
}

static void attributes(void) {
  predefined(MPI_COMM_WORLD, "world");
  MPI_Comm dup, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  predefined(dup, "copy");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  int key, n = 0;
  MPI_Comm_size(half, &n);
  say("%d half has %d\n", rank, n);
  MPI_Comm_free(&half);
  MPI_Comm_free(&dup);
  MPI_Comm_create_keyval(copy, gone, &key, "extra");
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, "value");
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  char* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  say("%d attribute %s\n", rank, flag ? value : "none");
  MPI_Comm_free(&dup);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free_keyval(&key);
}

static void names_and_errors(void) {
  char text[MPI_MAX_OBJECT_NAME];
  int length = 0, result = 0;
  MPI_Comm_get_name(MPI_COMM_WORLD, text, &length);
  say("%d name %s %d\n", rank, text, length);
  MPI_Comm self;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
  say("%d identical %d\n", rank, result == MPI_IDENT);
  MPI_Comm_free(&self);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Bcast(NULL, 0, MPI_INT, size, MPI_COMM_WORLD);
  char error[MPI_MAX_ERROR_STRING];
  MPI_Error_string(code, error, &length);
  const int is_whole = length == (int)strlen(error);
  for (char* at = error; *at != '\0'; ++at)
    if (*at == '\n') *at = ' ';
  say("%d error %s, %d\n", rank, error, is_whole);
  MPI_Errhandler mine;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Bcast(NULL, 0, MPI_INT, size, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&mine);
}

static void groups(void) {
  MPI_Group world, self;
  int mine = 0, there = -1, n = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(MPI_COMM_SELF, &self);
  MPI_Group_size(world, &n);
  MPI_Group_translate_ranks(self, 1, &mine, world, &there);
  say("%d group of %d has me as %d\n", rank, n, there);
  MPI_Group_free(&world);
  MPI_Group_free(&self);
  MPI_Comm node, half, bridge;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &n);
  say("%d node of %d\n", rank, n);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &bridge);
  MPI_Comm_remote_size(bridge, &n);
  say("%d other half of %d\n", rank, n);
  MPI_Comm_free(&bridge);
  MPI_Comm_free(&half);
  MPI_Comm_free(&node);
}

static void windows_and_files(const char* path) {
  int cell = -1, sum = 0;
  MPI_Win win;
  MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  say("%d got %d\n", rank, cell);
  MPI_Win_free(&win);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
      MPI_SUCCESS) {
    MPI_File_write_at_all(file, (MPI_Offset)(rank * (int)sizeof rank), &rank, 1, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Offset bytes = 0;
    MPI_File_get_size(file, &bytes);
    say("%d file %d\n", rank, (int)bytes == size * (int)sizeof rank);
    MPI_File_close(&file);
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  say("%d of %d, sum %d, handle %d\n", rank, size, sum,
      MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* end = argc > 1 ? argv[1] : "end";
  const char* file = argc > 2 ? argv[2] : "world.data";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  attributes();
  names_and_errors();
  groups();
  windows_and_files(file);
  for (int i = 0; i < 200; ++i) {
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int out = i, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, to, i, &in, 1, MPI_INT, from, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(end, "abort") == 0 && rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
  if (strcmp(end, "die") == 0 && rank == 1) raise(SIGKILL);
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, with_self, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, gone, &key, "at the end");
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, "value");
  if (strcmp(end, "end") != 0) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
