// Sees libraries being unloaded.
#include "tracer/code/unloads.h"

#include <dlfcn.h>

#include "tracer/code/late_events.h"
#include "tracer/state/current.h"

namespace refrain::tracer {

namespace {

void note_unload() {
  g_unloads.fetch_add(1, std::memory_order_relaxed);
  forget_memos();
}

}  // namespace

}  // namespace refrain::tracer

// The program's calls pass through, as all others do. Destructors of the library run inside and
// may call MPI: from where they are the library is still there, so it is told before and
// afterwards.
extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) {
  using Close = int (*)(void*);
  static const auto real = reinterpret_cast<Close>(dlsym(RTLD_NEXT, "dlclose"));
  if (real == nullptr) return -1;
  refrain::tracer::note_unload();
  const bool has_late_events = refrain::tracer::has_late_events(handle);
  const int rc = real(handle);
  refrain::tracer::note_unload();
  if (has_late_events) refrain::tracer::wait_for_late_events();
  return rc;
}

// A library that is unloaded calls this last but for code of its own that hardly any has. It is
// seen also where something else has put itself between the program and dlclose(), as UCX does.
extern "C" __attribute__((visibility("default"))) void __cxa_finalize(void* library) {
  using Finalize = void (*)(void*);
  static const auto real = reinterpret_cast<Finalize>(dlsym(RTLD_NEXT, "__cxa_finalize"));
  refrain::tracer::note_unload();
  if (real != nullptr) real(library);
  refrain::tracer::note_unload();
}
