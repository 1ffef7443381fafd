// refrain check: every MUST of the format, checksums included, and that the trace makes sense.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/verbs.h"
#include "format/decode/decode.h"
#include "reader/trace_file.h"
#include "reader/verify.h"
#include "reader/verify_times.h"
#include "report/info_text.h"
#include "report/json_text.h"

namespace refrain::cli {

namespace {

constexpr size_t kMaxFindings = 100;

int print_findings(const std::string& path, const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings)
    text += refrain::report::printable(path + ": " + finding) + "\n";
  const int status = print(text);
  if (status != 0) return status;
  return report(base::fail(
      report::counted_text(findings.size(), "finding") + "; record again, or take another copy",
      path));
}

// Against a recording of the same run with exact times; the status, or -1 to go on.
int check_bound(const Trace& trace, const std::string& against) {
  const Result<Trace> exact = Trace::open(against);
  if (!exact.ok()) return report(exact.error());
  const auto checked = reader::verify_bound(trace, *exact, kMaxFindings);
  if (!checked.ok()) return report(checked.error());
  if (!checked->findings.empty()) return print_findings(trace.name(), checked->findings);
  const int status = print(
      fmt::format("{}: times of {} within the bound, the worst at {:.0f} % of it\n", trace.name(),
                  report::counted_text(checked->calls, "call"), 100 * checked->worst));
  return status != 0 ? status : -1;
}

int run(const std::string& path, const std::string& against) {
  const Result<std::string> bytes = reader::read_trace_file(path);
  if (!bytes.ok()) return report(bytes.error());
  const Result<format::FileHeader> header = format::read_header(*bytes, path);
  if (!header.ok() && header.error().code == base::ErrorCode::kUnsupported)
    return report(header.error());
  std::vector<std::string> findings;
  for (const format::Finding& finding : format::check(*bytes)) {
    if (findings.size() == kMaxFindings) break;
    findings.push_back(finding.to_string());
  }
  if (!findings.empty()) return print_findings(path, findings);
  const Result<Trace> trace = Trace::from_bytes(*bytes, path);
  if (!trace.ok()) return report(trace.error());
  findings = reader::verify(*trace, kMaxFindings);
  if (findings.empty()) findings = reader::verify_times(*trace, kMaxFindings);
  if (!findings.empty()) return print_findings(path, findings);
  if (!against.empty())
    if (const int bad = check_bound(*trace, against); bad >= 0) return bad;
  const int status = print(fmt::format(
      "{}: OK, format {}.{}, {} rules of the format hold, {} of {}, {}\n", path, header->major,
      header->minor, format::rule_count(), report::counted_text(trace->call_count(), "call"),
      report::counted_text(trace->info().rank_count, "rank"),
      trace->info().complete ? "complete" : "incomplete"));
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_check(CLI::App& app, int& exit_status) {
  auto path = std::make_shared<std::string>();
  auto against = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("check", "Whether the file keeps every rule of the format");
  verb->add_option("trace", *path, "Trace file (.rfn)")->required();
  verb->add_option("--against", *against,
                   "A trace of the same run with exact times: whether the bound is kept");
  verb->callback([path, against, &exit_status] { exit_status = run(*path, *against); });
}

}  // namespace refrain::cli
