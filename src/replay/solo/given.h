// What the program passed to a call: numbers, handles and arrays, whatever their widths.
//
// A view of the words of an entry point (entry.h); lives as long as the call. No checks: positions
// are those of the call table, and arrays are as long as the trace says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mpi/call_table.h"
#include "replay/solo/entry.h"

namespace refrain::replay::solo {

class Given {
 public:
  Given(const Entry& entry, uint64_t* words) : entry_(entry), words_(words) {}

  size_t size() const { return entry_.params; }
  const uint8_t* widths() const { return entry_.widths; }
  bool is_pointer(size_t i) const { return entry_.widths[i] != 0; }
  size_t width(size_t i) const { return entry_.widths[i]; }
  uint64_t word(size_t i) const { return words_[i]; }
  template <class T = void>
  T* address(size_t i) const {
    return reinterpret_cast<T*>(words_[i]);
  }

  // Element k of an array; of a single number, or one behind a pointer: k = 0.
  int64_t number(size_t i, size_t k = 0) const {
    if (!is_pointer(i)) return static_cast<int64_t>(words_[i]);
    const std::byte* const at = address<std::byte>(i) + k * width(i);
    if (width(i) == sizeof(int32_t)) return read<int32_t>(at);
    return width(i) == sizeof(int64_t) ? read<int64_t>(at) : 0;
  }
  uint64_t key(size_t i, size_t k = 0) const {
    if (!is_pointer(i)) return words_[i];
    const std::byte* const at = address<std::byte>(i) + k * width(i);
    return width(i) == sizeof(uint32_t) ? read<uint32_t>(at) : read<uint64_t>(at);
  }
  // Writes behind a pointer; null pointers are left alone.
  void put(size_t i, size_t k, uint64_t value) const {
    if (words_[i] == 0 || !is_pointer(i)) return;
    std::byte* const at = address<std::byte>(i) + k * width(i);
    std::memcpy(at, &value, width(i) < sizeof(value) ? width(i) : sizeof(value));
  }

 private:
  template <class T>
  static T read(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  const Entry& entry_;
  uint64_t* words_;
};

}  // namespace refrain::replay::solo
