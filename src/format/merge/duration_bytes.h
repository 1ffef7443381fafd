// Statistics of durations as bytes, as the ranks of a job send them to each other. Not an exchange
// format: both ends belong to the same build.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "format/trace_data.h"

namespace refrain::format {

inline void put(base::ByteWriter& out, const DurationStats& d) {
  out.put_varint(d.count);
  if (d.count == 0) return;
  out.put_varint(d.min_ns);
  out.put_varint(d.max_ns);
  uint64_t bits = 0;
  std::memcpy(&bits, &d.sum_ns, sizeof(bits));
  out.put_u64(bits);
  const size_t first = d.histogram.first(), used = d.histogram.used();
  out.put_u8(static_cast<uint8_t>(first));
  out.put_u8(static_cast<uint8_t>(used));
  for (size_t i = 0; i < used; ++i) out.put_varint(d.histogram[first + i]);
}

inline DurationStats get_duration(base::ByteReader& in) {
  DurationStats d;
  d.count = in.varint();
  if (d.count == 0) return d;
  d.min_ns = in.varint();
  d.max_ns = in.varint();
  const uint64_t bits = in.u64();
  std::memcpy(&d.sum_ns, &bits, sizeof(bits));
  const size_t first = in.u8(), used = in.u8();
  if (first + used > Histogram::kBuckets) in.fail();
  for (size_t i = 0; i < used && in.ok(); ++i) d.histogram.add(first + i, in.varint());
  return d;
}

}  // namespace refrain::format
