// Bytes out and in: variable-length integers (LEB128, at most 10 bytes), zigzag for signed ones.
//
// ByteWriter owns a growing buffer. ByteReader reads bytes that the caller owns, never reads past
// their end, and remembers the first failure: after it every read returns 0, so a decoder may check
// ok() once per record instead of once per field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace refrain::base {

constexpr uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
constexpr int64_t unzigzag(uint64_t u) {
  return static_cast<int64_t>(u >> 1) ^ -static_cast<int64_t>(u & 1);
}

// Writes v at p (room for 10 bytes needed) and returns one past the last byte written.
inline uint8_t* write_varint(uint8_t* p, uint64_t v) {
  while (v >= 0x80) {
    *p++ = static_cast<uint8_t>(v | 0x80);
    v >>= 7;
  }
  *p++ = static_cast<uint8_t>(v);
  return p;
}

class ByteWriter {
 public:
  void put_u8(uint8_t v) { bytes_.push_back(static_cast<char>(v)); }
  void put_u16(uint16_t v) { put_fixed(v, 2); }  // fixed widths are little-endian
  void put_u32(uint32_t v) { put_fixed(v, 4); }
  void put_u64(uint64_t v) { put_fixed(v, 8); }
  void put_varint(uint64_t v) {
    if (v < 0x80) return put_u8(static_cast<uint8_t>(v));  // as most are
    uint8_t tmp[10];
    const auto length = static_cast<size_t>(write_varint(tmp, v) - tmp);
    if (length > sizeof tmp) __builtin_unreachable();  // GCC 12 would warn of what cannot be
    put_bytes(tmp, length);
  }
  void put_zigzag(int64_t v) { put_varint(zigzag(v)); }
  void put_bytes(const void* data, size_t n) {
    if (n > 0) bytes_.append(static_cast<const char*>(data), n);
  }
  // Length, then the bytes.
  void put_string(std::string_view s) {
    put_varint(s.size());
    put_bytes(s.data(), s.size());
  }

  size_t size() const { return bytes_.size(); }
  void clear() { bytes_.clear(); }
  std::string_view view() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  void put_fixed(uint64_t v, int n) {
    for (int i = 0; i < n; ++i) put_u8(static_cast<uint8_t>(v >> (8 * i)));
  }
  std::string bytes_;
};

class ByteReader {
 public:
  ByteReader() = default;
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return pos_ >= bytes_.size(); }
  size_t position() const { return pos_; }
  size_t remaining() const { return bytes_.size() - pos_; }
  std::string_view rest() const { return bytes_.substr(pos_); }
  void fail() { ok_ = false, pos_ = bytes_.size(); }

  uint8_t u8() {
    if (at_end()) [[unlikely]]
      return fail(), 0;
    return static_cast<uint8_t>(bytes_[pos_++]);
  }
  uint16_t u16() { return static_cast<uint16_t>(fixed(2)); }
  uint32_t u32() { return static_cast<uint32_t>(fixed(4)); }
  uint64_t u64() { return fixed(8); }
  uint64_t varint() {
    if (pos_ < bytes_.size() && static_cast<uint8_t>(bytes_[pos_]) < 0x80) [[likely]]
      return static_cast<uint8_t>(bytes_[pos_++]);
    return varint_of_several();
  }
  int64_t zigzag() { return unzigzag(varint()); }
  // A count that must not exceed `limit` nor, at one byte an item, what is left: so that a hostile
  // length can never make a caller allocate more than the file's own size.
  uint64_t count(uint64_t limit) {
    const uint64_t n = varint();
    if (n > limit || n > remaining()) return fail(), 0;
    return n;
  }
  std::string_view bytes(size_t n) {
    if (n > remaining()) return fail(), std::string_view();
    const std::string_view s(bytes_.data() + pos_, n);
    pos_ += n;
    return s;
  }
  std::string_view string(uint64_t limit = UINT32_MAX) {
    const uint64_t n = varint();
    if (n > limit) return fail(), std::string_view();
    return bytes(static_cast<size_t>(n));
  }

 private:
  // Out of line: the callers' loops stay small.
  [[gnu::noinline]] uint64_t varint_of_several() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_end()) return fail(), 0;
      const auto b = static_cast<uint8_t>(bytes_[pos_++]);
      if (shift == 63 && b > 1) return fail(), 0;  // would not fit 64 bits
      v |= static_cast<uint64_t>(b & 0x7f) << shift;
      if (b < 0x80) return v;
    }
    return fail(), 0;
  }
  uint64_t fixed(size_t n) {
    const std::string_view s = bytes(n);
    uint64_t v = 0;
    for (size_t i = 0; i < s.size(); ++i)
      v |= static_cast<uint64_t>(static_cast<uint8_t>(s[i])) << (8 * i);
    return v;
  }
  std::string_view bytes_;
  size_t pos_ = 0;
  bool ok_ = true;
};

}  // namespace refrain::base
