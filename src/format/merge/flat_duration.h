// FlatDuration: DurationStats without allocations, and as the bytes of a DurationList.
//
// Where every call is a new one there are millions of them, and rank 0 reads, adds and writes each
// several times.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "format/trace_data.h"

namespace refrain::format {

struct FlatDuration {
  uint64_t count = 0, min_ns = 0, max_ns = 0;
  double sum_ns = 0;
  size_t first = 0, used = 0;                        // buckets
  std::array<uint64_t, Histogram::kBuckets> counts;  // of those buckets; the others are not set
};

// A form, then what it says: nothing of no calls; count, ns and sum where all calls took equally
// long and are in the bucket of that; the same without a count, of one call; otherwise all.
enum class DurationForm : uint8_t { kAll, kEven, kNone, kOne };
constexpr size_t kMostDurationBytes = 1 + 3 * 10 + sizeof(double) + 2 + Histogram::kBuckets * 10;

inline FlatDuration flat(const DurationStats& d) {
  FlatDuration to;
  to.count = d.count, to.min_ns = d.min_ns, to.max_ns = d.max_ns, to.sum_ns = d.sum_ns;
  to.first = d.histogram.first(), to.used = d.histogram.used();
  for (size_t i = 0; i < to.used; ++i) to.counts[i] = d.histogram[to.first + i];
  return to;
}

inline DurationStats stats_of(const FlatDuration& d) {
  DurationStats to;
  to.count = d.count, to.min_ns = d.min_ns, to.max_ns = d.max_ns, to.sum_ns = d.sum_ns;
  // Both ends first: room is made once.
  if (d.used > 1) to.histogram.add(d.first + d.used - 1, d.counts[d.used - 1]);
  for (size_t i = 0; i + (d.used > 1 ? 1 : 0) < d.used; ++i)
    to.histogram.add(d.first + i, d.counts[i]);
  return to;
}

// As add_durations().
inline void add(FlatDuration& to, const FlatDuration& from) {
  if (from.count == 0) return;
  add_times(to, from);
  if (from.used == 0) return;
  if (to.used == 0) to.first = from.first;
  const size_t first = std::min(to.first, from.first);
  const size_t end = std::max(to.first + to.used, from.first + from.used);
  if (const size_t by = to.first - first; by > 0) {
    for (size_t i = to.used; i-- > 0;) to.counts[i + by] = to.counts[i];
    for (size_t i = 0; i < by; ++i) to.counts[i] = 0;
    to.used += by;
    to.first = first;
  }
  for (; to.used < end - first; ++to.used) to.counts[to.used] = 0;
  for (size_t i = 0; i < from.used; ++i) to.counts[from.first - first + i] += from.counts[i];
}

// Room for kMostDurationBytes needed; returns one past the last byte written.
inline uint8_t* write(uint8_t* at, const FlatDuration& d) {
  using Kind = DurationForm;
  const bool is_even = d.count != 0 && d.min_ns == d.max_ns && d.used == 1 &&
                       d.first == Histogram::bucket_of(d.min_ns) && d.counts[0] == d.count;
  const Kind form = d.count == 0   ? Kind::kNone
                    : !is_even     ? Kind::kAll
                    : d.count == 1 ? Kind::kOne
                                   : Kind::kEven;
  *at++ = static_cast<uint8_t>(form);
  if (form == Kind::kNone) return at;
  if (form != Kind::kOne) at = base::write_varint(at, d.count);
  at = base::write_varint(at, d.min_ns);
  if (form == Kind::kAll) at = base::write_varint(at, d.max_ns);
  std::memcpy(at, &d.sum_ns, sizeof d.sum_ns);
  at += sizeof d.sum_ns;
  if (form != Kind::kAll) return at;
  *at++ = static_cast<uint8_t>(d.first);
  *at++ = static_cast<uint8_t>(d.used);
  for (size_t i = 0; i < d.used; ++i) at = base::write_varint(at, d.counts[i]);
  return at;
}

// Reads one at `at`. Null: what is there, before `end`, is none.
class FlatDurationReader {
 public:
  static const char* read(const char* at, const char* end, FlatDuration& d) {
    FlatDurationReader in(at, end);
    return in.read(d) ? in.at_ : nullptr;
  }

 private:
  FlatDurationReader(const char* at, const char* end) : at_(at), end_(end) {}

  bool read(FlatDuration& d) {
    uint64_t form = 0;
    if (!byte(form)) return false;
    switch (static_cast<DurationForm>(form)) {
      case DurationForm::kNone:
        d.count = d.min_ns = d.max_ns = d.first = d.used = 0;
        d.sum_ns = 0;
        return true;
      case DurationForm::kOne: d.count = 1; break;
      case DurationForm::kEven:
      case DurationForm::kAll:
        if (!varint(d.count) || d.count == 0) return false;
        break;
      default: return false;
    }
    if (!varint(d.min_ns)) return false;
    const bool is_all = static_cast<DurationForm>(form) == DurationForm::kAll;
    d.max_ns = d.min_ns;
    if (is_all && !varint(d.max_ns)) return false;
    if (static_cast<size_t>(end_ - at_) < sizeof d.sum_ns) return false;
    std::memcpy(&d.sum_ns, at_, sizeof d.sum_ns);
    at_ += sizeof d.sum_ns;
    if (is_all) return histogram(d);
    d.first = Histogram::bucket_of(d.min_ns);
    d.used = 1;
    d.counts[0] = d.count;
    return true;
  }
  bool histogram(FlatDuration& d) {
    if (!byte(d.first) || !byte(d.used) || d.first + d.used > Histogram::kBuckets) return false;
    for (size_t i = 0; i < d.used; ++i)
      if (!varint(d.counts[i])) return false;
    return true;
  }
  bool byte(uint64_t& v) {
    if (at_ == end_) return false;
    v = static_cast<uint8_t>(*at_++);
    return true;
  }
  bool varint(uint64_t& v) {
    if (!byte(v)) return false;
    if (v < 0x80) return true;
    v &= 0x7f;
    uint64_t b = 0;
    for (int shift = 7; shift < 64; shift += 7) {
      if (!byte(b) || (shift == 63 && b > 1)) return false;
      v |= (b & 0x7f) << shift;
      if (b < 0x80) return true;
    }
    return false;
  }

  const char* at_;
  const char* const end_;
};

}  // namespace refrain::format
