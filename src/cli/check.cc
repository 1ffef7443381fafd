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

int run(const std::string& path) {
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
  if (!findings.empty()) return print_findings(path, findings);
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
  CLI::App* verb = app.add_subcommand("check", "Whether the file keeps every rule of the format");
  verb->add_option("trace", *path, "Trace file (.rfn)")->required();
  verb->callback([path, &exit_status] { exit_status = run(*path); });
}

}  // namespace refrain::cli
