// refrain live analyze: a recorded run as if it ran now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "online/ended_jobs.h"
#include "online/plugins/plugin_host.h"

namespace refrain::cli {

struct AnalyzeOptions {
  std::string from;  // a trace
  online::LeaveOptions leave;
  online::PluginOptions plugins;
  std::string output = "live";  // for what the job leaves
  double speed = 1;             // times as fast as the run
  std::optional<uint16_t> port;
  double interval_s = 1, stuck_after_s = 10;
  size_t top = 8;
  uint32_t viewers = 32;
};

// Returns when the run is over: the exit status.
int live_analyze(const AnalyzeOptions& options);

}  // namespace refrain::cli
