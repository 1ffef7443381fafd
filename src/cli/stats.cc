// refrain stats: where the bytes of the file went.

#include <memory>
#include <string>

#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/decode/decode.h"
#include "reader/trace_file.h"
#include "report/trace/stats_text.h"

namespace refrain::cli {

namespace {

struct StatsArguments {
  std::string path;
  std::string format = "text";
  DisplayOptions display;
};

int run(const StatsArguments& options) {
  const Result<std::string> bytes = reader::read_trace_file(options.path);
  if (!bytes.ok()) return report(bytes.error());
  const Result<Trace> trace = Trace::from_bytes(*bytes, options.path);
  if (!trace.ok()) return report(trace.error());
  const auto sizes = format::section_sizes(*bytes, options.path);
  if (!sizes.ok()) return report(sizes.error());
  if (options.format == "text") use_display(options.display);
  report::TraceStats stats = report::count_stats(*trace);
  for (const format::SectionSize& size : *sizes)
    stats.sections.push_back(
        {std::string(format::to_string(size.type)), size.raw_bytes, size.stored_bytes});
  const int status =
      print(options.format == "json" ? report::stats_json(stats) : report::stats_text(stats));
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_stats(Command& app, int& exit_status) {
  auto options = std::make_shared<StatsArguments>();
  Command* verb = app.add_subcommand("stats", "What the bytes of the file are used for");
  verb->add_trace(options->path);
  verb->add_format(options->format, {"text", "json"});
  add_display(*verb, options->display, false);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
