// Reading .eh_frame: bytes of a loaded library, never beyond the segments that it has mapped.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace refrain::tracer {

// A stretch of readable memory.
struct MappedArea {
  uintptr_t begin = 0, end = 0;
  bool holds(uintptr_t address) const { return address >= begin && address < end; }
};

// From `at` to `end`. What lies behind the end reads as 0, and is_good() is false from then on; so
// it is for all that the format allows and compilers do not use.
class EhBytes {
 public:
  EhBytes() = default;
  EhBytes(uintptr_t at, uintptr_t end) : at_(at), end_(at <= end ? end : at) {}

  bool is_good() const { return good_; }
  bool at_end() const { return !good_ || at_ == end_; }
  uintptr_t at() const { return at_; }
  uintptr_t end() const { return end_; }

  template <class T>
  T fixed() {
    T value{};
    if (!has(sizeof value)) return value;
    std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint8_t byte() { return fixed<uint8_t>(); }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      value |= uint64_t{b & 0x7fu} << shift;
      if ((b & 0x80) == 0) return value;
    }
    good_ = false;
    return 0;
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const uint8_t b = byte();
      value |= uint64_t{b & 0x7fu} << shift;
      shift += 7;
      if ((b & 0x80) != 0) continue;
      if ((b & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
    good_ = false;
    return 0;
  }
  void skip(uint64_t bytes) {
    if (has(bytes)) at_ += bytes;
  }
  // The next `bytes` of it; they are skipped here.
  EhBytes part(uint64_t bytes) {
    const uintptr_t begin = at_;
    skip(bytes);
    if (good_) return {begin, begin + bytes};
    EhBytes none;
    none.good_ = false;
    return none;
  }
  // A string up to its zero; empty when there is none.
  const char* string() {
    const uintptr_t begin = at_;
    while (good_ && byte() != 0) continue;
    return good_ ? reinterpret_cast<const char*>(begin) : "";
  }
  // An address in one of the encodings DW_EH_PE_*: absolute or relative to its own place. `base` is
  // added to it (what DW_EH_PE_datarel is relative to, or 0).
  uintptr_t address(uint8_t encoding, uintptr_t base = 0);

 private:
  bool has(uint64_t bytes) {
    if (good_ && bytes <= end_ - at_) return true;
    good_ = false;
    at_ = end_;
    return false;
  }

  uintptr_t at_ = 0, end_ = 0;
  bool good_ = true;
};

}  // namespace refrain::tracer
