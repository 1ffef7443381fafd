// Where a message goes: MPI matches the n-th send of a channel with its n-th receive.
#pragma once

#include <cstddef>
#include <cstdint>

#include "events/comms.h"

namespace refrain::events {

struct ChannelKey {
  CommKey comm = kNoComm;
  Rank source = 0, dest = 0;
  int64_t tag = 0;
  bool operator==(const ChannelKey&) const = default;
};

struct ChannelHash {
  size_t operator()(const ChannelKey& k) const {
    uint64_t h = k.comm;
    for (const int64_t v : {k.source, k.dest, k.tag})
      h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15U, h ^= h >> 29;
    return h;
  }
};

}  // namespace refrain::events
