// A binary range coder: bits with given probabilities to bytes and back. docs/format.md, Time, has
// the arithmetic. No exceptions; the decoder is total: beyond the end it reads zeros and counts.
// Idea: G. N. N. Martin, "Range encoding" (1979), with the carry as in LZMA.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace refrain::format {

inline constexpr uint32_t kRangeTop = uint32_t{1} << 24;
inline constexpr unsigned kRawBitsAtOnce = 12;

class RangeEncoder {
 public:
  static constexpr bool kReads = false;

  // Appends to `out`.
  explicit RangeEncoder(std::string& out) : out_(out) {}

  // `p`: the probability of a 1 in 1/65536, 1 to 65535.
  bool bit(uint32_t p, bool value) {
    const uint32_t bound = (range_ >> 16) * p;
    if (value) {
      range_ = bound;
    } else {
      low_ += bound;
      range_ -= bound;
    }
    while (range_ < kRangeTop) shift();
    return value;
  }
  // The lowest `count` bits of `value`, each as likely as not; at most 64.
  uint64_t raw(unsigned count, uint64_t value) {
    for (unsigned left = count; left > 0;) {
      const unsigned n = left < kRawBitsAtOnce ? left : kRawBitsAtOnce;
      left -= n;
      range_ >>= n;
      low_ += range_ * ((value >> left) & ((uint64_t{1} << n) - 1));
      while (range_ < kRangeTop) shift();
    }
    return value;
  }
  // One of 2^bits parts of what is left: where in them, at most 16 bits, and then which of them.
  uint32_t position(unsigned, uint32_t at) const { return at; }
  void part(unsigned bits, uint32_t begin, uint32_t size) {
    range_ >>= bits;
    low_ += uint64_t{range_} * begin;
    range_ *= size;
    while (range_ < kRangeTop) shift();
  }
  // One of at most 2^16 values, each as likely as the others.
  uint32_t uniform(uint32_t values, uint32_t value) {
    range_ /= values;
    low_ += uint64_t{range_} * value;
    while (range_ < kRangeTop) shift();
    return value;
  }
  // No further bits.
  void finish() {
    for (int i = 0; i < 5; ++i) shift();
  }

 private:
  void shift() {
    range_ <<= 8;
    if (low_ < 0xff000000u || low_ > 0xffffffffu) {
      const auto carry = static_cast<uint8_t>(low_ >> 32);
      if (started_) out_.push_back(static_cast<char>(cache_ + carry));
      for (; pending_ > 0; --pending_) out_.push_back(static_cast<char>(0xff + carry));
      started_ = true;
      cache_ = static_cast<uint8_t>(low_ >> 24);
    } else {
      ++pending_;
    }
    low_ = (low_ & 0x00ffffffu) << 8;
  }

  std::string& out_;
  uint64_t low_ = 0;
  uint32_t range_ = 0xffffffffu;
  uint64_t pending_ = 0;  // bytes 0xff that a carry may still change
  uint8_t cache_ = 0;
  bool started_ = false;  // the very first byte is always 0 and left out
};

class RangeDecoder {
 public:
  static constexpr bool kReads = true;

  explicit RangeDecoder(std::string_view bytes) : bytes_(bytes) {
    for (int i = 0; i < 4; ++i) code_ = code_ << 8 | next();
  }

  bool bit(uint32_t p, bool = false) {
    const uint32_t bound = (range_ >> 16) * p;
    const bool value = code_ < bound;
    if (value) {
      range_ = bound;
    } else {
      code_ -= bound;
      range_ -= bound;
    }
    while (range_ < kRangeTop) shift();
    return value;
  }
  uint64_t raw(unsigned count, uint64_t = 0) {
    uint64_t value = 0;
    for (unsigned left = count; left > 0;) {
      const unsigned n = left < kRawBitsAtOnce ? left : kRawBitsAtOnce;
      left -= n;
      range_ >>= n;
      uint32_t part = code_ / range_;
      const uint32_t most = (uint32_t{1} << n) - 1;
      if (part > most) part = most;
      code_ -= part * range_;
      value = value << n | part;
      while (range_ < kRangeTop) shift();
    }
    return value;
  }
  uint32_t position(unsigned bits, uint32_t = 0) const {
    return std::min(code_ / (range_ >> bits), (uint32_t{1} << bits) - 1);
  }
  void part(unsigned bits, uint32_t begin, uint32_t size) {
    range_ >>= bits;
    code_ -= range_ * begin;
    range_ *= size;
    while (range_ < kRangeTop) shift();
  }
  uint32_t uniform(uint32_t values, uint32_t = 0) {
    range_ /= values;
    const uint32_t value = std::min(code_ / range_, values - 1);
    code_ -= value * range_;
    while (range_ < kRangeTop) shift();
    return value;
  }
  // Whether everything was read and nothing else.
  bool at_end() const { return position_ == bytes_.size(); }
  // Whether more was read than there is.
  bool is_beyond() const { return position_ > bytes_.size(); }

 private:
  uint32_t next() {
    const size_t at = position_++;
    return at < bytes_.size() ? static_cast<uint8_t>(bytes_[at]) : 0;
  }
  void shift() {
    range_ <<= 8;
    code_ = code_ << 8 | next();
  }

  std::string_view bytes_;
  size_t position_ = 0;
  uint32_t code_ = 0, range_ = 0xffffffffu;
};

}  // namespace refrain::format
