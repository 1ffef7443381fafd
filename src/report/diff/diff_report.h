// analysis::diff::Diff as text, JSON, JUnit XML or HTML.
#pragma once

#include <string>
#include <vector>

#include "analysis/diff/diff.h"
#include "analysis/diff/threshold.h"
#include "reader/symbols.h"
#include "refrain/trace.h"

namespace refrain::report {

struct DiffView {
  const Trace& before;
  const Trace& after;
  const analysis::diff::Diff& diff;
  reader::Symbols& symbols;  // names the call sites
  std::vector<analysis::diff::Verdict> verdicts;
  size_t top = 20;  // rows of each table for people; 0: all
};

// One test of a JUnit file that is no threshold: what `refrain check` found in the file itself.
struct JunitCase {
  std::string name;
  std::vector<std::string> failures;
};

// Totals and what changed, worst first.
std::string diff_text(const DiffView& view);
// One object with everything, unchanged calls included.
std::string diff_json(const DiffView& view);
// A test for each threshold, and one for each kind of difference, which only fails where a
// threshold says so; `more` come first.
std::string diff_junit(const DiffView& view, const std::vector<JunitCase>& more = {});
// A page without scripts and without anything from elsewhere.
std::string diff_html(const DiffView& view);

// "bytes>+5%: 1.17 MiB -> 2.34 MiB (+100.0 %)".
std::string verdict_text(const analysis::diff::Verdict& verdict);
// Whether the text of the call's path, in one of the runs, contains `where`.
bool is_at(const DiffView& view, const analysis::diff::CallChange& call, const std::string& where);

}  // namespace refrain::report
