// librefrain-posix.so: sees the program's calls of POSIX and stdio input and output functions.
// Preloaded by `refrain record --posix on`.
//
//   program --write--> here --> the write that the program would have had
//                       |
//                   PosixCounter of `write`: calls, errors, bytes, ticks
//
// Laws: posix_library.h.
#include "tracer/posix/posix_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace refrain::tracer {

constinit std::atomic<const PosixLink*> g_posix_link{nullptr};

namespace {

constinit format::PosixCounter g_own[format::kPosixFunctions] = {};
constinit std::atomic<format::PosixCounter*> g_area{g_own};

// The constructor has looked for everything: what is not there now never will be.
constinit std::atomic<bool> g_is_found{false};
__attribute__((tls_model("initial-exec"))) constinit thread_local bool t_finding = false;

// While dlsym() is under way, an allocator may open and read files: by the system's calls.
int system_open(const char* path, int flags, int mode) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int system_close(int fd) { return static_cast<int>(syscall(SYS_close, fd)); }
ssize_t system_read(int fd, void* to, size_t n) { return syscall(SYS_read, fd, to, n); }
ssize_t system_write(int fd, const void* from, size_t n) { return syscall(SYS_write, fd, from, n); }

void* by_system(const char* name) {
  const auto is = [name](const char* word) { return std::strcmp(name, word) == 0; };
  if (is("open") || is("open64")) return reinterpret_cast<void*>(system_open);
  if (is("close")) return reinterpret_cast<void*>(system_close);
  if (is("read")) return reinterpret_cast<void*>(system_read);
  if (is("write")) return reinterpret_cast<void*>(system_write);
  return nullptr;
}

void add(uint64_t& to, uint64_t n) {
  if (n != 0) std::atomic_ref<uint64_t>(to).fetch_add(n, std::memory_order_relaxed);
}

template <class IsBetter>
void replace(uint64_t& at, uint64_t value, IsBetter is_better) {
  const std::atomic_ref<uint64_t> place(at);
  uint64_t known = place.load(std::memory_order_relaxed);
  while (is_better(known) &&
         !place.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

void add_least(format::PosixCounter& to, uint64_t least) {
  if (least != 0) replace(to.least, least, [=](uint64_t k) { return k == 0 || k > least; });
}
void add_greatest(format::PosixCounter& to, uint64_t greatest) {
  replace(to.greatest, greatest, [=](uint64_t k) { return k < greatest; });
}

}  // namespace

void* find_next(NextFunction& next) {
  if (g_is_found.load(std::memory_order_acquire)) return nullptr;
  if (t_finding) return by_system(next.name);
  const int before = errno;
  t_finding = true;
  void* const address = dlsym(RTLD_NEXT, next.name);
  t_finding = false;
  next.address.store(address, std::memory_order_relaxed);
  errno = before;
  return address;
}

void say_not_there() { errno = ENOSYS; }

void PosixCall::count(PosixFunction function, uint64_t bytes, bool is_error) const {
  format::PosixCounter& c = g_area.load(std::memory_order_acquire)[static_cast<size_t>(function)];
  add(c.bytes, bytes);
  add(c.errors, is_error ? 1 : 0);
  add(c.ticks, ticks_);
  add_least(c, ticks_ + 1);
  add_greatest(c, ticks_);
  // Last: a process that dies here has sums of a call too many, and none too few.
  add(c.calls, 1);
}

}  // namespace refrain::tracer

using namespace refrain::tracer;
using refrain::format::PosixCounter;

extern "C" {
// The linker's, around all of the section.
extern NextFunction __start_refrain_next[] __attribute__((visibility("hidden")));
extern NextFunction __stop_refrain_next[] __attribute__((visibility("hidden")));
}

namespace {

// The child of a fork is no rank, and its counters may be those of its parent's file.
void in_child() {
  g_posix_link.store(nullptr, std::memory_order_relaxed);
  g_area.store(g_own, std::memory_order_relaxed);
}

__attribute__((constructor)) void find_all() {
  for (NextFunction* next = __start_refrain_next; next != __stop_refrain_next; ++next)
    if (next->address.load(std::memory_order_relaxed) == nullptr) find_next(*next);
  g_is_found.store(true, std::memory_order_release);
  // What a function that is not there left is none of the program's errors.
  (void)dlerror();
  pthread_atfork(nullptr, nullptr, in_child);
}

void begin(const PosixLink* link) { g_posix_link.store(link, std::memory_order_release); }
void stop() { g_posix_link.store(nullptr, std::memory_order_release); }
const PosixCounter* area() { return g_area.load(std::memory_order_acquire); }

void use(PosixCounter* to) {
  const PosixCounter* const from = g_area.exchange(to, std::memory_order_acq_rel);
  for (size_t f = 0; f < refrain::format::kPosixFunctions; ++f) {
    add(to[f].bytes, from[f].bytes);
    add(to[f].errors, from[f].errors);
    add(to[f].ticks, from[f].ticks);
    add_least(to[f], from[f].least);
    add_greatest(to[f], from[f].greatest);
    add(to[f].calls, from[f].calls);
  }
}

}  // namespace

REFRAIN_EXPORT const PosixTable refrain_posix_table;
const PosixTable refrain_posix_table = {PosixTable::kVersion, begin, use, stop, area};
