// JUnit XML, in the form that GitHub's, GitLab's and Jenkins' viewers take.

#include <fmt/format.h>

#include <algorithm>

#include "report/diff/diff_rows.h"
#include "text/escape.h"

namespace refrain::report {
namespace {

constexpr size_t kMostLines = 100;

struct Case {
  std::string suite, name;
  std::string failure;  // its first line is the message; empty: passed
  std::string output;
};

std::string lines_of(const std::vector<DiffFinding>& findings) {
  std::string out;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (i == kMostLines) return out + fmt::format("... and {} more\n", findings.size() - i);
    const DiffFinding& f = findings[i];
    out += f.change + " " + f.title + (f.where.empty() ? "" : "  " + f.where) + ": " + f.numbers +
           "\n";
    for (const std::string& detail : f.details) out += "  " + detail + "\n";
  }
  return out;
}

// What a threshold's metric counts, to be shown where it failed.
std::string evidence(analysis::diff::Metric metric, DiffRows& rows) {
  using analysis::diff::Metric;
  switch (metric) {
    case Metric::kTime: return lines_of(rows.times());
    case Metric::kWaits: return lines_of(rows.waits());
    case Metric::kPartners:
    case Metric::kNewPartners:
    case Metric::kVanishedPartners:
    case Metric::kChangedPartners: return lines_of(rows.partners());
    case Metric::kChangedLoops: return lines_of(rows.loops());
    case Metric::kRanks: return "";
    default: return lines_of(rows.calls());
  }
}

std::string text_of(const Case& c) {
  std::string out = fmt::format("    <testcase classname=\"refrain.{}\" name=\"{}\" time=\"0\"",
                                text::escaped(c.suite), text::escaped(c.name));
  if (c.failure.empty() && c.output.empty()) return out + "/>\n";
  out += ">\n";
  if (!c.failure.empty())
    out += fmt::format("      <failure message=\"{}\" type=\"threshold\">{}</failure>\n",
                       text::escaped(c.failure.substr(0, c.failure.find('\n'))),
                       text::escaped(c.failure));
  if (!c.output.empty())
    out += fmt::format("      <system-out>{}</system-out>\n", text::escaped(c.output));
  return out + "    </testcase>\n";
}

void add_findings(DiffRows& rows, std::vector<Case>& out) {
  out.push_back({"difference", "calls", "", lines_of(rows.calls())});
  out.push_back({"difference", "loops", "", lines_of(rows.loops())});
  out.push_back({"difference", "partners", "", lines_of(rows.partners())});
  out.push_back({"difference", "time", "", lines_of(rows.times())});
  out.push_back({"difference", "waits", "", lines_of(rows.waits())});
}

}  // namespace

std::string diff_junit(const DiffView& view, const std::vector<JunitCase>& more) {
  DiffRows rows(view);
  std::vector<Case> cases;
  for (const JunitCase& c : more) {
    std::string failure;
    for (const std::string& line : c.failures) failure += line + "\n";
    cases.push_back({"check", c.name, failure, ""});
  }
  for (const auto& v : view.verdicts) {
    const std::string text = verdict_text(v);
    if (v.is_crossed)
      cases.push_back(
          {"threshold", v.threshold.text, text + "\n" + evidence(v.threshold.metric, rows), ""});
    else
      cases.push_back({"threshold", v.threshold.text, "", text + "\n"});
  }
  add_findings(rows, cases);
  const auto failed =
      std::count_if(cases.begin(), cases.end(), [](const Case& c) { return !c.failure.empty(); });
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format(
      "<testsuites name=\"refrain\" tests=\"{0}\" failures=\"{1}\" errors=\"0\">\n"
      "  <testsuite name=\"{2}\" tests=\"{0}\" failures=\"{1}\" errors=\"0\" "
      "skipped=\"0\" time=\"0\">\n",
      cases.size(), failed, text::escaped(view.before.name() + " -> " + view.after.name()));
  for (const Case& c : cases) out += text_of(c);
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace refrain::report
