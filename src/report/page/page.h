// The page of a run: everything that `refrain report` shows, as data, and as one HTML file.
//
//   report::PageData data = report::page_data(trace, symbols, options);
//   std::string html = report::page_html(data);
//
// The page is a program in JavaScript (web/) with the data beside it: JSON for what is small, and
// columns of numbers (columns.h) for the rest, compressed together. What is in it comes from
// sections (section.h). The results are those of `profile`, `matrix` and `waits`; the browser only
// adds them up.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reader/symbols.h"
#include "refrain/trace.h"
#include "report/page/columns.h"

namespace refrain::report {

struct PageOptions {
  uint64_t waits_memory_bytes = uint64_t{256} << 20;
  size_t most_explained = 3000;                // waits that are linked to their calls
  size_t most_details = 400'000;               // parameters of a call on a rank, in all
  size_t most_pairs = 150'000;                 // of the matrix; with more, neighbours share a cell
  size_t most_symbols = 400'000;               // of grammars
  size_t most_rank_cells = 16384;              // of a density map
  uint64_t most_untimed_calls = 20'000'000;    // that are read for messages alone
  uint64_t most_iteration_calls = 20'000'000;  // that are read for iterations
  size_t most_iterations = 20'000;             // that are shown of one loop
  size_t most_behaviour_segments = 100'000;
  size_t most_wait_rows = 64, most_wait_columns = 240;
  bool fold_names = true;  // in the browser: the data has them in full
  std::function<void(std::string_view step)> progress;
  std::function<void(uint64_t done, uint64_t all)> timeline_progress;  // rows
};

struct PageData {
  nlohmann::ordered_json json;
  Columns columns;
};

// Asks every question once. Cannot fail: what a trace does not tell is missing.
PageData page_data(const Trace& trace, reader::Symbols& symbols, const PageOptions& options);

// Pages can be made only where the build could bundle their program; else why it could not.
std::string_view why_no_pages();

// A whole HTML file. `title` may hold any bytes.
std::string page_html(const PageData& data, std::string_view title);
// The data for programs: its JSON, with the columns as lists under "columns".
std::string page_json(const PageData& data);

}  // namespace refrain::report
