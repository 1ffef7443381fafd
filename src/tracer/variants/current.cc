// Ranks are processes of the system, and their threads are the system's.
#include "tracer/state/current.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "tracer/startup/start_process.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

__thread Location* g_location = nullptr;

namespace {

std::atomic<Process*> g_process{nullptr};

// A forked child is not a rank: its MPI state is a copy, and so is the record.
void stop_in_child() { set_slow_path_reason(slow_path_reasons::kNotRecording, true); }

void thread_ends(void* location) { end_thread(*static_cast<Location*>(location)); }

// Tells us when a thread that has called MPI ends.
void watch_end_of_thread(Location* location) {
  static const struct Key {
    Key() : is_there(pthread_key_create(&key, thread_ends) == 0) {}
    pthread_key_t key{};
    bool is_there;
  } at_end;
  if (at_end.is_there) pthread_setspecific(at_end.key, location);
}

}  // namespace

Process& process() {
  // Never destroyed: MPI calls may come from exit handlers.
  static Process* const p = [] {
    auto* made = new Process;
    start_process(*made);
    g_process.store(made);
    pthread_atfork(nullptr, nullptr, stop_in_child);
    return made;
  }();
  return *p;
}

void forget_memos() {
  if (Process* const p = g_process.load(); p != nullptr) p->handle_changes.fetch_add(1);
}

Location* find_location() {
  g_location = make_location();
  watch_end_of_thread(g_location);
  return has_slow_path_reason(slow_path_reasons::kNotRecording) ? nullptr : g_location;
}

namespace {

// Of the main thread. Its bounds are in no attribute: pthread_getattr_np() looks for them in a list
// of all that is mapped, for a quarter of a millisecond. Linux puts the name of the file that it
// runs, and a null pointer, at the very end of the stack; and leaves 128 MiB free before it, or the
// limit if that is more: stacks of other threads are further away.
StackBounds main_stack() {
  constexpr rlim_t kFree = rlim_t{128} << 20;
  StackBounds bounds;
  const uintptr_t name = getauxval(AT_EXECFN);
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  if (name == 0 || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > kFree) return bounds;
  const uintptr_t end = name + std::strlen(reinterpret_cast<const char*>(name)) + 1 + sizeof(void*);
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (end % page != 0 || here >= end || end - here > limit.rlim_cur) return bounds;
  bounds.begin = end - limit.rlim_cur;
  bounds.end = end;
  return bounds;
}

}  // namespace

StackBounds StackBounds::of_this_thread() {
  StackBounds bounds = main_stack();
  if (bounds.end != 0) return bounds;
  pthread_attr_t attr;
  if (pthread_getattr_np(pthread_self(), &attr) != 0) return bounds;
  void* base = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attr, &base, &size) == 0) {
    bounds.begin = reinterpret_cast<uintptr_t>(base);
    bounds.end = bounds.begin + size;
  }
  pthread_attr_destroy(&attr);
  return bounds;
}

}  // namespace refrain::tracer
