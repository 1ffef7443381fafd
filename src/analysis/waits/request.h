// The state of a request between the call that creates it and the call that completes it.
#pragma once

#include <cstdint>

#include "analysis/waits/vocabulary.h"

namespace refrain::analysis::waits {

using MessageId = events::ChannelQueues::Name;
inline constexpr MessageId kNoMessage = events::ChannelQueues::kNone;

// The n-th collective of a communicator. `stream` tells its ordinary ones (0) from those of a
// persistent request (1 + how many such requests were made before), of a window and of a file, from
// those that open files, and from those that make it.
struct InstanceKey {
  CommKey comm = kNoComm;
  uint64_t stream = 0, number = 0;
  bool operator==(const InstanceKey&) const = default;
};
inline constexpr uint64_t kWindowStreams = uint64_t{1} << 32;
inline constexpr uint64_t kFileStreams = uint64_t{1} << 33;
inline constexpr uint64_t kOpenStream = UINT64_MAX, kMakerStream = UINT64_MAX - 1;

// A signature that makes a request makes one at a time: a second request that is open meanwhile has
// a signature of its own. So there is one of these for each, beside what it does (OpState::made).
struct Request {
  MessageId send = kNoMessage, receive = kNoMessage;
  bool exists = false;  // made and not yet gone
  bool is_active = false, is_collective = false;
  bool is_unknown = false;  // its receive was counted as one of which the trace does not tell
  InstanceKey instance;
  uint64_t persistent_stream = 0, starts = 0;
  uint32_t poll = 0;  // of the location that asked for it in vain; 0: none did
};

}  // namespace refrain::analysis::waits
