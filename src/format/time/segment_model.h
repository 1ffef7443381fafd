// What encoder and decoder of reduced times expect of the next number. One code for both
// directions, as in model.h. docs/format.md, Reduced times, is the normative text.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "format/time/model.h"
#include "format/time/segments.h"

namespace refrain::format {

class SegmentModel {
 public:
  using Contexts = std::array<uint32_t, 3>;  // from the most to the least special
  static constexpr unsigned kModelledBits = 3;

  // For so many calls at most.
  void reset(size_t calls) {
    slots_.reset(calls);
    ok_ = true;
  }
  size_t memory_bytes() const { return slots_.memory_bytes(); }
  // Whether everything that was read could be a number.
  bool ok() const { return ok_; }

  // Below 2^62.
  template <class Coder>
  uint64_t number(Coder& coder, const Contexts& contexts, uint64_t value) {
    const TopAndRest parts = split_exact(value);
    uint32_t node = 1;
    for (unsigned i = TimeModel::kExactTopBits; i-- > 0;)
      node = node * 2 +
             static_cast<uint32_t>(slots_.bit(coder, contexts, node, ((parts.top >> i) & 1) != 0));
    const uint32_t top = node - (1u << TimeModel::kExactTopBits);
    if (top == 0 || top > TimeModel::kMostExactTop) return fail();
    unsigned bits = 0;
    const uint64_t base = exact_base(top, bits);
    const std::array<uint32_t, 2> of_rest = {time_hash(contexts[0] + 0x10000u + top),
                                             time_hash(contexts[2] + 0x10000u + top)};
    uint64_t rest = 0;
    node = 1;
    for (unsigned i = 0; i < kModelledBits && bits > 0; ++i) {
      --bits;
      const bool bit = slots_.bit(coder, of_rest, node, ((parts.rest >> bits) & 1) != 0);
      node = node * 2 + static_cast<uint32_t>(bit);
      rest = rest << 1 | static_cast<uint64_t>(bit);
    }
    if (bits == 0) return base + rest;
    return base + (rest << bits | coder.raw(bits, parts.rest & ((uint64_t{1} << bits) - 1)));
  }
  // Of less than 2^61 either way.
  template <class Coder>
  int64_t signed_number(Coder& coder, const Contexts& contexts, int64_t value) {
    return base::unzigzag(number(coder, contexts, base::zigzag(value)));
  }

  // A representative's number, of `bits` bits; behind `before` and, before that, `earlier`.
  template <class Coder>
  uint32_t id(Coder& coder, unsigned bits, uint32_t before, uint32_t earlier, uint32_t value) {
    const uint32_t after = time_hash(0x60000000u + before);
    const Contexts contexts = {time_hash(after + 0x20000u + earlier), after, time_hash(3)};
    uint32_t node = 1;
    for (unsigned i = bits; i-- > 0;)
      node = node * 2 +
             static_cast<uint32_t>(slots_.bit(coder, contexts, node, ((value >> i) & 1) != 0));
    return node - (1u << bits);
  }

 private:
  uint64_t fail() {
    ok_ = false;
    return 0;
  }

  TimeSlots slots_;
  bool ok_ = true;
};

// The length that the next segment of a representative is expected to have, in steps: at first its
// own; then what comes moves it, the less the further it is from what usually comes.
class ExpectedLength {
 public:
  ExpectedLength() = default;
  explicit ExpectedLength(int64_t length) : length_(length), usual_(length / 32 + 1) {}

  int64_t length() const { return length_; }
  void saw(int64_t length) {
    const int64_t off = length - length_;
    const int64_t size = off < 0 ? -off : off;
    length_ += std::clamp(off / 4, -usual_, usual_);
    usual_ += (std::min(size, 4 * usual_) - usual_) / 4 + (size > usual_ ? 1 : 0);
  }
  static SegmentModel::Contexts contexts(uint32_t id) {
    const uint32_t all = time_hash(4);
    return {time_hash(0xa0000000u + id), all, all};
  }

 private:
  int64_t length_ = 0;
  int64_t usual_ = 1;  // how far off, at least 1
};

// What is expected of the numbers of a representative; `like` is the one before with the same
// context and number of calls.
class RepresentativeModel {
 public:
  // How large the number is in a representative like it.
  static uint32_t top_of(const Representative* like, size_t k) {
    if (like == nullptr) return 0;
    const int64_t before = k == 0 ? 0 : like->stamps[k - 1];
    return split_exact(base::zigzag(like->stamps[k] - before)).top;
  }
  static SegmentModel::Contexts of_stamp(const Representative& r, uint64_t calls,
                                         const Representative* like, size_t k) {
    const uint32_t kind = 8 + static_cast<uint32_t>(k % 2);
    const uint32_t place = time_hash(0x70000000u + r.context) + static_cast<uint32_t>(calls);
    return {time_hash(time_hash(place) + static_cast<uint32_t>(k)),
            time_hash(time_hash(kind) + 0x20000u + top_of(like, k)), time_hash(kind)};
  }
  static SegmentModel::Contexts of_context(uint32_t before) {
    return {time_hash(0xb0000000u + before), time_hash(5), time_hash(5)};
  }
  static SegmentModel::Contexts of_calls(uint32_t context) {
    return {time_hash(0xc0000000u + context), time_hash(6), time_hash(6)};
  }
  static SegmentModel::Contexts of_elastic(uint32_t context) {
    return {time_hash(0xd0000000u + context), time_hash(7), time_hash(7)};
  }
};

}  // namespace refrain::format
