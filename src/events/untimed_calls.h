// The calls of a trace without times, with the number of each on its location instead: the sweep
// matches messages by the order of calls, which it keeps. Waits that it finds mean nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "events/call_source.h"

namespace refrain::events {

class UntimedCalls : public CallSource {
 public:
  bool has_times() override { return true; }
  std::unique_ptr<CallStream> open(RankReader& reader, uint32_t thread) override;
};

}  // namespace refrain::events
