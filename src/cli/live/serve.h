// refrain live serve: a page of jobs that come and go, and what they leave when they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/live/feed.h"
#include "online/ended_jobs.h"
#include "online/plugins/plugin_host.h"

namespace refrain::cli {

struct ServeOptions {
  std::string folder;  // of `record --live-dir`; empty: a broker
  std::string url;     // of the broker; empty: one of our own
  BrokerWords broker;
  online::LeaveOptions leave;
  online::PluginOptions plugins;
  std::string output = "live";  // for what jobs leave
  std::optional<uint16_t> port;
  double interval_s = 1, stuck_after_s = 10;
  size_t top = 8;
  uint32_t viewers = 32;
};

// Returns when a signal asks for it, and where it cannot begin: the exit status.
int live_serve(const ServeOptions& options);

}  // namespace refrain::cli
