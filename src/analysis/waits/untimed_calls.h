// The calls of a trace without times, with the number of each on its location instead: the sweep
// matches messages by the order of calls, which it keeps. Waits that it finds mean nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/waits/timed_calls.h"

namespace refrain::analysis::waits {

class UntimedCalls : public CallSource {
 public:
  bool has_times() override { return true; }
  std::unique_ptr<CallStream> open(RankReader& reader, uint32_t thread) override;
};

}  // namespace refrain::analysis::waits
