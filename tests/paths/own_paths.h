// A program that knows the paths of its own calls of MPI_Comm_rank, and counts the calls of each.
//
// AT(call) stands around every call that is to be on a path, count_path() in front of MPI_Comm_rank
// inside of one: AT((count_path("a.c", 8), MPI_Comm_rank(...))). print_paths() prints lines
// "outermost > ... > innermost,COUNT", which call_paths.py compares with what was recorded.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMaxFrames = 64, kMaxPaths = 20000, kText = 1024 };

static struct {
  const char* names[kMaxFrames];
  int lines[kMaxFrames], frames;
} own_stack;

static struct {
  char (*texts)[kText];
  long counts[kMaxPaths];
  int count;
} own_paths;

// Its code is of its own, whatever the compiler would rather do.
#define APART __attribute__((noinline, noclone))
#define AT(call)                                                                                 \
  (own_stack.names[own_stack.frames] = __func__, own_stack.lines[own_stack.frames++] = __LINE__, \
   (call), --own_stack.frames)

// The path as the recorder should name it: the innermost `depth` sites, all in `file`.
static void count_path(const char* file, int depth) {
  if (own_paths.texts == NULL) own_paths.texts = calloc(kMaxPaths, sizeof *own_paths.texts);
  char text[kText] = "";
  size_t at = 0;
  const int first = own_stack.frames > depth ? own_stack.frames - depth : 0;
  for (int i = first; i < own_stack.frames; ++i)
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s:%d", i == first ? "" : " > ",
                           own_stack.names[i], file, own_stack.lines[i]);
  int p = 0;
  while (p < own_paths.count && strcmp(own_paths.texts[p], text) != 0) ++p;
  if (p == own_paths.count) strcpy(own_paths.texts[own_paths.count++], text);
  ++own_paths.counts[p];
}

static void print_paths(void) {
  for (int p = 0; p < own_paths.count; ++p)
    printf("%s,%ld\n", own_paths.texts[p], own_paths.counts[p]);
  free(own_paths.texts);
}
