// refrain live feed: jobs of this host to somebody elsewhere, through a broker; and what feed and
// `live serve --from` need to reach it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/options/command.h"
#include "cli/output/common.h"
#include "online/remote/broker.h"

namespace refrain::cli {

struct BrokerWords {
  online::BrokerOptions options;  // but for the URL
  uint64_t most_job_bytes = online::RemoteOptions().most_job_bytes;
  std::optional<uint16_t> listen;  // a broker of our own
  void add_to(Command& verb);
};

struct FeedOptions {
  std::string folder;  // of `record --live-dir`
  online::BrokerOptions broker;
  double interval_s = 1;
};

// Returns when a signal asks for it, and where it cannot begin: the exit status.
int live_feed(const FeedOptions& options);

}  // namespace refrain::cli
