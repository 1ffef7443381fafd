// Options of `refrain live` that the form of it that was asked for has no use for.
#pragma once

#include <cstdint>

#include "cli/options/command.h"

namespace refrain::cli {

// watch; serve --dir, --from, --listen; feed; analyze --from, and in a job.
enum class LiveForm : uint8_t {
  kWatch,
  kServeFolder,
  kServeBroker,
  kServeOwnBroker,
  kFeed,
  kRecorded,
  kInJob
};

// A usage error that names the first one that was given. While the verb's callback runs.
base::Status check_useless(const Command& verb, LiveForm form);

}  // namespace refrain::cli
