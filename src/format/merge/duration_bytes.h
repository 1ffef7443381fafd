// DurationStats as bytes, for the way between processes of one build.
#pragma once

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
  uint64_t mask = 0;
  for (size_t i = 0; i < Histogram::kBuckets; ++i) mask |= uint64_t{d.histogram[i] != 0} << i;
  out.put_u64(mask);
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    if (d.histogram[i] != 0) out.put_varint(d.histogram[i]);
  }
}

inline DurationStats get_duration(base::ByteReader& in) {
  DurationStats d;
  d.count = in.varint();
  if (d.count == 0) return d;
  d.min_ns = in.varint();
  d.max_ns = in.varint();
  const uint64_t bits = in.u64();
  std::memcpy(&d.sum_ns, &bits, sizeof(bits));
  const uint64_t mask = in.u64();
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    if ((mask >> i & 1) != 0) d.histogram.add(i, in.varint());
  }
  return d;
}

}  // namespace refrain::format
