#include "report/trace/check_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {

std::string check_text(const CheckReport& report) {
  std::string out;
  for (const std::string& finding : report.findings)
    out += text::printable(report.path + ": " + finding) + "\n";
  if (!out.empty()) return text::paragraph(out, 2);
  if (report.against)
    out +=
        fmt::format("{}: times of {} within the bound, the worst at {:.0f} % of it\n",
                    text::printable(report.path), text::counted_text(report.against->calls, "call"),
                    100 * report.against->worst);
  // Formats without a list of rules are read whole instead.
  const std::string rules =
      report.rules == 0 ? "" : fmt::format("{} rules of the format hold, ", report.rules);
  out += fmt::format("{}: OK, format {}, {}{} of {}, {}\n", text::printable(report.path),
                     report.version, rules, text::counted_text(report.calls, "call"),
                     text::counted_text(report.ranks, "rank"),
                     report.complete ? "complete" : "incomplete");
  return text::paragraph(out, 2);
}

std::string check_json(const CheckReport& report) {
  const auto text = [](const std::string& s) { return text::printable(s); };
  nlohmann::ordered_json out;
  out["trace"] = text(report.path);
  out["ok"] = report.findings.empty();
  out["findings"] = nlohmann::ordered_json::array();
  for (const std::string& finding : report.findings) out["findings"].push_back(text(finding));
  if (report.findings.empty()) {
    out["format"] = report.version;
    out["rules"] = report.rules;
    out["calls"] = report.calls;
    out["ranks"] = report.ranks;
    out["complete"] = report.complete;
  }
  if (report.against)
    out["against"] = {{"trace", text(report.against->path)},
                      {"calls", report.against->calls},
                      {"worst", report.against->worst}};
  return out.dump(2) + "\n";
}

}  // namespace refrain::report
