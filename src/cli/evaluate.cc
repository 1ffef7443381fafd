// refrain evaluate: how much of a trace is lost when its times are reduced.

#include <memory>
#include <string>
#include <vector>

#include "analysis/reduce/evaluate.h"
#include "cli/options/display_options.h"
#include "cli/options/reduce_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "reader/symbols.h"
#include "report/behaviour/reduce_report.h"

namespace refrain::cli {

namespace {

namespace reduce = analysis::reduce;

struct EvaluateArguments {
  std::string trace;
  std::vector<std::string> methods, against;
  std::vector<std::string> scopes;
  std::string segments = "loops", across = "groups", format = "text";
  uint64_t memory_mib = 0;
  uint32_t step_ns = 0;
  double tolerance = 0.1, least_share = 0.01;
  bool by_rank = false;
  DisplayOptions display;
};

Result<reduce::EvaluateOptions> take(const EvaluateArguments& options) {
  reduce::EvaluateOptions how;
  for (const std::string& text : options.methods) {
    const auto method = similarity::parse_method(text);
    if (!method.ok()) return method.error();
    how.methods.push_back(*method);
  }
  if (!options.scopes.empty()) {
    how.scopes.clear();
    for (const reduce::Scope scope :
         {reduce::Scope::kIntra, reduce::Scope::kInter, reduce::Scope::kCombined})
      for (const std::string& name : options.scopes)
        if (name == scope_name(scope)) how.scopes.push_back(scope);
  }
  if (!options.against.empty() && !options.methods.empty())
    return base::usage("--against takes the method from the reduced trace; leave out --method");
  how.source = source_of(options.segments);
  how.across = across_of(options.across);
  if (how.across == format::AcrossRanks::kOff)
    return base::usage("--across-ranks off is `--scope intra` here");
  how.memory_bytes = memory_of(options.memory_mib);
  how.step_ns = options.step_ns;
  how.retention.tolerance = options.tolerance;
  how.retention.least_share = options.least_share;
  return how;
}

Result<reduce::Evaluation> look(const Trace& full, const EvaluateArguments& options,
                                const reduce::EvaluateOptions& how) {
  if (options.against.empty()) return reduce::evaluate(full, how);
  std::vector<Trace> reduced;
  for (const std::string& path : options.against) {
    auto trace = Trace::open_with_times(path);
    if (!trace.ok()) return trace.error();
    reduced.push_back(std::move(*trace));
  }
  return reduce::evaluate(full, reduced, how);
}

int run(const EvaluateArguments& options) {
  const auto how = take(options);
  if (!how.ok()) return report(how.error());
  const auto trace = Trace::open_with_times(options.trace);
  if (!trace.ok()) return report(trace.error());
  const auto evaluation = look(*trace, options, *how);
  if (!evaluation.ok()) return report(evaluation.error());
  reader::Symbols symbols;
  const report::EvaluateView view{*trace, *evaluation, symbols, how->retention, options.by_rank};
  if (options.format == "text") use_display(options.display);
  std::string text;
  if (options.format == "json")
    text = report::evaluate_json(view);
  else
    text = options.format == "csv" ? report::evaluate_csv(view) : report::evaluate_text(view);
  const int status = print(text);
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_evaluate(Command& app, int& exit_status) {
  auto options = std::make_shared<EvaluateArguments>();
  Command* verb = app.add_subcommand(
      "evaluate",
      "Measure what reducing the times of a trace loses: size, matching, error, trends");
  verb->add_option("trace", options->trace, "Trace file (.rfn), recorded with exact times")
      ->required();
  verb->add_option(
      "--method", options->methods,
      "METHOD[:THRESHOLD[:THRESHOLD ACROSS RANKS]], once or more [all of them, at their "
      "default thresholds]");
  verb->add_option("--against", options->against,
                   "Traces of the same run that `refrain reduce` has made, or with bins, instead");
  verb->add_option("--scope", options->scopes,
                   "intra, inter or combined: matches within ranks, across them, both [all three]")
      ->check(one_of({"intra", "inter", "combined"}));
  add_segment_options(*verb, options->segments, options->across, options->memory_mib,
                      options->step_ns);
  verb->add_option("--tolerance", options->tolerance,
                   "How much a wait, a computation or the time in a call may differ and still "
                   "count as the same")
      ->check(real_number(0, 1))
      ->capture_default_str();
  verb->add_option("--least-share", options->least_share,
                   "Smallest share of the time of all ranks that counts as a trend")
      ->check(real_number(0, 1))
      ->capture_default_str();
  verb->add_flag("--by-rank", options->by_rank,
                 "With JSON: each trend rank by rank, in the full and in the rebuilt trace");
  verb->add_format(options->format, {"text", "json", "csv"});
  add_display(*verb, options->display, false);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
