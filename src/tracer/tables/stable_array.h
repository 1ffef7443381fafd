// StableArray: an array that grows at its end and never moves what is in it.
//
// Laws: one writer at a time (the owner locks); readers need no lock for elements whose index they
// have from size() or from data that the writer published after them. Elements lie in pieces of
// doubling size, so a place costs five instructions more than in a plain array, and growing copies
// nothing.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace refrain::tracer {

template <class T>
class StableArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  StableArray() = default;
  ~StableArray() { clear(); }
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;

  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  T& operator[](uint32_t index) { return *place(index); }
  const T& operator[](uint32_t index) const { return *place(index); }

  void push_back(const T& value) {
    const uint32_t n = size_.load(std::memory_order_relaxed);
    const uint32_t piece = piece_of(n);
    if (n == first_of(piece))
      pieces_[piece].store(new T[size_t{kFirst} << piece], std::memory_order_release);
    *place(n) = value;
    size_.store(n + 1, std::memory_order_release);
  }
  // Forgets all and frees its memory; no reader may be there.
  void clear() {
    size_.store(0, std::memory_order_relaxed);
    for (auto& piece : pieces_) delete[] piece.exchange(nullptr, std::memory_order_relaxed);
  }
  // Bytes that the next push_back() asks for; 0: none.
  size_t next_growth() const {
    const uint32_t n = size(), piece = piece_of(n);
    return n == first_of(piece) ? (sizeof(T) * kFirst) << piece : 0;
  }

 private:
  static constexpr uint32_t kFirst = 64;  // elements of the first piece; a power of two
  static constexpr int kFirstWidth = std::bit_width(kFirst);
  static constexpr size_t kPieces = 33 - kFirstWidth;

  static uint32_t piece_of(uint32_t index) {
    return static_cast<uint32_t>(std::bit_width(uint64_t{index} + kFirst) - kFirstWidth);
  }
  static uint32_t first_of(uint32_t piece) { return (kFirst << piece) - kFirst; }
  T* place(uint32_t index) const {
    const uint32_t piece = piece_of(index);
    return pieces_[piece].load(std::memory_order_acquire) + (index - first_of(piece));
  }

  std::atomic<T*> pieces_[kPieces] = {};
  std::atomic<uint32_t> size_{0};
};

}  // namespace refrain::tracer
