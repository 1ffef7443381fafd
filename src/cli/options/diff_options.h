// What `refrain diff` and `refrain check --baseline` have in common.
#pragma once

#include <string>
#include <vector>

#include "cli/options/command.h"
#include "cli/options/display_options.h"
#include "refrain/trace.h"
#include "report/diff/diff_report.h"

namespace refrain::cli {

struct DiffOptions {
  std::string format = "text";  // text, json, junit or html
  std::string output;           // empty: stdout
  std::string before;           // text to put in front of the answer
  std::vector<std::string> fail_if;
  std::vector<std::string> repeats;  // further traces of good runs, for the noise of times
  size_t top = 20;
  DisplayOptions display;
  bool waits = true;
  bool force = false;
};

// --fail-if, -o, --force, --top, --no-waits, --names and --color.
void define_diff_options(Command& verb, DiffOptions& options);

// The thresholds asked for; none: `otherwise`.
Result<std::vector<analysis::diff::Threshold>> thresholds_of(
    const DiffOptions& options, std::vector<analysis::diff::Threshold> otherwise);

// Refuses an output that is there, or one of the traces `read` or of `repeats`.
Status check_output(const DiffOptions& options, std::vector<std::string> read);

// Compares, judges, writes the answer. `more`: cases in front of those of the JUnit format.
// Returns 3, with a line that names what was crossed; 4 when one of the traces is incomplete; else
// 0 or the status of what went wrong.
int compare(const Trace& before, const Trace& after, const DiffOptions& options,
            const std::vector<analysis::diff::Threshold>& thresholds,
            const std::vector<report::JunitCase>& more = {});

}  // namespace refrain::cli
