// How far the first two cores of this process are from each other: ns that a word takes from a
// thread on one to a thread on the other, the median of 31 rounds. Virtual machines have cores that
// share a cache now and lie in different sockets a minute later.
//
// usage: core_distance
// Prints the number; 0 where there is one core only.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kRounds = 31, kPings = 4000 };

static _Alignas(64) atomic_int g_word;
static int g_cores[2];

static void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

// Waits for each odd number, and answers with the next even one.
static void* answer(void* unused) {
  (void)unused;
  stay_on(g_cores[1]);
  for (int i = 0; i < kRounds * kPings; ++i) {
    while (atomic_load_explicit(&g_word, memory_order_acquire) != 2 * i + 1) {
    }
    atomic_store_explicit(&g_word, 2 * i + 2, memory_order_release);
  }
  return NULL;
}

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int less(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(void) {
  cpu_set_t allowed;
  int count = 0;
  (void)sched_getaffinity(0, sizeof allowed, &allowed);
  for (int core = 0; core < CPU_SETSIZE && count < 2; ++core)
    if (CPU_ISSET(core, &allowed)) g_cores[count++] = core;
  if (count < 2) {
    puts("0");
    return 0;
  }
  pthread_t other;
  if (pthread_create(&other, NULL, answer, NULL) != 0) return 1;
  stay_on(g_cores[0]);
  double ns[kRounds];
  for (int round = 0, i = 0; round < kRounds; ++round) {
    const double begin = now_ns();
    for (int ping = 0; ping < kPings; ++ping, ++i) {
      atomic_store_explicit(&g_word, 2 * i + 1, memory_order_release);
      while (atomic_load_explicit(&g_word, memory_order_acquire) != 2 * i + 2) {
      }
    }
    ns[round] = (now_ns() - begin) / (2.0 * kPings);
  }
  pthread_join(other, NULL);
  qsort(ns, kRounds, sizeof *ns, less);
  printf("%.1f\n", ns[kRounds / 2]);
  return 0;
}
