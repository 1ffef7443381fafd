// Memory directly from the kernel, for code that runs inside malloc.
//
// Laws: never calls malloc, never a function that a memory library may have patched (mmap is one:
// UCX does), leaves errno as it was. Zeroed pages; what is never touched takes no memory.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace refrain::tracer {

// nullptr when the kernel has none.
inline void* raw_pages(size_t bytes) {
  const int before = errno;
  const long p = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  errno = before;
  return p == -1 ? nullptr : reinterpret_cast<void*>(p);
}

// An array that is never given back unless free() says so. Elements are zero when new.
template <class T>
class RawArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  // False: no memory, and nothing has changed.
  bool resize(size_t n) {
    if (n > room_ && !grow(n)) return false;
    for (size_t i = n; i < size_; ++i) data_[i] = T{};
    size_ = n;
    return true;
  }
  void free() {
    const int before = errno;
    if (data_ != nullptr) syscall(SYS_munmap, data_, room_ * sizeof(T));
    errno = before;
    data_ = nullptr;
    size_ = room_ = 0;
  }

 private:
  bool grow(size_t n) {
    constexpr size_t kFirst = 65536 / sizeof(T);
    size_t room = room_ == 0 ? kFirst : room_ * 2;
    if (room < n) room = n;
    void* p = nullptr;
    if (data_ == nullptr) {
      p = raw_pages(room * sizeof(T));
    } else {
      const int before = errno;
      const long moved =
          syscall(SYS_mremap, data_, room_ * sizeof(T), room * sizeof(T), MREMAP_MAYMOVE);
      errno = before;
      p = moved == -1 ? nullptr : reinterpret_cast<void*>(moved);
    }
    if (p == nullptr) return false;
    data_ = static_cast<T*>(p);
    room_ = room;
    return true;
  }

  T* data_ = nullptr;
  size_t size_ = 0, room_ = 0;
};

}  // namespace refrain::tracer
