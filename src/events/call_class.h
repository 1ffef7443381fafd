// The class of a call, one of seven, which determines its colour in pictures of a run.
#pragma once

#include <cstdint>
#include <string_view>

#include "refrain/ids.h"

namespace refrain::events {

enum class CallClass : uint8_t {
  kNone = 0,    // no call: the program itself
  kSend,        // hands in a message
  kReceive,     // asks for one, or looks for it
  kCompletion,  // waits for requests, or tests them
  kCollective,
  kOneSided,
  kFile,
  kOther,
};
inline constexpr int kCallClasses = 8;

CallClass class_of(CallId call);
// "send", "receive", "completion", ...; "none".
std::string_view name_of(CallClass c);

}  // namespace refrain::events
