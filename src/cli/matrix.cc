// refrain matrix: messages and bytes per pair of world ranks.

#include <map>
#include <memory>
#include <string>

#include "analysis/matrix.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/options/window_options.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/matrix_report.h"

namespace refrain::cli {
namespace {

struct MatrixOptions {
  std::string trace;
  std::string format = "text";
  std::string kind = "p2p";
  analysis::Window window;
  DisplayOptions display;
};

const std::map<std::string, analysis::MatrixKind> kKinds = {{"p2p", analysis::MatrixKind::kP2p},
                                                            {"rma", analysis::MatrixKind::kRma},
                                                            {"all", analysis::MatrixKind::kAll}};

int matrix(const MatrixOptions& options) {
  const auto trace = Trace::open(options.trace);
  if (!trace.ok()) return report(trace.error());
  const auto result = analysis::matrix(*trace, kKinds.at(options.kind), options.window);
  if (!result.ok()) return report(result.error());
  if (options.format == "text") use_display(options.display);
  std::string text;
  if (options.format == "csv")
    text = report::matrix_csv(*result);
  else if (options.format == "json")
    text = report::matrix_json(*result, options.window, &*trace);
  else
    text = report::matrix_text(*result, trace->name(), options.window, &*trace);
  const int status = print(text);
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_matrix(Command& app, int& exit_status) {
  auto options = std::make_shared<MatrixOptions>();
  Command* verb = app.add_subcommand("matrix", "Messages and bytes per pair of ranks");
  verb->add_trace(options->trace);
  verb->add_format(options->format, {"text", "csv", "json"});
  verb->add_option("--kind", options->kind, "p2p (messages), rma (one-sided) or all")
      ->check(one_of({"p2p", "rma", "all"}))
      ->capture_default_str();
  add_window(*verb, options->window);
  add_display(*verb, options->display, false);
  verb->callback([options, &exit_status] { exit_status = matrix(*options); });
}

}  // namespace refrain::cli
