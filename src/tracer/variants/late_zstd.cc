// libzstd, loaded when the first trace is compressed: on rank 0, in MPI_Finalize. Every rank would
// load it otherwise, and look through it for each of the program's symbols. Hidden, so a program
// that has it calls its own.
#include <dlfcn.h>

#include <cstddef>

namespace {

struct Zstd {
  size_t (*bound)(size_t) = nullptr;
  size_t (*compress)(void*, size_t, const void*, size_t, int) = nullptr;
  unsigned (*is_error)(size_t) = nullptr;

  bool is_there() const { return bound != nullptr && compress != nullptr && is_error != nullptr; }
};

Zstd load() {
  Zstd z;
  void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return z;
  z.bound = reinterpret_cast<decltype(z.bound)>(dlsym(library, "ZSTD_compressBound"));
  z.compress = reinterpret_cast<decltype(z.compress)>(dlsym(library, "ZSTD_compress"));
  z.is_error = reinterpret_cast<decltype(z.is_error)>(dlsym(library, "ZSTD_isError"));
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
