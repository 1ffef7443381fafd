// What a plug-in's process and its host say to each other through two pipes: a frame is this head
// and then that many bytes. Both are this program on one machine, but a plug-in may have damaged
// its process: the host believes no length beyond kMostFrameBytes.
#pragma once

#include <cstdint>

namespace refrain::online {

enum class FrameKind : uint32_t {
  // To the plug-in: `job`, a number for each, and bytes.
  kLook = 1,   // the job as JSON
  kEnded = 2,  // the path of its trace
  // From it.
  kReady = 16,     // it can be used; job: the version of its interface
  kNoPlugin = 17,  // it cannot: why
  kVersion = 18,   // it is of another version; job: of which
  kDone = 19,      // the last look or end was worked on
  kAnswer = 20,    // for a job, text
  kFailed = 21,    // an operation threw: what
};

struct FrameHead {
  FrameKind kind{};
  uint32_t bytes = 0;
  uint64_t job = 0;
};

inline constexpr uint32_t kMostAnswerBytes = 64 << 10;
inline constexpr uint32_t kMostLookBytes = 64 << 20;

}  // namespace refrain::online
