// refrain reduce: representatives of segments instead of the times of all calls.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "analysis/reduce/evaluate.h"
#include "analysis/reduce/keep_trends.h"
#include "analysis/reduce/reduce.h"
#include "cli/options/display_options.h"
#include "cli/options/reduce_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"
#include "report/behaviour/reduce_report.h"

namespace refrain::cli {

namespace {

namespace reduce = analysis::reduce;

struct ReduceArguments {
  std::string trace, output, method, max_error;
  std::string segments = "loops", across = "groups", format = "text";
  uint64_t memory_mib = 0;
  uint32_t step_ns = 0;
  bool force = false;
  DisplayOptions display;
};

// --max-error is the threshold of auto.
Result<similarity::MethodSpec> method_of(const ReduceArguments& options) {
  if (options.max_error.empty())
    return similarity::parse_method(options.method.empty() ? "auto" : options.method);
  if (!options.method.empty() && options.method != "auto")
    return base::usage("--max-error is a threshold of the method auto; leave out --method " +
                       options.method);
  return similarity::parse_method("auto:" + options.max_error);
}

Result<reduce::ReduceOptions> take(const ReduceArguments& options) {
  const auto method = method_of(options);
  if (!method.ok()) return method.error();
  reduce::ReduceOptions how;
  how.method = *method;
  how.source = source_of(options.segments);
  how.across = across_of(options.across);
  how.memory_bytes = memory_of(options.memory_mib);
  how.step_ns = options.step_ns;
  return how;
}

int run(const ReduceArguments& options) {
  const auto how = take(options);
  if (!how.ok()) return report(how.error());
  // With --force also the trace itself.
  if (const Status good = may_write(options.output, options.force); !good.ok())
    return report(good.error());
  const auto trace = Trace::open_with_times(options.trace);
  if (!trace.ok()) return report(trace.error());
  const auto reduction = reduce::reduce_keeping_trends(*trace, *how, {});
  if (!reduction.ok()) return report(reduction.error());
  const auto bytes = encode(*trace, *reduction);
  if (!bytes.ok()) return report(bytes.error());
  const auto back = Trace::from_bytes(*bytes, options.output);
  if (!back.ok()) return report(back.error());
  // Before the file of the trace may be replaced.
  const auto distance = reduce::distance(*trace, *back);
  if (!distance.ok()) return report(distance.error());
  report::ReduceView view{*trace, *reduction, options.output};
  if (const auto size = trace->time_size(); size.ok()) view.times_before = size->bytes;
  if (const auto size = back->time_size(); size.ok()) view.times_after = size->bytes;
  view.bytes_before = trace->info().file_bytes;
  view.bytes_after = bytes->size();
  view.distance_ns = distance->percentile_ns();
  view.largest_ns = distance->largest_ns();
  const Status written = format::write_file_atomically(options.output, *bytes);
  if (!written.ok()) return report(written.error());
  if (options.format == "text") use_display(options.display);
  const int status =
      print(options.format == "json" ? report::reduce_json(view) : report::reduce_text(view));
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_reduce(Command& app, int& exit_status) {
  auto options = std::make_shared<ReduceArguments>();
  Command* verb = app.add_subcommand(
      "reduce", "Keep representatives of segments instead of the times of all calls");
  verb->add_option("trace", options->trace, "Trace file (.rfn), recorded with times")->required();
  verb->add_option("-o,--output", options->output, "Trace file to write")->required();
  verb->add_option("--method", options->method,
                   "METHOD[:THRESHOLD[:THRESHOLD ACROSS RANKS]]: relDiff, absDiff, Manhattan, "
                   "Euclidean, Chebyshev, iter_k, iter_avg, avgWave, haarWave, auto [auto]");
  verb->add_option("--max-error", options->max_error,
                   "Relative error that the method auto may make [the largest of 0.1, 0.03, 0.01, "
                   "0.003 with which waits, computation and time in calls stay as they are]");
  add_segment_options(*verb, options->segments, options->across, options->memory_mib,
                      options->step_ns);
  verb->add_format(options->format, {"text", "json"});
  add_display(*verb, options->display, false);
  verb->add_flag("--force", options->force, "Overwrite the output, which may be the trace itself");
  verb->footer(
      "Every verb works on the new trace. `refrain evaluate` shows how much of the diagnosis it "
      "preserves.");
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
