// The calls of a trace without times, with the number of each call on its location in place of its
// time. This keeps the order of calls, so the sweep matches messages correctly. The waits that it
// finds are meaningless.
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
