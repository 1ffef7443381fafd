#include "analysis/replays/replays.h"

namespace refrain::analysis {

std::string_view to_string(Allowed allowed) {
  static constexpr std::string_view kNames[kAllowedCount] = {
      "buffers", "functions", "names",  "infos",  "wildcards", "requests", "forms",
      "answers", "left_out",  "unseen", "places", "cut",       "numbers",  "replaced"};
  return kNames[static_cast<size_t>(allowed)];
}

}  // namespace refrain::analysis
