// The calls of synthetic ranks.
#pragma once

#include <cstdint>

namespace refrain::format::testing {

// Ids stand for functions of the table; tests need no more than that they differ.
enum Call : uint32_t {
  kInit = 1,
  kFinalize,
  kCommRank,
  kCommSize,
  kCartCreate,
  kCartCoords,
  kCartShift,
  kIrecv,
  kIsend,
  kWaitall,
  kAllreduce,
  kBarrier,
  kCommFree,
  kGetProcessorName,
  kCommSplit,
  kSend,
  kRecv,
  kSendrecv,
  kBcast,
  kAlltoallv,
  kTypeSubarray,
  kWrite,
  kWait
};

}  // namespace refrain::format::testing
