#include "tracer/unloads.h"

#include <dlfcn.h>

#include "tracer/current.h"

namespace refrain::tracer {

std::atomic<uint32_t> g_unloads{0};

namespace {

void note_unload() {
  g_unloads.fetch_add(1, std::memory_order_relaxed);
  forget_memos();
}

}  // namespace

}  // namespace refrain::tracer

// The program's call passes through, as all others do. Destructors of the library run inside and
// may call MPI: from where they are the library is still there, so it is told before and
// afterwards.
extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  using Close = int (*)(void*);
  static const auto real = reinterpret_cast<Close>(dlsym(RTLD_NEXT, "dlclose"));
  if (real == nullptr) return -1;
  refrain::tracer::note_unload();
  const int rc = real(handle);
  refrain::tracer::note_unload();
  return rc;
}
