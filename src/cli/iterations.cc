// refrain iterations: metrics of each iteration of the outermost loops, and what they have in
// common.

#include "analysis/iterations/iterations.h"

#include <map>
#include <memory>
#include <string>

#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/behaviour/iterations_report.h"

namespace refrain::cli {
namespace {

using analysis::IterationSource;

struct IterationsOptions {
  std::string trace;
  std::string format = "text";
  std::string segments = "auto";
  std::string method = "avgWave";
  bool behaviours = false;
  size_t top = 20;
  DisplayOptions display;
};

const std::map<std::string, IterationSource> kSources = {{"auto", IterationSource::kAuto},
                                                         {"loops", IterationSource::kLoops},
                                                         {"marks", IterationSource::kMarks}};

int iterations(const IterationsOptions& options) {
  const auto method = similarity::parse_method(options.method);
  if (!method.ok()) return report(method.error());
  const auto trace = Trace::open_with_times(options.trace);
  if (!trace.ok()) return report(trace.error());
  analysis::IterationOptions how;
  how.source = kSources.at(options.segments);
  how.with_behaviours = options.behaviours;
  how.method = *method;
  reader::Symbols symbols;
  const reader::SourcePaths paths(*trace, symbols);
  how.paths = &paths;
  const auto result = analysis::find_iterations(*trace, how);
  if (!result.ok()) return report(result.error());
  if (options.format == "text") use_display(options.display);
  const report::IterationsView view{*trace, *result, symbols, options.behaviours, options.top};
  std::string text;
  if (options.format == "json")
    text = report::iterations_json(view);
  else if (options.format == "csv")
    text = report::iterations_csv(view);
  else
    text = report::iterations_text(view);
  const int status = print(text);
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_iterations(Command& app, int& exit_status) {
  auto options = std::make_shared<IterationsOptions>();
  Command* verb =
      app.add_subcommand("iterations", "Each iteration of the outermost loops: time, MPI, waiting");
  verb->add_option("trace", options->trace, "Trace file (.rfn), recorded with times")->required();
  verb->add_format(options->format, {"text", "json", "csv"});
  verb->add_option(
          "--segments", options->segments,
          "What an iteration is: a region or instance that the program marked (marks), a "
          "pass through a loop of the grammar (loops), or marks where there are any (auto)")
      ->check(one_of({"auto", "loops", "marks"}))
      ->capture_default_str();
  verb->add_flag("--behaviours", options->behaviours,
                 "Groups of similar iterations: their representatives, ranks and times");
  verb->add_option(
          "--method", options->method,
          "Method that decides which segments are similar: METHOD[:THRESHOLD], as in reduce")
      ->capture_default_str();
  verb->add_option("--top", options->top, "Rows of each table of the text, and loops; 0: all")
      ->check(whole_number())
      ->type_name("COUNT")
      ->capture_default_str();
  add_display(*verb, options->display);
  verb->footer(
      "An iteration counts from the end of the call before it to the end of its last call, on each "
      "thread; its duration is that of the thread that took longest. Time in MPI, waiting and "
      "bytes "
      "are sums over the threads. Needs times of single calls: record with --timing exact or "
      "bins:0.02.");
  verb->callback([options, &exit_status] { exit_status = iterations(*options); });
}

}  // namespace refrain::cli
