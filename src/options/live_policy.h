// What a rank does when the analyser of its job is late with times of single calls (`record
// --live-policy`): one parser for the command line and the recorder. Calls and their statistics are
// never in question: the spool has them in few bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace refrain::options {

// Late: so many calls of a rank whose times are in the spool have not been read.
inline constexpr uint64_t kMostCallsBehind = uint64_t{1} << 21;
inline constexpr uint64_t kMostWaitMs = 60'000;

struct LivePolicy {
  enum class Kind : uint8_t { kSpool, kDrop, kBlock };
  bool is_good = true;
  Kind kind = Kind::kSpool;
  uint64_t wait_ms = 0;  // kBlock: for one block of times
};

// Not good: no such policy; it is kSpool then.
inline LivePolicy parse_live_policy(const char* text) {
  constexpr const char* kBlock = "block:";
  if (std::strcmp(text, "spool") == 0) return {};
  if (std::strcmp(text, "drop") == 0) return {true, LivePolicy::Kind::kDrop, 0};
  if (std::strncmp(text, kBlock, std::strlen(kBlock)) != 0) return {false, {}, 0};
  uint64_t ms = 0;
  const char* at = text + std::strlen(kBlock);
  for (; *at >= '0' && *at <= '9' && ms <= kMostWaitMs; ++at)
    ms = 10 * ms + static_cast<uint64_t>(*at - '0');
  if (*at != '\0' || ms == 0 || ms > kMostWaitMs) return {false, {}, 0};
  return {true, LivePolicy::Kind::kBlock, ms};
}

}  // namespace refrain::options
