// refrain info: program, MPI, ranks, calls, duration, sizes, completeness, losses.

#include <memory>
#include <string>

#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/trace/info_text.h"

namespace refrain::cli {

namespace {

struct InfoArguments {
  std::string path;
  std::string format = "text";
  DisplayOptions display;
};

int run(const InfoArguments& options) {
  const Result<Trace> trace = Trace::open(options.path);
  if (!trace.ok()) return report(trace.error());
  if (options.format == "text") use_display(options.display);
  const int status =
      print(options.format == "json" ? report::info_json(*trace) : report::info_text(*trace));
  if (status != 0) return status;
  // What was printed is good, but for the line of the times, which says that they are damaged.
  if (const auto times = trace->time_size(); !times.ok()) return report(times.error());
  return status_of(*trace);
}

}  // namespace

void add_info(Command& app, int& exit_status) {
  auto options = std::make_shared<InfoArguments>();
  Command* verb = app.add_subcommand("info", "Program, MPI, ranks, calls, sizes, losses");
  verb->add_trace(options->path);
  verb->add_format(options->format, {"text", "json"});
  add_display(*verb, options->display, false);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
