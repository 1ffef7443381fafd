// Messages of every size between all ranks, asked for in ways and orders that differ from run to
// run: what a recording with a filter by size keeps is what is logged, and both ends of it.
//
//   control_size_mix MIN MAX SEED ROUNDS
//
// All ranks draw the same numbers, so each knows what the others do.
#include <stdint.h>

#include "kept.h"

enum { kRoom = 70000, kMost = 6 };
static int rank, size, tag;
static uint64_t state;
static char out[kMost][kRoom], in[kMost][kRoom];

static unsigned draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

static int draw_bytes(void) {
  static const int kSteps[] = {4, 40, 400, 4000, 60000};
  return (int)draw((unsigned)kSteps[draw(5)]);
}

struct Receive {
  MPI_Request request;
  int bytes, is_kept;
  char name[40];
};

// How a call that names n receives stands in the log: null ones are over. Those that are left out
// have a name, too, which nobody frees.
static int any_kept(const struct Receive* r, const MPI_Request* now, int n) {
  for (int i = 0; i < n; ++i)
    if (now[i] != MPI_REQUEST_NULL && r[i].is_kept) return 1;
  return 0;
}

static void names_of(char* text, const struct Receive* r, const MPI_Request* now, int n) {
  char* at = text;
  *at++ = '[';
  for (int i = 0; i < n; ++i)
    at += sprintf(at, "%s%s", i ? "," : "",
                  now[i] == MPI_REQUEST_NULL ? "\"MPI_REQUEST_NULL\""
                  : r[i].is_kept             ? r[i].name
                                             : "\"?\"");
  strcpy(at, "]");
}

static void log_many(const char* call, const struct Receive* r, const MPI_Request* before,
                     const MPI_Request* now, int n) {
  char names[400], over[400] = "[";
  names_of(names, r, before, n);
  for (int i = 0; i < n; ++i)
    if (before[i] != MPI_REQUEST_NULL && now[i] == MPI_REQUEST_NULL && r[i].is_kept)
      sprintf(over + strlen(over), "%s%s", over[1] ? "," : "", r[i].name);
  strcat(over, "]");
  WAS_KEPT(any_kept(r, before, n), call, "array_of_requests:j =freed:j", names, over);
}

// Until all are complete, by calls of one kind.
static void complete(int how, const struct Receive* r, MPI_Request* now, int n) {
  static const char* const kCalls[] = {"MPI_Waitall",  "MPI_Waitany", "MPI_Waitsome",
                                       "MPI_Testsome", "MPI_Testany", "MPI_Testall"};
  MPI_Request before[kMost];
  MPI_Status st[kMost];
  int index, flag, count, indices[kMost];
  for (int left = 1; left;) {
    memcpy(before, now, sizeof before);
    switch (how) {
      case 0: MPI_Waitall(n, now, st); break;
      case 1: MPI_Waitany(n, now, &index, st); break;
      case 2: MPI_Waitsome(n, now, &count, indices, st); break;
      case 3: MPI_Testsome(n, now, &count, indices, st); break;
      case 4: MPI_Testany(n, now, &index, &flag, MPI_STATUS_IGNORE); break;
      default: MPI_Testall(n, now, &flag, MPI_STATUSES_IGNORE); break;
    }
    log_many(kCalls[how], r, before, now, n);
    left = 0;
    for (int i = 0; i < n; ++i) left += now[i] != MPI_REQUEST_NULL;
  }
}

static void round_of(void) {
  const int n = 1 + (int)draw(kMost), shift = (int)draw((unsigned)size);
  const int to = (rank + shift) % size, from = (rank + size - shift) % size;
  const int how = (int)draw(6), early = (int)draw(2);
  struct Receive r[kMost];
  MPI_Request now[kMost], sent[kMost];
  int bytes[kMost], tags[kMost], wild[kMost];
  for (int i = 0; i < n; ++i) {
    const int base = draw_bytes(), step = (int)draw(50);  // each rank sends another amount
    bytes[i] = (base + step * rank) % kRoom;
    r[i].bytes = (base + step * from) % kRoom;
    r[i].is_kept = kept(r[i].bytes);
    wild[i] = draw(4) == 0 ? MPI_ANY_SOURCE : from;
    tags[i] = ++tag;
    snprintf(r[i].name, sizeof r[i].name, "\"@r%d\"", i);
  }
  for (int step = 0; step < 2; ++step)
    for (int i = 0; i < n; ++i) {
      if (step == early)
        KEPT(r[i].is_kept, MPI_Irecv(in[i], kRoom, MPI_BYTE, wild[i], tags[i], W, &now[i]),
             "count:i tag:t request:j", kRoom, tags[i], r[i].name);
      else
        KEPT(kept(bytes[i]), MPI_Isend(out[i], bytes[i], MPI_BYTE, to, tags[i], W, &sent[i]),
             "count:i dest:r tag:t", bytes[i], to, tags[i]);
    }
  complete(how, r, now, n);
  for (int i = 0; i < n; ++i) {
    MPI_Wait(&sent[i], MPI_STATUS_IGNORE);
    WAS_KEPT(kept(bytes[i]), "MPI_Wait", "");
  }
}

int main(int argc, char** argv) {
  L_Init_bounds(argc, argv, 5, &rank, &size);
  state = (uint64_t)atol(argv[3]);
  for (int i = atoi(argv[4]); i > 0; --i) round_of();
  MPI_Finalize();
  DID("MPI_Finalize", "");
  const char* count = getenv("REFRAIN_TEST_LOG");
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.gone", count ? count : "/dev/null", rank);
  FILE* f = count ? fopen(path, "w") : NULL;
  if (f) fprintf(f, "%ld\n", gone), fclose(f);
  printf("rank %d of %d done\n", rank, size);
  return 0;
}
