// Totals of a rank and the cost of its recording, in about a byte: layout and arithmetic that
// encode/ and decode/ share. The text is in docs/format.md, "Totals".
//
// Each of six quantities has a scale, from the least to the greatest of all ranks. The place of a
// rank on the scale is coded given the place of the previous rank and the other places of the same
// rank, so alike ranks take almost no bytes. Files of 1.2 and 1.3 have four bytes for each rank
// instead: its time in MPI, and 16 bits with places for three quantities.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "format/stats/mixed_bits.h"
#include "format/time/model.h"

namespace refrain::format {

inline constexpr unsigned kSharedTotalsBits = 16;
inline constexpr unsigned kMinScaleBits = 2, kMaxScaleBits = 12;
inline constexpr uint32_t kMinScalePlaces = 3, kMaxScalePlaces = 4095;
// u8 bits of the span, u8 bits of the memory, u32 least and greatest span, and u16 least, greatest
// and mean of both memory and time.
inline constexpr uint64_t kSharedTailBytes = 22;

// Float codes (quantise.h) between the least and the greatest one that occurs, as a few places.
// 0 says "none". The least is 1; the greatest, the last place in use, is its alone, so both are
// exact and it is known whose they are. In between the codes are cut into equal steps, and a place
// stands for the middle of one; where there are as many places as codes, each has its own.
// Idempotent: place(at(p)) = p for every p that place() gives.
class CodeScale {
 public:
  CodeScale() = default;  // no code at all
  // least <= greatest, kMinScaleBits <= bits <= kMaxScaleBits.
  CodeScale(uint32_t least, uint32_t greatest, unsigned bits)
      : CodeScale(of_places(least, greatest, (1u << bits) - 1)) {}
  // kMinScalePlaces <= places <= kMaxScalePlaces.
  static CodeScale of_places(uint32_t least, uint32_t greatest, uint32_t places) {
    CodeScale scale;
    scale.least_ = least, scale.range_ = greatest - least, scale.places_ = places;
    return scale;
  }

  // least <= code <= greatest.
  uint32_t place(uint32_t code) const;
  // 1 <= place <= last_place().
  uint32_t at(uint32_t place) const;
  uint32_t last_place() const { return is_exact() ? range_ + 1 : places_; }
  bool is_exact() const { return range_ < places_; }

  // The most that at(place(c)) is away from c, rounded up.
  uint32_t max_error() const { return is_exact() ? 0 : range_ / (2 * steps()) + 1; }

 private:
  uint32_t steps() const { return places_ - 2; }

  uint32_t least_ = 0, range_ = 0, places_ = 0;
};

// How many of the 16 bits each scale has in files before 1.4.
struct ScaleBits {
  unsigned span = 0, memory = 0;
  unsigned time() const { return kSharedTotalsBits - span - memory; }
  // At least kMinScaleBits, at most kMaxScaleBits for each.
  bool is_good() const;
};

struct CodeRange {
  uint32_t least = 0, greatest = 0;
  bool operator==(const CodeRange&) const = default;
};

// What there is to know of a rank, in the order of the file. The span is the time in MPI and
// outside together.
enum class Quantity : uint32_t { kSpan, kInMpi, kMemory, kTime, kOwn, kSwitches };
inline constexpr size_t kQuantities = 6;

// How the section begins.
enum class TotalsForm : uint8_t {
  kNone = 0,     // nothing is known of any rank
  kScales = 1,   // scales, and places
  kSpreads = 2,  // the same, with what recording cost in the mean (of files of 1.1) in between
};

// Codes the places of all ranks, rank by rank. Coder: as in stats/mixed_bits.h.
class PlaceModel {
 public:
  explicit PlaceModel(uint64_t ranks) { bits_.reset(ranks, kQuantities); }

  // `last` is the last place of its scale.
  template <class Coder>
  uint32_t code(Coder& coder, Quantity quantity, uint32_t last, uint32_t place) {
    const auto q = static_cast<uint32_t>(quantity);
    const std::array<uint32_t, 3> contexts = {
        time_hash(q), time_hash(0x1000u + q * 0x10000u + before_[q]),
        time_hash(0x80000000u + q * 0x10000u + (q > 0 ? before_[q - 1] : 0))};
    uint32_t node = 1;
    for (auto i = static_cast<unsigned>(std::bit_width(last)); i-- > 0;)
      node = 2 * node +
             static_cast<uint32_t>(bits_.bit(coder, q, contexts, node, (place >> i & 1) != 0));
    return before_[q] = node - (1u << std::bit_width(last));
  }

 private:
  MixedBits bits_;
  std::array<uint32_t, kQuantities> before_{};
};

}  // namespace refrain::format
