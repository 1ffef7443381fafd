// libzstd, loaded when the first trace is compressed: on rank 0, in MPI_Finalize. Every rank would
// load it otherwise, and look through it for each of the program's symbols. Hidden, so a program
// that has it calls its own; so <zstd.h>, which exports what it declares, is not included.
#include <dlfcn.h>

#include <cstddef>

namespace {

struct Zstd {
  size_t (*bound)(size_t) = nullptr;
  size_t (*compress)(void*, size_t, const void*, size_t, int) = nullptr;
  unsigned (*is_error)(size_t) = nullptr;
  // All of them, or none: libzstd has them from 1.4 on.
  void* (*create)() = nullptr;
  size_t (*free)(void*) = nullptr;
  size_t (*set)(void*, int, int) = nullptr;
  size_t (*compress2)(void*, void*, size_t, const void*, size_t) = nullptr;

  bool is_there() const { return bound != nullptr && compress != nullptr && is_error != nullptr; }
  bool has_contexts() const {
    return is_there() && create != nullptr && free != nullptr && set != nullptr &&
           compress2 != nullptr;
  }
};

Zstd load() {
  Zstd z;
  void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return z;
  z.bound = reinterpret_cast<decltype(z.bound)>(dlsym(library, "ZSTD_compressBound"));
  z.compress = reinterpret_cast<decltype(z.compress)>(dlsym(library, "ZSTD_compress"));
  z.is_error = reinterpret_cast<decltype(z.is_error)>(dlsym(library, "ZSTD_isError"));
  z.create = reinterpret_cast<decltype(z.create)>(dlsym(library, "ZSTD_createCCtx"));
  z.free = reinterpret_cast<decltype(z.free)>(dlsym(library, "ZSTD_freeCCtx"));
  z.set = reinterpret_cast<decltype(z.set)>(dlsym(library, "ZSTD_CCtx_setParameter"));
  z.compress2 = reinterpret_cast<decltype(z.compress2)>(dlsym(library, "ZSTD_compress2"));
  return z;
}

const Zstd& zstd() {
  static const Zstd only = load();
  return only;
}

// Any value that ZSTD_isError() says so of: what is to be compressed stays as it is.
constexpr size_t kError = static_cast<size_t>(-1);

}  // namespace

extern "C" size_t ZSTD_compressBound(size_t bytes) {
  return zstd().is_there() ? zstd().bound(bytes) : bytes;
}

extern "C" size_t ZSTD_compress(void* to, size_t room, const void* from, size_t bytes, int level) {
  return zstd().is_there() ? zstd().compress(to, room, from, bytes, level) : kError;
}

extern "C" unsigned ZSTD_isError(size_t code) {
  return zstd().is_there() ? zstd().is_error(code) : code == kError;
}

// Null where libzstd has no contexts: its callers then do without, and the others are not called.
extern "C" void* ZSTD_createCCtx() { return zstd().has_contexts() ? zstd().create() : nullptr; }

extern "C" size_t ZSTD_freeCCtx(void* context) { return zstd().free(context); }

extern "C" size_t ZSTD_CCtx_setParameter(void* context, int name, int value) {
  return zstd().set(context, name, value);
}

extern "C" size_t ZSTD_compress2(void* context, void* to, size_t room, const void* from,
                                 size_t bytes) {
  return zstd().compress2(context, to, room, from, bytes);
}
