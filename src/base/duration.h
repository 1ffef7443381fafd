// Reads times as options take them: "1.5ms" is 1 500 000 nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace refrain::base {

// Digits, perhaps a point and more digits, perhaps an exponent (1e9), perhaps a space, and a unit:
// ns, us, ms, s, min or h. Without a unit it counts `unit_ns` nanoseconds. Rounded to the nearest
// nanosecond. nullopt: anything else, or more than 64 bits.
std::optional<uint64_t> parse_duration(std::string_view text, uint64_t unit_ns = 1);

}  // namespace refrain::base
