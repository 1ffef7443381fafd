// How many parameters of all calls a clustered trace still has as they were (ACURDION, table II).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "refrain/trace.h"

namespace refrain::analysis::clusters {

enum class Compared : uint8_t { kCount, kLoop, kCalls, kSource, kDestination, kTag };
inline constexpr size_t kCompared = 6;
std::string_view to_string(Compared what);  // "COUNT", "LOOP", "EVENTS", ...

// Of each: how many there are in the full trace, and how many of these are equal, call by call, in
// the other. LOOP counts ranks whose loops go round as often. Where both traces have the same
// grammar signatures are compared, else calls one by one, up to the end of the shorter sequence.
struct Matching {
  std::array<uint64_t, kCompared> all{}, equal{};
  double share(Compared what) const {
    const auto i = static_cast<size_t>(what);
    return all[i] == 0 ? 1 : static_cast<double>(equal[i]) / static_cast<double>(all[i]);
  }
};
// Of traces with the same ranks.
Result<Matching> matching(const Trace& full, const Trace& clustered);

}  // namespace refrain::analysis::clusters
