// Numbers whose length does not follow their size: three bytes for everything below 2^23.
//
// A number that follows the number of ranks must not take more bytes where there are more ranks, so
// a varint will not do. Little-endian; the top bit of the third byte says that a varint with the
// bits from 23 on follows.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace refrain::base {

inline constexpr uint64_t kWideLimit = uint64_t{1} << 23;  // below: three bytes

inline void put_wide(ByteWriter& out, uint64_t v) {
  const uint64_t low = (v & (kWideLimit - 1)) | (v >= kWideLimit ? kWideLimit : 0);
  out.put_u16(static_cast<uint16_t>(low));
  out.put_u8(static_cast<uint8_t>(low >> 16));
  if (v >= kWideLimit) out.put_varint(v >> 23);
}
inline void put_wide_zigzag(ByteWriter& out, int64_t v) { put_wide(out, zigzag(v)); }

// Fails the reader when the bytes end or the number has more than 64 bits.
inline uint64_t get_wide(ByteReader& in) {
  uint64_t v = in.u16();
  v |= uint64_t{in.u8()} << 16;
  if (v < kWideLimit) return v;
  const uint64_t high = in.varint();
  if (high > UINT64_MAX >> 23) return in.fail(), 0;
  return (v & (kWideLimit - 1)) | high << 23;
}
inline int64_t get_wide_zigzag(ByteReader& in) { return unzigzag(get_wide(in)); }

}  // namespace refrain::base
