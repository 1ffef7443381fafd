// The page of a run: everything that `refrain report` shows, as data, and as one HTML file.
//
//   auto answers = report::page_answers(trace, options);
//   report::PageData data = report::page_data({trace, answers, symbols});
//   std::string html = report::page_html(data);
//
// The page is a program in JavaScript (web/) with the data beside it: JSON for what is small, and
// columns of numbers (columns.h) for the rest, compressed together. The answers are those of
// `profile`, `matrix` and `waits`; nothing is counted again in the browser but sums of them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "analysis/matrix.h"
#include "analysis/message_list.h"
#include "analysis/profile.h"
#include "analysis/rank_loads.h"
#include "analysis/timeline.h"
#include "analysis/wait_table.h"
#include "analysis/waits/wait_states.h"
#include "events/cartesian.h"
#include "events/open_ends.h"
#include "reader/symbols.h"
#include "refrain/trace.h"
#include "report/page/columns.h"

namespace refrain::report {

struct PageOptions {
  analysis::TimelineOptions timeline;
  uint64_t waits_memory_bytes = uint64_t{256} << 20;
  size_t most_explained = 3000;    // waits that are linked to their calls
  size_t most_details = 400'000;   // parameters of a call on a rank, in all
  size_t most_pairs = 150'000;     // of the matrix; with more, neighbours share a cell
  size_t most_symbols = 400'000;   // of grammars
  size_t most_rank_cells = 16384;  // of a density map
  analysis::MessageListOptions messages;
  uint64_t most_untimed_calls = 20'000'000;    // that are read for messages alone
  uint64_t most_iteration_calls = 20'000'000;  // that are read for iterations
  size_t most_iterations = 20'000;             // that are shown of one loop
  size_t most_behaviour_segments = 100'000;
  size_t most_wait_rows = 64, most_wait_columns = 240;
  bool fold_names = true;  // in the browser: the data has them in full
  std::function<void(std::string_view step)> progress;
};

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

// Asks every question once. Cannot fail: what a trace does not tell is missing.
PageAnswers page_answers(const Trace& trace, const PageOptions& options);

struct PageData {
  nlohmann::ordered_json json;
  Columns columns;
};

struct PageView {
  const Trace& trace;
  const PageAnswers& answers;
  reader::Symbols& symbols;
  const PageOptions& options;
};

PageData page_data(const PageView& view);

// Pages can be made only where the build could bundle their program; else why it could not.
std::string_view why_no_pages();

// A whole HTML file. `title` may hold any bytes.
std::string page_html(const PageData& data, std::string_view title);
// The data for programs: its JSON, with the columns as lists under "columns".
std::string page_json(const PageData& data);

// --- parts of page_data(), one a file ---
void put_timeline(const PageView& view, PageData& out);
void put_messages(const PageView& view, PageData& out);
void put_matrix(const PageView& view, PageData& out);
void put_density(const PageView& view, PageData& out);
void put_waits(const PageView& view, PageData& out);
void put_verdict(const PageView& view, PageData& out);
void put_iterations(const PageView& view, PageData& out);

// The factors of an efficiency that are known, the product first: [{"name", "title", "value",
// "caption"}]; a value is a share of 1, a caption says what was measured.
nlohmann::ordered_json factors(const nlohmann::ordered_json& efficiency);

}  // namespace refrain::report
