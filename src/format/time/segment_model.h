// The probabilities by which reduced times are coded. One code for both directions, as in model.h.
// docs/format.md, Reduced times, is the normative text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

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

  template <class Coder>
  bool bit(Coder& coder, const Contexts& contexts, bool value) {
    return slots_.bit(coder, contexts, 1, value);
  }
  // Of `bits` bits.
  template <class Coder>
  uint32_t tree(Coder& coder, const Contexts& contexts, unsigned bits, uint32_t value) {
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
    const int64_t most = usual_ / 4 + 1;
    length_ += std::clamp(off / 4, -most, most);
    usual_ += size > usual_ ? usual_ / 8 + 1 : -(usual_ / 8);
  }

 private:
  int64_t length_ = 0;
  int64_t usual_ = 1;  // how far off, at least 1
};

// The segments of a block, one after the other: which representative, and how long. New ones are
// expected in the order of their numbers; of those that are rare nothing is remembered, because
// what that takes in the tables is lost to the others.
class SegmentSequence {
 public:
  SegmentSequence(size_t representatives, uint32_t step_ns)
      : step_ns_(static_cast<int64_t>(step_ns)),
        bits_(static_cast<unsigned>(std::bit_width(representatives - 1))),
        known_(representatives) {}

  size_t memory_bytes() const { return model_.memory_bytes() + known_.capacity() * sizeof(Known); }

  // A block of so many calls. `first_new`: the number that the first new one is expected to have.
  template <class Coder>
  void begin(Coder& coder, size_t calls, uint32_t first_new) {
    model_.reset(calls);
    ++block_;
    before_ = earlier_ = kRare;
    news_ = 0;
    next_new_ = static_cast<uint32_t>(coder.raw(bits_, first_new));
  }
  // The next segment; its length in steps. False when it cannot be.
  template <class Coder>
  bool next(Coder& coder, std::span<const Representative> representatives, uint32_t* id,
            int64_t* length) {
    const uint32_t of_new = time_hash(0xe0000000u + news_);
    const bool is_new =
        model_.bit(coder, {time_hash(of_new + before_), of_new, time_hash(3)}, *id == next_new_);
    news_ = (news_ << 1 | static_cast<uint32_t>(is_new)) & 7;
    const uint32_t after = time_hash(0x60000000u + before_);
    *id = is_new ? next_new_++
                 : model_.tree(coder, {time_hash(after + 0x20000u + earlier_), after, time_hash(9)},
                               bits_, *id);
    if (*id >= known_.size()) return false;
    Known& known = known_[*id];
    if (known.block != block_)
      known = {block_, 0, ExpectedLength(representatives[*id].length_ns() / step_ns_)};
    const uint32_t all = time_hash(4);
    const uint32_t own = known.seen < kOften ? all : time_hash(0xa0000000u + *id);
    *length = known.length.length() +
              model_.signed_number(coder, {own, all, all}, *length - known.length.length());
    known.length.saw(*length);
    earlier_ = before_;
    before_ = known.seen < kOften ? kRare : *id;
    known.seen += known.seen < kOften ? 1 : 0;
    return model_.ok();
  }

 private:
  static constexpr uint32_t kOften = 2;
  static constexpr uint32_t kRare = UINT32_MAX;
  struct Known {
    uint32_t block = 0, seen = 0;
    ExpectedLength length;
  };

  int64_t step_ns_;
  unsigned bits_;
  SegmentModel model_;
  std::vector<Known> known_;  // of the block, by representative
  uint32_t block_ = 0;
  uint32_t before_ = kRare, earlier_ = kRare;
  uint32_t news_ = 0;  // which of the last three were new
  uint32_t next_new_ = 0;
};

// What is expected of the numbers of a representative; `like` is the one before with the same
// context and number of calls, if there is one, and `likes` how many there are.
class RepresentativeModel {
 public:
  static SegmentModel::Contexts of_stamp(const Representative& r, uint64_t calls,
                                         const Representative* like, uint32_t likes) {
    const auto k = static_cast<uint32_t>(r.stamps.size());
    const uint32_t kind = time_hash(8 + k % 2);
    const uint32_t top =
        like == nullptr ? 0x100u + (k < 2 ? 0 : top_of(r, k - 2)) : top_of(*like, k);
    const uint32_t of_top = time_hash(kind + 0x20000u + top);
    if (likes < kOften) return {of_top, of_top, kind};
    const uint32_t place = time_hash(0x70000000u + r.context) + static_cast<uint32_t>(calls);
    return {time_hash(time_hash(place) + k), of_top, kind};
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

 private:
  static constexpr uint32_t kOften = 3;
  // How large the number of stamp k is.
  static uint32_t top_of(const Representative& r, size_t k) {
    const int64_t step = r.stamps[k] - (k == 0 ? 0 : r.stamps[k - 1]);
    return split_exact(k % 2 == 0 ? base::zigzag(step) : static_cast<uint64_t>(step)).top;
  }
};

}  // namespace refrain::format
