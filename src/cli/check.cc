// refrain check: every MUST of the format, checksums included, and that the trace makes sense.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/message_logs.h"
#include "analysis/replays/replays.h"
#include "cli/options/diff_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/decode/decode.h"
#include "format/vectors/vector_file.h"
#include "reader/trace_file.h"
#include "reader/verify/verify.h"
#include "reader/verify/verify_times.h"
#include "report/trace/check_report.h"
#include "report/trace/replays_report.h"
#include "text/numbers.h"

namespace refrain::cli {

namespace {

constexpr size_t kMaxFindings = 100;

struct CheckArguments {
  std::string path, against, replays;
  std::vector<std::string> baselines;
  std::string format = "text";
  DiffOptions diff;
};

using report::CheckReport;

int say(const CheckArguments& options, const CheckReport& checked) {
  const int status =
      print(options.format == "json" ? report::check_json(checked) : report::check_text(checked));
  if (status != 0 || checked.findings.empty()) return status;
  return report(base::fail(text::counted_text(checked.findings.size(), "finding") +
                               "; record again, or take another copy",
                           options.path));
}

// Against a recording of the same run with exact times.
base::Status check_bound(const Trace& trace, const Trace& exact, CheckReport& checked) {
  const auto bound = reader::verify_bound(trace, exact, kMaxFindings);
  if (!bound.ok()) return bound.error();
  checked.findings = bound->findings;
  checked.against = {exact.name(), bound->calls, bound->worst};
  return base::Done{};
}

// Against the trace that it should be a replay of.
int check_replay(const CheckArguments& options, const Trace& again) {
  const Result<Trace> original = Trace::open(options.replays);
  if (!original.ok()) return report(original.error());
  const auto comparison = analysis::compare_replay(*original, again);
  if (!comparison.ok()) return report(comparison.error());
  const int status =
      print(options.format == "json" ? report::replays_json(*original, again, *comparison)
                                     : report::replays_text(*original, again, *comparison));
  if (status != 0) return status;
  return comparison->first ? static_cast<int>(base::ErrorCode::kThreshold) : status_of(again);
}

// What `refrain check` itself found, as a test of the JUnit format.
std::vector<report::JunitCase> cases_of(const CheckReport& checked) {
  return {{"the file follows the rules of the format", checked.findings}};
}

// The run against one that was good. The file has been found good.
int check_baseline(const CheckArguments& options, const Trace& trace, const CheckReport& checked,
                   const std::vector<analysis::diff::Threshold>& thresholds) {
  const Result<Trace> baseline = Trace::open_with_times(options.baselines[0]);
  if (!baseline.ok()) return report(baseline.error());
  DiffOptions how = options.diff;
  how.format = options.format;
  how.repeats.assign(options.baselines.begin() + 1, options.baselines.end());
  // The verb's own answer comes first where the format has room for both.
  how.before = options.format == "text" ? report::check_text(checked) : "";
  return compare(*baseline, trace, how, thresholds, cases_of(checked));
}

std::vector<std::string> broken_rules(const std::string& bytes) {
  std::vector<std::string> findings;
  for (const format::Finding& finding : format::check(bytes)) {
    if (findings.size() == kMaxFindings) break;
    findings.push_back(finding.to_string());
  }
  return findings;
}

// Options that say nothing without --baseline, and the other way round.
Status check_use(const CheckArguments& options) {
  if (!options.baselines.empty()) {
    std::vector<std::string> read = options.baselines;
    read.push_back(options.path);
    return check_output(options.diff, std::move(read));
  }
  const auto needs = [](const char* what) {
    return base::usage(std::string(what) + " needs --baseline TRACE to compare with");
  };
  if (!options.diff.fail_if.empty()) return needs("--fail-if");
  if (!options.diff.output.empty()) return needs("-o");
  if (options.format == "junit" || options.format == "html") return needs("--format junit or html");
  return base::Done{};
}

// Computation vectors, which are another format: whether every rule is kept is what reading asks.
int check_vectors(const CheckArguments& options) {
  const auto file = format::vectors::read_file(options.path);
  CheckReport checked;
  checked.path = options.path;
  if (!file.ok() && file.error().code == base::ErrorCode::kUnsupported) return report(file.error());
  if (!file.ok()) checked.findings.push_back(file.error().message);
  checked.version = fmt::format("{}.{}", format::vectors::kMajor, format::vectors::kMinor);
  if (file.ok()) {
    checked.ranks = file->vectors.size();
    checked.complete = true;
    for (const auto& v : file->vectors) checked.calls += v.least_ns.size();
  }
  return say(options, checked);
}

// The message logs beside the trace, if it says that there are any.
std::vector<std::string> broken_logs(const Trace& trace, const std::string& path) {
  std::vector<std::string> findings;
  if (trace.info().text_of("messages").empty()) return findings;
  const auto logs = analysis::read_message_logs(trace, path);
  // A trace may travel without them.
  if (!logs.ok()) {
    std::error_code ignored;
    if (std::filesystem::exists(analysis::message_folder(path), ignored))
      findings.push_back(logs.error().to_string());
    return findings;
  }
  for (const analysis::RankMessages& rank : logs->ranks)
    if (!rank.damage.empty() && findings.size() < kMaxFindings) findings.push_back(rank.damage);
  return findings;
}

int run(const CheckArguments& options) {
  if (const Status good = check_use(options); !good.ok()) return report(good.error());
  const auto thresholds = thresholds_of(options.diff, analysis::diff::default_thresholds());
  if (!thresholds.ok()) return report(thresholds.error());
  if (options.format == "text") use_display(options.diff.display);
  const Result<std::string> bytes = reader::read_trace_file(options.path);
  if (!bytes.ok()) return report(bytes.error());
  if (bytes->starts_with(
          std::string_view(format::vectors::kMagic, sizeof(format::vectors::kMagic))))
    return check_vectors(options);
  const Result<format::FileHeader> header = format::read_header(*bytes, options.path);
  if (!header.ok() && header.error().code == base::ErrorCode::kUnsupported)
    return report(header.error());
  CheckReport checked;
  checked.path = options.path;
  checked.findings = broken_rules(*bytes);
  if (!checked.findings.empty()) return say(options, checked);
  const Result<Trace> trace = Trace::from_bytes(*bytes, options.path);
  if (!trace.ok()) return report(trace.error());
  checked.findings = reader::verify(*trace, kMaxFindings);
  if (checked.findings.empty()) checked.findings = reader::verify_times(*trace, kMaxFindings);
  if (checked.findings.empty()) checked.findings = broken_logs(*trace, options.path);
  if (checked.findings.empty() && !options.against.empty()) {
    const Result<Trace> exact = Trace::open(options.against);
    if (!exact.ok()) return report(exact.error());
    if (const auto bound = check_bound(*trace, *exact, checked); !bound.ok())
      return report(bound.error());
  }
  if (checked.findings.empty() && !options.replays.empty()) return check_replay(options, *trace);
  checked.version = fmt::format("{}.{}", header->major, header->minor);
  checked.rules = format::rule_count();
  checked.calls = trace->call_count();
  checked.ranks = trace->info().rank_count;
  checked.complete = trace->info().complete;
  if (checked.findings.empty() && !options.baselines.empty())
    return check_baseline(options, *trace, checked, *thresholds);
  const int status = say(options, checked);
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_check(Command& app, int& exit_status) {
  auto options = std::make_shared<CheckArguments>();
  Command* verb =
      app.add_subcommand("check", "Check whether the file follows every rule of the format");
  verb->add_trace(options->path);
  verb->add_option("--against", options->against,
                   "A trace of the same run with exact times: whether the bound is kept");
  verb->add_option("--replays", options->replays,
                   "The trace that this one should be a replay of: exit status 3, with the first "
                   "difference, when a call is another one");
  verb->add_option("--baseline", options->baselines,
                   "A trace of a good run: exit status 3 when the communication has changed, in "
                   "anything that does not depend on time or as --fail-if says. Given several "
                   "times, more good runs: their spread is the noise of times; take five")
      ->allow_extra_args(false);
  verb->add_format(
      options->format, {"text", "json", "junit", "html"},
      "text or json; with --baseline also junit and html, and json is as that of diff");
  define_diff_options(*verb, options->diff);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
