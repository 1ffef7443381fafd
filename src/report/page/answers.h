// Results of the sections of the page, shared among the sections.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "analysis/matrix.h"
#include "analysis/message_list.h"
#include "analysis/profile/profile.h"
#include "analysis/rank_loads.h"
#include "analysis/timeline.h"
#include "analysis/wait_table.h"
#include "analysis/waits/wait_states.h"
#include "events/cartesian.h"
#include "events/open_ends.h"

namespace refrain::report {

struct PageAnswers {
  analysis::Profile profile;
  analysis::Matrix matrix;
  std::optional<analysis::waits::WaitStates> waits;
  std::string no_waits;  // why there are none
  analysis::Timeline timeline;
  analysis::RankLoads loads;
  std::optional<events::CartesianGrid> grid;
  nlohmann::ordered_json details;        // by group: GroupDetails
  std::vector<uint64_t> detailed_ranks;  // by group: of how many of its ranks
  std::vector<bool> kept_grammars;       // by grammar: small enough for the page
  std::optional<events::OpenEnds> open_ends;
  analysis::MessageList messages;   // that cannot be counted, and the latest ones
  bool has_messages = true;         // false: too many calls without times to look for them
  uint64_t unknown_receives = 0;    // from anybody, and the trace does not tell from whom
  uint64_t unordered_messages = 0;  // of ranks with several threads and no times
  analysis::WaitTable wait_table;
  std::optional<analysis::Iterations> iterations;
  std::string no_iterations;  // why there are none
};

}  // namespace refrain::report
