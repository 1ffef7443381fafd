// PodVector: a growing array that reports "no memory" instead of throwing, for code that runs
// inside the recorded program. Elements are trivially copyable and may move when it grows: keep
// indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "base/raw_memory.h"

namespace refrain::grammar {

template <class T>
class PodVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PodVector() = default;
  // Copies are made outside the hot path only; out of memory ends as it does for std::vector.
  PodVector(const PodVector& other) : size_(other.size_), capacity_(other.size_) {
    if (size_ == 0) return;
    data_ = static_cast<T*>(::operator new(size_ * sizeof(T)));
    std::memcpy(static_cast<void*>(data_), other.data_, size_ * sizeof(T));
  }
  PodVector(PodVector&& other) noexcept { swap(other); }
  PodVector& operator=(PodVector other) noexcept {
    swap(other);
    return *this;
  }
  ~PodVector() { ::operator delete(data_); }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  size_t capacity_bytes() const { return capacity_ * sizeof(T); }
  bool empty() const { return size_ == 0; }
  // The analyser takes empty vectors for full ones.
  T& operator[](size_t i) { return data_[i]; }              // NOLINT(clang-analyzer-core*)
  const T& operator[](size_t i) const { return data_[i]; }  // NOLINT(clang-analyzer-core*)

  // False, and nothing changed, when there is no memory.
  bool reserve(size_t capacity) {
    if (capacity <= capacity_) return true;
    if (capacity > PTRDIFF_MAX / sizeof(T)) return false;
    void* const grown = base::raw_regrow(data_, size_ * sizeof(T), capacity * sizeof(T));
    if (grown == nullptr) return false;
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
    return true;
  }
  bool push_back(const T& value) {
    if (size_ == capacity_ && !reserve(next_capacity())) return false;
    data_[size_++] = value;
    return true;
  }
  // `size` elements of zero bytes instead of what was there. False, and nothing changed, when there
  // is no memory.
  bool resize_zeroed(size_t size) {
    if (size > PTRDIFF_MAX / sizeof(T)) return false;
    void* const zeroed = base::raw_zeroed(size * sizeof(T));
    if (zeroed == nullptr) return false;
    ::operator delete(data_);
    data_ = static_cast<T*>(zeroed);
    size_ = capacity_ = size;
    return true;
  }
  size_t next_capacity() const { return capacity_ < 16 ? 16 : 2 * capacity_; }
  T pop_back() { return data_[--size_]; }
  void clear() { size_ = 0; }
  void swap(PodVector& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace refrain::grammar
