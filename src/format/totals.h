// Totals of a rank in 4 bytes, with what recording cost the rank: layout and arithmetic that
// encode/ and decode/ share. The text is in docs/format.md, "Totals".
//
//   u16 time in MPI | u16: span, memory and time of the recorder, lowest bits first
//
// The 16 bits hold places on three scales. What is common to all ranks (the ends of the scales, and
// how many of the bits each has) stands once behind the ranks.
#pragma once

#include <cstdint>

namespace refrain::format {

inline constexpr unsigned kSharedTotalsBits = 16;
inline constexpr unsigned kMinScaleBits = 2, kMaxScaleBits = 12;
// u8 bits of the span, u8 bits of the memory, u32 least and greatest span, and u16 least, greatest
// and mean of both memory and time.
inline constexpr uint64_t kSharedTailBytes = 22;

// Float codes (quantise.h) between the least and the greatest one that occurs, in a few bits each.
// 0 says "none". The least is 1; the greatest, the last place in use, is its alone, so both are
// exact and it is known whose they are. In between the codes are cut into equal steps, and a place
// stands for the middle of one; where there are as many places as codes, each has its own.
// Idempotent: place(at(p)) = p for every p that place() gives.
class CodeScale {
 public:
  CodeScale() = default;  // no code at all
  // least <= greatest, kMinScaleBits <= bits <= kMaxScaleBits.
  CodeScale(uint32_t least, uint32_t greatest, unsigned bits)
      : least_(least), range_(greatest - least), places_((1u << bits) - 1) {}

  // least <= code <= greatest.
  uint32_t place(uint32_t code) const;
  // 1 <= place <= last_place().
  uint32_t at(uint32_t place) const;
  uint32_t last_place() const { return is_exact() ? range_ + 1 : places_; }

  // The most that at(place(c)) is away from c, rounded up.
  uint32_t max_error() const { return is_exact() ? 0 : range_ / (2 * steps()) + 1; }

 private:
  bool is_exact() const { return range_ < places_; }
  uint32_t steps() const { return places_ - 2; }

  uint32_t least_ = 0, range_ = 0, places_ = 0;
};

// How many of the bits each scale has.
struct ScaleBits {
  unsigned span = 0, memory = 0;
  unsigned time() const { return kSharedTotalsBits - span - memory; }
  // At least kMinScaleBits, at most kMaxScaleBits for each.
  bool is_good() const;
};

struct CodeRange {
  uint32_t least = 0, greatest = 0;
};

// As many bits for the span as keep it within 0.05 % (two to six) or 0.5 % (more), the rest so that
// the worse one of memory and time is as good as it can be.
ScaleBits share_bits(CodeRange span, CodeRange memory, CodeRange time);

}  // namespace refrain::format
