// LookAhead: a location's calls in order, each wildcard receive with the message that it took.
//
// Which message a nonblocking wildcard receive took stands at the call that completes it, but
// messages are matched in the order in which receives were posted. So calls are read ahead until
// the receive at the front is known: no call waits here unless a wildcard receive is open, and then
// at most kMost of them.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/waits/op.h"
#include "analysis/waits/timed_calls.h"

namespace refrain::analysis::waits {

struct StagedCall {
  TimedCall call;
  const Op* op = nullptr;
  std::vector<RequestUse> taken;  // what the receives that this call posts took
  uint32_t open = 0;              // ... of how many that is not known yet
};

class LookAhead {
 public:
  static constexpr size_t kMost = 1 << 16;

  LookAhead(std::unique_ptr<CallStream> calls, Decoder& decoder)
      : calls_(std::move(calls)), decoder_(decoder) {}

  // False after the last call.
  bool next(StagedCall& out);

 private:
  bool read();
  void expect(StagedCall& staged, SignatureId request, const MessageEnd& end);

  std::unique_ptr<CallStream> calls_;
  Decoder& decoder_;
  std::deque<StagedCall> staged_;
  uint64_t first_ = 0;                                  // number of the front
  std::unordered_map<SignatureId, uint64_t> expected_;  // by request: who posted it
};

}  // namespace refrain::analysis::waits
