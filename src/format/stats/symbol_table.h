// Symbols with adaptive probabilities, for large amounts of numbers: a symbol takes about forty
// instructions, while each of its bits would take a hundred with mixed_bits.h. Probabilities change
// at the 16th symbol, the 32nd and so on, later at every 1024th, so that nothing is added up for a
// single one. docs/format.md, Durations.
//
// One code for both directions: Coder is a RangeEncoder, which returns what it is given, or a
// RangeDecoder, which returns what it reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace refrain::format {

class SymbolTable {
 public:
  explicit SymbolTable(uint32_t symbols) : counts_(symbols, 1), begins_(symbols + 1) { share(); }

  template <class Coder>
  uint32_t code(Coder& coder, uint32_t symbol) {
    const uint32_t at = coder.position(kBits, begins_[symbol]);
    if constexpr (Coder::kReads)
      symbol = static_cast<uint32_t>(std::upper_bound(begins_.begin(), begins_.end() - 1, at) -
                                     begins_.begin() - 1);
    coder.part(kBits, begins_[symbol], begins_[symbol + 1] - begins_[symbol]);
    counts_[symbol] += kOnce;
    if (--until_share_ == 0) share();
    return symbol;
  }

 private:
  static constexpr unsigned kBits = 15;
  static constexpr uint32_t kWhole = 1u << kBits, kOnce = 32;
  static constexpr uint32_t kFirst = 16, kMostBetween = 1024, kMostCount = 1u << 20;

  // What each has of the whole: one part at least, and the others by how often it was there.
  void share() {
    uint64_t all = 0;
    for (const uint32_t count : counts_) all += count;
    const auto symbols = static_cast<uint32_t>(counts_.size());
    const uint64_t each = (uint64_t{kWhole - symbols} << 32) / all;
    uint64_t before = 0;
    for (uint32_t i = 0; i < symbols; ++i) {
      begins_[i] = i + static_cast<uint32_t>(before * each >> 32);
      before += counts_[i];
    }
    begins_[symbols] = kWhole;
    if (all > kMostCount)
      for (uint32_t& count : counts_) count = (count + 1) / 2;
    until_share_ = next_;
    next_ = std::min(2 * next_, kMostBetween);
  }

  std::vector<uint32_t> counts_;
  std::vector<uint32_t> begins_;  // ascending; one more than there are symbols
  uint32_t until_share_ = 0, next_ = kFirst;
};

}  // namespace refrain::format
