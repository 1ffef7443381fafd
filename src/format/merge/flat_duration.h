// FlatDuration: DurationStats without allocations, and as the bytes of a DurationList.
//
// If no call repeats, there are millions of them, and rank 0 reads, adds and writes each several
// times.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes.h"
#include "format/duration_stats.h"

namespace refrain::format {

struct FlatDuration {
  uint64_t count = 0, min_ns = 0, max_ns = 0;
  double sum_ns = 0;
  size_t first = 0, used = 0;                        // buckets
  std::array<uint64_t, Histogram::kBuckets> counts;  // of those buckets; the others are not set
};

// A form, then what it says: nothing of no calls; ns and sum of one; what there is of a few that
// did not take seconds, in fields of one width; count, ns and sum where all calls took equally long
// and are in the bucket of that; otherwise all.
enum class DurationForm : uint8_t { kAll, kEven, kNone, kOne, kFew };
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
  to.histogram = Histogram(d.first, d.used, d.counts.data());
  return to;
}

// As add_durations().
inline void add_flat(FlatDuration& to, const FlatDuration& from) {
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

// Of these forms, the latter without its buckets.
constexpr size_t kOneBytes = 1 + sizeof(uint32_t) + sizeof(double);
constexpr size_t kFewBytes = 1 + 2 * sizeof(uint32_t) + sizeof(double) + 3;

// A value as it stands in memory; one past it.
template <class T>
char* put_value(char* at, T v) {
  std::memcpy(at, &v, sizeof v);
  return at + sizeof v;
}
template <class T>
const char* get_value(const char* at, T& v) {
  std::memcpy(&v, at, sizeof v);
  return at + sizeof v;
}

inline char* put_number(char* at, uint64_t v) {
  return reinterpret_cast<char*>(base::write_varint(reinterpret_cast<uint8_t*>(at), v));
}

// Of one call. Room for kMostDurationBytes needed, as below; returns one past the last byte
// written.
inline char* write_one(char* at, uint64_t ns, double sum_ns) {
  if (ns > UINT32_MAX) {
    *at++ = static_cast<char>(DurationForm::kEven);
    return put_value(put_number(put_number(at, 1), ns), sum_ns);
  }
  *at++ = static_cast<char>(DurationForm::kOne);
  return put_value(put_value(at, static_cast<uint32_t>(ns)), sum_ns);
}

inline bool fits_few(const FlatDuration& d) {
  if (d.count > UINT8_MAX || d.max_ns > UINT32_MAX || d.min_ns > UINT32_MAX) return false;
  uint64_t all = 0;
  for (size_t i = 0; i < d.used; ++i) all |= d.counts[i];
  return all <= UINT8_MAX;
}

inline char* write(char* at, const FlatDuration& d) {
  using Kind = DurationForm;
  if (d.count == 0) return *at++ = static_cast<char>(Kind::kNone), at;
  const bool is_even = d.min_ns == d.max_ns && d.used == 1 && d.counts[0] == d.count &&
                       d.first == Histogram::bucket_of(d.min_ns);
  if (is_even && d.count == 1) return write_one(at, d.min_ns, d.sum_ns);
  if (!is_even && fits_few(d)) {
    *at++ = static_cast<char>(Kind::kFew);
    at = put_value(put_value(at, static_cast<uint32_t>(d.min_ns)), static_cast<uint32_t>(d.max_ns));
    at = put_value(at, d.sum_ns);
    *at++ = static_cast<char>(d.count);
    *at++ = static_cast<char>(d.first);
    *at++ = static_cast<char>(d.used);
    for (size_t i = 0; i < d.used; ++i) *at++ = static_cast<char>(d.counts[i]);
    return at;
  }
  *at++ = static_cast<char>(is_even ? Kind::kEven : Kind::kAll);
  at = put_number(put_number(at, d.count), d.min_ns);
  if (!is_even) at = put_number(at, d.max_ns);
  at = put_value(at, d.sum_ns);
  if (is_even) return at;
  *at++ = static_cast<char>(d.first);
  *at++ = static_cast<char>(d.used);
  for (size_t i = 0; i < d.used; ++i) at = put_number(at, d.counts[i]);
  return at;
}

// What stands there of one or a few calls, in place.
struct FewCalls {
  uint32_t min_ns = 0, max_ns = 0, count = 0, first = 0, used = 0;
  double sum_ns = 0;
  const char* counts = nullptr;
  uint64_t word = 0;  // the counts, a byte each; of more than eight buckets nothing
  const char* end = nullptr;

  // False: there is none of these forms.
  bool read(const char* at, const char* until) {
    const auto left = static_cast<size_t>(until - at);
    if (left >= kOneBytes && static_cast<DurationForm>(*at) == DurationForm::kOne) {
      static constexpr char kOnce = 1;
      end = get_value(get_value(at + 1, min_ns), sum_ns);
      max_ns = min_ns;
      first = static_cast<uint32_t>(Histogram::bucket_of(min_ns));
      count = used = 1;
      counts = &kOnce;
      word = 1;
      return true;
    }
    if (left < kFewBytes || static_cast<DurationForm>(*at) != DurationForm::kFew) return false;
    counts = get_value(get_value(get_value(at + 1, min_ns), max_ns), sum_ns);
    count = static_cast<uint8_t>(*counts++);
    first = static_cast<uint8_t>(*counts++);
    used = static_cast<uint8_t>(*counts++);
    end = counts + used;
    if (left - kFewBytes < used || count == 0 || used == 0 || first + used > Histogram::kBuckets)
      return false;
    word = word_at(left - kFewBytes);
    return true;
  }

 private:
  // `left`: bytes from `counts` on that may be read.
  uint64_t word_at(size_t left) const {
    uint64_t w = 0;
    if (used > sizeof w) return w;
    if (left >= sizeof w) {
      std::memcpy(&w, counts, sizeof w);
      return w & UINT64_MAX >> 8 * (sizeof w - used);
    }
    for (uint32_t i = 0; i < used; ++i) w |= uint64_t{static_cast<uint8_t>(counts[i])} << 8 * i;
    return w;
  }
};

// Both as one, of 255 calls at most, as write() has it.
inline char* write_sum(char* at, const FewCalls& a, const FewCalls& b) {
  const uint32_t first = std::min(a.first, b.first);
  const uint32_t used = std::max(a.first + a.used, b.first + b.used) - first;
  *at++ = static_cast<char>(DurationForm::kFew);
  at = put_value(put_value(at, std::min(a.min_ns, b.min_ns)), std::max(a.max_ns, b.max_ns));
  at = put_value(at, a.sum_ns + b.sum_ns);
  *at++ = static_cast<char>(a.count + b.count);
  *at++ = static_cast<char>(first);
  *at++ = static_cast<char>(used);
  if (used <= sizeof(uint64_t)) {  // no count carries into the next byte
    put_value(at, (a.word << 8 * (a.first - first)) + (b.word << 8 * (b.first - first)));
    return at + used;
  }
  for (uint32_t i = 0; i < used; ++i) {
    const uint32_t bucket = first + i;
    const auto of = [bucket](const FewCalls& f) {
      return bucket < f.first || bucket - f.first >= f.used ? 0 : f.counts[bucket - f.first];
    };
    at[i] = static_cast<char>(of(a) + of(b));
  }
  return at + used;
}

// What stands there of one or a few calls in eight buckets at most, as whole words: a few loads
// and stores for each, where there are very many.
struct FewWords {
  uint32_t min_ns, max_ns, count, first, used;
  double sum_ns;
  uint64_t word;  // the counts, a byte each
  const char* end;

  // So many bytes may be read; behind the last entries of a page there are less.
  static constexpr std::ptrdiff_t kLoaded = kFewBytes + sizeof(uint64_t);

  // False: there is none of these forms, or too little behind it.
  bool read(const char* at, const char* until) {
    if (until - at < kLoaded) return false;
    get_value(at + 1, min_ns);
    if (static_cast<DurationForm>(*at) == DurationForm::kOne) {
      end = get_value(at + 1 + sizeof min_ns, sum_ns);
      max_ns = min_ns;
      first = static_cast<uint32_t>(Histogram::bucket_of(min_ns));
      count = used = 1;
      word = 1;
      return true;
    }
    if (static_cast<DurationForm>(*at) != DurationForm::kFew) return false;
    uint32_t three = 0;  // and a byte of the counts
    const char* const counts =
        get_value(get_value(at + 1 + sizeof min_ns, max_ns), sum_ns) + kFewHead;
    get_value(counts - kFewHead, three);
    get_value(counts, word);
    count = three & UINT8_MAX;
    first = three >> 8 & UINT8_MAX;
    used = three >> 16 & UINT8_MAX;
    end = counts + used;
    if (count == 0 || used - 1 >= sizeof word || first + used > Histogram::kBuckets) return false;
    word &= UINT64_MAX >> 8 * (sizeof word - used);
    return true;
  }
  // Both as one, as write() has it; room for kLoaded bytes needed. Null, and nothing was written:
  // they have more than 255 calls or more than eight buckets.
  static char* write_sum(char* at, const FewWords& a, const FewWords& b) {
    const uint32_t count = a.count + b.count, first = std::min(a.first, b.first);
    const uint32_t used = std::max(a.first + a.used, b.first + b.used) - first;
    if (count > UINT8_MAX || used > sizeof a.word) return nullptr;
    *at++ = static_cast<char>(DurationForm::kFew);
    at = put_value(put_value(at, std::min(a.min_ns, b.min_ns)), std::max(a.max_ns, b.max_ns));
    at = put_value(at, a.sum_ns + b.sum_ns);
    put_value(at, count | first << 8 | used << 16);
    // No count carries into the next byte.
    put_value(at + kFewHead, (a.word << 8 * (a.first - first)) + (b.word << 8 * (b.first - first)));
    return at + kFewHead + used;
  }

 private:
  static constexpr std::ptrdiff_t kFewHead = 3;  // count, first, used
};

// Reads one at `at`. Null: what is there, before `end`, is none.
class FlatDurationReader {
 public:
  static const char* read(const char* at, const char* end, FlatDuration& d) {
    const auto form = static_cast<DurationForm>(*at);
    if (form == DurationForm::kOne && static_cast<size_t>(end - at) >= kOneBytes) {
      uint32_t ns = 0;
      at = get_value(get_value(at + 1, ns), d.sum_ns);
      d.count = d.counts[0] = d.used = 1;
      d.min_ns = d.max_ns = ns;
      d.first = Histogram::bucket_of(ns);
      return at;
    }
    if (form == DurationForm::kFew && skip(at, end) != nullptr) {
      uint32_t min = 0, max = 0;
      at = get_value(get_value(get_value(at + 1, min), max), d.sum_ns);
      d.min_ns = min, d.max_ns = max;
      d.count = static_cast<uint8_t>(*at++);
      d.first = static_cast<uint8_t>(*at++);
      d.used = static_cast<uint8_t>(*at++);
      for (size_t i = 0; i < d.used; ++i) d.counts[i] = static_cast<uint8_t>(*at++);
      return at;
    }
    FlatDurationReader in(at, end);
    return in.read(d) ? in.at_ : nullptr;
  }
  // The end of one at `at`, which is before `end`; null as above.
  static const char* skip(const char* at, const char* end) {
    if (at == end) return nullptr;
    const auto form = static_cast<DurationForm>(*at);
    const auto left = static_cast<size_t>(end - at);
    if (form == DurationForm::kOne) return left < kOneBytes ? nullptr : at + kOneBytes;
    if (form == DurationForm::kFew) {
      if (left < kFewBytes || at[kFewBytes - 3] == 0) return nullptr;
      const auto first = static_cast<uint8_t>(at[kFewBytes - 2]);
      const auto used = static_cast<uint8_t>(at[kFewBytes - 1]);
      return first + used > Histogram::kBuckets || left < kFewBytes + used ? nullptr
                                                                           : at + kFewBytes + used;
    }
    return skip_other(at, end);
  }

 private:
  // Apart, so that the forms above need no room for a whole histogram.
  [[gnu::noinline]] static const char* skip_other(const char* at, const char* end) {
    FlatDuration d;
    FlatDurationReader in(at, end);
    return in.read(d) ? in.at_ : nullptr;
  }

  FlatDurationReader(const char* at, const char* end) : at_(at), end_(end) {}

  bool read(FlatDuration& d) {
    uint64_t form = 0;
    if (!byte(form)) return false;
    switch (static_cast<DurationForm>(form)) {
      case DurationForm::kNone:
        d.count = d.min_ns = d.max_ns = d.first = d.used = 0;
        d.sum_ns = 0;
        return true;
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
