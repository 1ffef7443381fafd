// SignatureList: the signatures of a group in as few bytes as they take between ranks.
//
// Where every call is a new one there are millions of them, and rank 0 has those of all ranks. They
// are looked at one by one, so each is taken out of its bytes when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/nested_runs.h"
#include "format/byte_strings.h"
#include "format/trace_data.h"

namespace refrain::format {

// Which functions of the rank still explain all values of a slot that were seen so far. Every one
// of them is fixed by the first rank's value (`first`) and, for affine ones, the slope, so nothing
// else needs to be kept.
struct SlotState {
  enum : uint8_t {
    kAffineAlive = 1,    // slope * (me - first me) + first
    kSlopeFixed = 2,     // two different `me` were seen
    kModAlive = 4,       // (me + a) mod size with 0 <= a
    kModBelowAlive = 8,  // the same with a < 0: where communicators differ in size, not the same
    kXorAlive = 16,      // me xor a
    kAllAlive = 1 | 4 | 8 | 16,
  };
  uint8_t alive = kAllAlive;  // 0: all values are in `values`
  int64_t first = 0;
  int64_t slope = 0;
  base::NestedRuns values;  // by position in the group; only when nothing is alive
};

struct PartialSignature {
  uint32_t shape = 0;            // index into PartialTrace::shapes
  std::vector<int64_t> values;   // group of one rank: its slot values
  std::vector<SlotState> slots;  // group of several ranks
  DurationStats duration;
};

class SignatureList {
 public:
  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  // By value: the list has no PartialSignature to point at.
  PartialSignature operator[](size_t terminal) const;
  uint32_t shape(size_t terminal) const;

  void push_back(const PartialSignature& s);
  void reserve(size_t signatures, size_t bytes) { bytes_.reserve(signatures, bytes); }

  // The list as bytes are those of its members, one behind the other, each in this form.
  static void write(const PartialSignature& s, base::ByteWriter& out);
  // Not more than `max_values` values in a slot; fails the reader.
  static PartialSignature read(base::ByteReader& in, uint64_t max_values);
  void write(base::ByteWriter& out) const;

 private:
  ByteStrings bytes_;
};

}  // namespace refrain::format
