// Reads sizes as options take them: "64M" is 64 * 2^20 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace refrain::base {

// Digits, then nothing or one of K, M, G, T (powers of 1024; small letters too); before such a
// letter a point and up to six digits more ("1.5M"). nullopt: anything else, or more than 64 bits.
inline std::optional<uint64_t> parse_bytes(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    constexpr std::string_view kUnits = "KMGTkmgt";
    const size_t unit = kUnits.find(text.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit % 4) + 1);
      text.remove_suffix(1);
    }
  }
  constexpr size_t kMaxFraction = 6;
  const size_t point = text.find('.');
  const std::string_view fraction =
      point != std::string_view::npos ? text.substr(point + 1) : std::string_view();
  if (point != std::string_view::npos) {
    if (shift == 0 || fraction.empty() || fraction.size() > kMaxFraction) return std::nullopt;
    text = text.substr(0, point);
  }
  if (text.empty()) return std::nullopt;
  uint64_t n = 0, part = 0, parts = 1;
  for (const char c : text) {
    if (c < '0' || c > '9' || __builtin_mul_overflow(n, uint64_t{10}, &n) ||
        __builtin_add_overflow(n, static_cast<uint64_t>(c - '0'), &n))
      return std::nullopt;
  }
  for (const char c : fraction) {
    if (c < '0' || c > '9') return std::nullopt;
    part = 10 * part + static_cast<uint64_t>(c - '0');
    parts *= 10;
  }
  if (shift > 0 && n >> (64 - shift) != 0) return std::nullopt;
  return (n << shift) + (part << shift) / parts;
}

}  // namespace refrain::base
