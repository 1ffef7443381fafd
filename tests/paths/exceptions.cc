// Calls from places that exceptions lead to. Those of MPI_Comm_rank are counted by path, like in
// call_paths.c; those of MPI_Comm_size come from where a path has no name in the source, and are
// there to be unwound: destructors that an exception runs, callbacks of the C library, a handler of
// a signal, a stack of its own, another thread.
//
//   exceptions DEPTH      prints "outermost > ... > innermost COUNT" lines
#include <mpi.h>
#include <pthread.h>
#include <ucontext.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Frame {
  const char* name;
  int line;
};
std::vector<Frame> frames;
std::map<std::string, long> counts;
size_t depth_kept = 8;
int seen;

void count() {
  std::string text;
  const size_t first = frames.size() > depth_kept ? frames.size() - depth_kept : 0;
  for (size_t i = first; i < frames.size(); ++i)
    text += (i == first ? "" : " > ") + std::string(frames[i].name) +
            " exceptions.cc:" + std::to_string(frames[i].line);
  ++counts[text];
}

// The names follow an exception that leaves functions.
struct Keeper {
  size_t size = frames.size();
  void back() const { frames.resize(size); }
};

}  // namespace

#define APART __attribute__((noinline, noclone))
#define AT(call) (frames.push_back({__func__, __LINE__}), (void)(call), frames.pop_back())
#define RANK() AT((count(), MPI_Comm_rank(MPI_COMM_WORLD, &seen)))

extern "C" {

APART void unnamed(int n) {
  for (int i = 0; i <= n % 2; ++i) MPI_Comm_size(MPI_COMM_WORLD, &seen);
  __asm__ volatile("" ::: "memory");
}

struct Guard {
  int n;
  APART ~Guard() { unnamed(n); }
};

APART void at_end(void) {
  RANK();
  __asm__ volatile("" ::: "memory");
}

APART void thrower(int n) {
  const Guard guard{n};
  RANK();
  if (n % 3 == 0) throw std::runtime_error("three");
  if (n % 3 == 1) throw n;
  RANK();
}

APART void catcher(int n) {
  const Keeper keeper;
  try {
    AT(thrower(n));
  } catch (const std::exception&) {
    keeper.back();
    AT(at_end());
  } catch (int) {
    keeper.back();
    RANK();
    AT(at_end());
  }
  __asm__ volatile("" ::: "memory");
}

APART void passes(int levels, int n) {
  const Guard guard{levels};
  volatile char room[100];
  room[levels] = 1;
  if (levels == 0)
    AT(thrower(n));
  else
    AT(passes(levels - 1, n));
  room[0] = room[levels];
}

APART void from_far(int n) {
  const Keeper keeper;
  try {
    AT(passes(n % 7, n));
  } catch (...) {
    keeper.back();
    try {
      AT(catcher(n + 1));
      throw;
    } catch (...) {
      keeper.back();
      RANK();
    }
  }
  __asm__ volatile("" ::: "memory");
}

static int by_value(const void* a, const void* b) {
  unnamed(*static_cast<const int*>(a));
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

static void handler(int) { unnamed(1); }

static ucontext_t main_context, other_context;
static void on_other_stack(void) {
  unnamed(1);
  swapcontext(&other_context, &main_context);
  unnamed(0);
}

static void* in_thread(void*) {
  for (int i = 0; i < 5; ++i) unnamed(i);
  return nullptr;
}

}  // extern "C"

static void unnamed_places(int n) {
  int values[6] = {n, 3, n + 7, 1, 9, 2};
  qsort(values, 6, sizeof *values, by_value);
  raise(SIGUSR1);
  static char stack[1 << 16];
  getcontext(&other_context);
  other_context.uc_stack.ss_sp = stack;
  other_context.uc_stack.ss_size = sizeof stack;
  other_context.uc_link = &main_context;
  makecontext(&other_context, on_other_stack, 0);
  swapcontext(&main_context, &other_context);
  unnamed(n);
  swapcontext(&main_context, &other_context);
}

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc > 1) depth_kept = static_cast<size_t>(std::atoi(argv[1]));
  std::signal(SIGUSR1, handler);
  for (int i = 0; i < 40; ++i) {
    AT(catcher(i));
    AT(from_far(i));
    unnamed_places(i);
  }
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_t thread;
    pthread_create(&thread, nullptr, in_thread, nullptr);
    for (int i = 0; i < 20; ++i) unnamed(i);
    pthread_join(thread, nullptr);
  }
  for (const auto& [path, n] : counts) std::printf("%s,%ld\n", path.c_str(), n);
  MPI_Finalize();
  return 0;
}
