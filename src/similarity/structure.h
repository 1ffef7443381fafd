// StructureKey: a hash of a sequence of calls. Equal sequences have equal keys; different ones have
// different keys, except with a probability of about 2^-60 per pair. Segments with different keys
// are never compared (Mohror, section 4.2.2: a match requires the same events in the same order).
//
// A polynomial over the keys of the calls, so that the key of a sequence follows from those of its
// parts and of its repetitions: a rule of a grammar is hashed once, however often it is used.
#pragma once

#include <cstdint>

namespace refrain::similarity {

class StructureKey {
 public:
  // What a caller gives for a call: any number, equal for calls that are equal with all parameters
  // in a form that does not depend on the rank where they are to match between ranks.
  void append(uint64_t call_key) {
    value_ = reduce(multiply(value_, kBase) + spread(call_key));
    scale_ = multiply(scale_, kBase);
  }
  void append(const StructureKey& other) {
    value_ = reduce(multiply(value_, other.scale_) + other.value_);
    scale_ = multiply(scale_, other.scale_);
  }
  // `n` times the sequence; O(log n).
  StructureKey repeated(uint64_t n) const {
    StructureKey result;
    for (StructureKey power = *this; n != 0; n >>= 1) {
      if ((n & 1) != 0) result.append(power);
      const StructureKey copy = power;
      power.append(copy);
    }
    return result;
  }
  uint64_t value() const { return value_; }
  bool operator==(const StructureKey&) const = default;

 private:
  static constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
  static constexpr uint64_t kBase = 0x0d3f9a7c51e86b25;  // below the prime, otherwise arbitrary

  // x < 2^62.
  static uint64_t reduce(uint64_t x) { return x >= kPrime ? x - kPrime : x; }
  static uint64_t multiply(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return reduce((static_cast<uint64_t>(product) & kPrime) + static_cast<uint64_t>(product >> 61));
  }
  // 1 .. kPrime - 1: small numbers far apart, and none is nothing.
  static uint64_t spread(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) % (kPrime - 1) + 1;
  }

  uint64_t value_ = 0;
  uint64_t scale_ = 1;
};

}  // namespace refrain::similarity
