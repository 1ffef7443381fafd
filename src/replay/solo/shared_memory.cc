// Memory that ranks share by the system, not by MPI: what others store there is in no log, and
// where another rank makes it, a rank that runs alone does not find it. The program is told so by
// the system; the user is told here what it means.
//
// Defines the C library's functions that ask for such memory, and forwards them. Any thread.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/shm.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "replay/solo/say.h"

namespace refrain::replay::solo {
namespace {

std::atomic<bool> g_is_told{false};

template <class F>
F real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

void tell(const char* what) {
  const int error = errno;
  if (!g_is_told.exchange(true))
    say(std::string("the program asks for ") + what +
        " that is not there: memory that ranks share, but not by MPI, is in no message log");
  errno = error;
}

}  // namespace
}  // namespace refrain::replay::solo

using namespace refrain::replay::solo;  // NOLINT: the rest are C entry points

extern "C" {

__attribute__((visibility("default"))) void* shmat(int id, const void* address, int flags) {
  static auto* const next = real<decltype(&shmat)>("shmat");
  void* const at = next(id, address, flags);
  if (at == reinterpret_cast<void*>(-1) && (errno == EINVAL || errno == EIDRM))
    tell("a System V segment");
  return at;
}

__attribute__((visibility("default"))) int shm_open(const char* name, int flags, mode_t mode) {
  static auto* const next = real<decltype(&shm_open)>("shm_open");
  const int file = next(name, flags, mode);
  if (file < 0 && errno == ENOENT) tell("a shared memory object");
  return file;
}

}  // extern "C"
