// refrain diff: what changed in the communication from one run to another.

#include <memory>
#include <string>

#include "cli/options/diff_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"

namespace refrain::cli {
namespace {

struct DiffArguments {
  std::string before, after;
  DiffOptions diff;
};

int run(const DiffArguments& options) {
  const auto thresholds = thresholds_of(options.diff, {});
  if (!thresholds.ok()) return report(thresholds.error());
  if (const Status good = check_output(options.diff, {options.before, options.after}); !good.ok())
    return report(good.error());
  const auto before = Trace::open_with_times(options.before);
  if (!before.ok()) return report(before.error());
  const auto after = Trace::open_with_times(options.after);
  if (!after.ok()) return report(after.error());
  return compare(*before, *after, options.diff, *thresholds);
}

}  // namespace

void add_diff(Command& app, int& exit_status) {
  auto options = std::make_shared<DiffArguments>();
  Command* verb = app.add_subcommand("diff", "Changes in the communication between two runs");
  verb->add_option("before", options->before, "Trace file (.rfn)")->required();
  verb->add_option("after", options->after, "Trace file of the run after the change")->required();
  verb->add_format(options->diff.format, {"text", "json", "junit", "html"});
  define_diff_options(*verb, options->diff);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
