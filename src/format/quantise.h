// Numbers of time in the file: 16-bit floats for nanoseconds, one byte for a bucket's share.
//
// Both are idempotent: what was decoded encodes to the same code again.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace refrain::format {

// 6 bits exponent e, 10 bits mantissa m: m for e = 0, else (1024 + m) * 2^(e-1). Rounded to
// nearest: exact below 2048 ns, relative error at most 2^-11 (0.05 %) above.
constexpr uint16_t time_code(uint64_t ns) {
  if (ns < 1024) return static_cast<uint16_t>(ns);
  int shift = 63 - std::countl_zero(ns) - 10;
  uint64_t mantissa = ns >> shift;
  if (shift > 0 && (ns >> (shift - 1) & 1) != 0) ++mantissa;
  if (mantissa == 2048) {
    mantissa = 1024;
    ++shift;
  }
  return static_cast<uint16_t>(static_cast<unsigned>(shift + 1) << 10 | (mantissa - 1024));
}
// The largest code in use; greater ones would not fit 64 bits.
inline constexpr uint16_t kMaxTimeCode = time_code(UINT64_MAX) - 1;
constexpr uint64_t time_of(uint16_t code) {
  const int e = code >> 10;
  const uint64_t m = code & 1023;
  if (e == 0) return m;
  return code > kMaxTimeCode ? UINT64_MAX : (1024 + m) << (e - 1);
}

// A sum, as far as it fits.
inline uint64_t whole_of(double v) {
  constexpr double kTooLarge = 18446744073709551616.0;  // 2^64
  if (!(v > 0)) return 0;
  return v >= kTooLarge ? UINT64_MAX : static_cast<uint64_t>(v);
}

// Share of `part` in `whole` on a logarithmic scale, eight steps an octave: 0 for nothing, else
// 1 + round(8 * log2(whole / part)), at most 255. Relative error at most 2^(1/16) - 1 = 4.5 % down
// to shares of 2^-31; smaller ones become that.
inline uint8_t share_code(uint64_t part, uint64_t whole) {
  if (part == 0 || whole == 0) return 0;
  const double octaves = std::log2(static_cast<double>(whole) / static_cast<double>(part));
  const double steps = std::round(8.0 * octaves);
  return steps <= 0 ? 1 : steps >= 254 ? 255 : static_cast<uint8_t>(1 + steps);
}
inline uint64_t share_of(uint8_t code, uint64_t whole) {
  if (code == 0 || whole == 0) return 0;
  const double part = static_cast<double>(whole) * std::exp2(-(code - 1) / 8.0);
  const double rounded = std::round(part);
  return rounded < 1                             ? 1
         : rounded >= static_cast<double>(whole) ? whole
                                                 : static_cast<uint64_t>(rounded);
}

}  // namespace refrain::format
