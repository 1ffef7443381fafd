// SizeBounds: the sizes of messages that a recording keeps, from --min-bytes and --max-bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace refrain::mpi {

struct SizeBounds {
  uint64_t min = 0, max = UINT64_MAX;  // both belong to what is kept

  bool keeps(uint64_t bytes) const { return min <= bytes && bytes <= max; }
  bool leaves_out() const { return min > 0 || max < UINT64_MAX; }
  // Of a message of which no more is known than that it has more bytes than that.
  bool keeps_all_beyond(uint64_t bytes) const { return bytes + 1 >= min && max == UINT64_MAX; }
  bool keeps_none_beyond(uint64_t bytes) const { return bytes >= max; }

  // Sizes as base::parse_bytes() reads them; empty: no such option. Fails with one line that names
  // the word.
  static base::Result<SizeBounds> parse(std::string_view min, std::string_view max);
};

}  // namespace refrain::mpi
