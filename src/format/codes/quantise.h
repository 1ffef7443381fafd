// Numbers of time in the file: floats for nanoseconds, one byte for a bucket's share.
//
// All are idempotent: what was decoded encodes to the same code again.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace refrain::format {

// A number as a float of M bits mantissa m and 6 bits exponent e: m for e = 0, else
// (2^M + m) * 2^(e-1). Rounded to nearest: exact below 2^(M+1), relative error at most 2^-(M+1)
// above. Codes are in the order of the numbers.
template <class Code, int M>
constexpr Code float_code(uint64_t v) {
  constexpr uint64_t kOne = uint64_t{1} << M;
  if (v < kOne) return static_cast<Code>(v);
  int shift = 63 - std::countl_zero(v) - M;
  uint64_t mantissa = v >> shift;
  if (shift > 0 && (v >> (shift - 1) & 1) != 0) ++mantissa;
  if (mantissa == 2 * kOne) {
    mantissa = kOne;
    ++shift;
  }
  return static_cast<Code>(static_cast<uint64_t>(shift + 1) << M | (mantissa - kOne));
}
template <class Code, int M>
constexpr uint64_t float_of(Code code) {
  constexpr uint64_t kOne = uint64_t{1} << M;
  const int e = static_cast<int>(code >> M);
  const uint64_t m = code & (kOne - 1);
  if (e == 0) return m;
  return e > 64 - M ? UINT64_MAX : (kOne + m) << (e - 1);
}

// Times, and bytes of the recorder: exact below 2048, relative error at most 2^-11 (0.05 %) above.
constexpr uint16_t time_code(uint64_t ns) { return float_code<uint16_t, 10>(ns); }
constexpr uint64_t time_of(uint16_t code) { return float_of<uint16_t, 10>(code); }
// The largest code in use; greater ones would not fit 64 bits.
inline constexpr uint16_t kMaxTimeCode = time_code(UINT64_MAX) - 1;

// A rank's time from MPI_Init to MPI_Finalize: relative error at most 2^-17 (0.0008 %). 2^16 codes
// double it.
inline constexpr int kSpanMantissaBits = 16;
constexpr uint32_t span_code(uint64_t ns) { return float_code<uint32_t, kSpanMantissaBits>(ns); }
constexpr uint64_t span_of(uint32_t code) { return float_of<uint32_t, kSpanMantissaBits>(code); }

// Counts of which the order of magnitude matters, in 8 bits: exact below 16, then with a relative
// error of at most 2^-4 (6 %), up to kMaxCount; larger ones become that.
inline constexpr uint64_t kMaxCount = float_of<uint8_t, 3>(UINT8_MAX);
constexpr uint8_t count_code(uint64_t count) {
  return count >= kMaxCount ? UINT8_MAX : float_code<uint8_t, 3>(count);
}
constexpr uint64_t count_of(uint8_t code) { return float_of<uint8_t, 3>(code); }

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
