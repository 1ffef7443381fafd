// What the fuzz targets share. Each target defines LLVMFuzzerTestOneInput(); it is linked either
// with libFuzzer or with replay.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace refrain::fuzz {

// What must hold whatever the input is.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

inline std::string_view view_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Takes an input apart; gives zeros at its end.
class Input {
 public:
  explicit Input(std::string_view bytes) : left_(bytes) {}
  bool at_end() const { return left_.empty(); }
  uint8_t u8() {
    if (left_.empty()) return 0;
    const auto v = static_cast<uint8_t>(left_[0]);
    left_.remove_prefix(1);
    return v;
  }
  uint16_t u16() { return static_cast<uint16_t>(u8() | u8() << 8); }
  uint64_t u64() {
    uint64_t v = 0;
    for (int i = 0; i < 8; ++i) v |= uint64_t{u8()} << (8 * i);
    return v;
  }
  uint32_t below(uint32_t n) { return u8() % n; }
  // Small numbers mostly, and any number.
  int64_t number() {
    const uint8_t first = u8();
    if (first < 240) return first / 2 * (first % 2 == 0 ? 1 : -1);
    return static_cast<int64_t>(u64());
  }
  // At most n bytes.
  std::string_view bytes(size_t n) {
    const std::string_view out = left_.substr(0, n);
    left_.remove_prefix(out.size());
    return out;
  }

 private:
  std::string_view left_;
};

// The bytes of a trace file, from an input of one of two kinds: a file, of which magic, lengths and
// checksums are made right, and everything else is left as it is; or the sections of one, not
// compressed, each as its number (u8), length (u16, little-endian) and bytes.
std::string trace_file(std::string_view input);
// The second kind of input, for the seeds. A section of more than 65535 bytes is cut.
std::string as_section(uint32_t type, std::string_view bytes);

}  // namespace refrain::fuzz
