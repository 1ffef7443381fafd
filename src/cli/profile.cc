// refrain profile: calls, time and bytes per function, call site and rank.

#include <map>
#include <memory>
#include <string>

#include "analysis/posix.h"
#include "analysis/profile/profile.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/options/window_options.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/profile/posix_report.h"
#include "report/profile/profile_report.h"
#include "report/window_text.h"

namespace refrain::cli {
namespace {

struct ProfileOptions {
  std::string trace;
  std::string format = "text";
  std::string by;  // empty: function, for text everything at a glance
  size_t top = 20;
  bool posix = false;
  DisplayOptions display;
  analysis::Window window;
};

const std::map<std::string, report::ProfileBy> kBy = {{"function", report::ProfileBy::kFunction},
                                                      {"site", report::ProfileBy::kSite},
                                                      {"callpath", report::ProfileBy::kCallPath},
                                                      {"group", report::ProfileBy::kGroup},
                                                      {"rank", report::ProfileBy::kRank}};

// The calls that are no MPI calls: sums of the whole run.
int posix(const Trace& trace, const ProfileOptions& options) {
  if (!options.by.empty() && options.by != "rank" && options.by != "function")
    return report(base::usage("--posix knows functions and ranks: --by function or --by rank"));
  if (!options.window.is_all())
    return report(base::usage("--posix has sums of the whole run: leave out the window"));
  const analysis::PosixProfile result = analysis::posix_profile(trace);
  if (!result.is_known)
    return report(
        base::unsupported("there are no POSIX calls: record with --posix on", options.trace));
  if (options.format == "text") use_display(options.display);
  const bool by_rank = options.by == "rank";
  const int status = print(options.format == "json"  ? report::posix_json(trace, result)
                           : options.format == "csv" ? report::posix_csv(result, by_rank)
                           : by_rank                 ? report::posix_rank_text(result, options.top)
                                                     : report::posix_text(result, options.top));
  return status != 0 ? status : status_of(trace);
}

int profile(const ProfileOptions& options) {
  const auto trace = Trace::open(options.trace);
  if (!trace.ok()) return report(trace.error());
  if (options.posix) return posix(*trace, options);
  const auto result = analysis::profile(*trace, options.window);
  if (!result.ok()) return report(result.error());
  reader::Symbols symbols;
  const report::ProfileView view{*trace, *result, symbols};
  const auto by = options.by.empty() ? report::ProfileBy::kFunction : kBy.at(options.by);
  if (options.format == "text") use_display(options.display);
  std::string text;
  if (options.format == "json")
    text = report::profile_json(view);
  else if (options.format == "csv")
    text = report::profile_csv(view, by);
  else
    text = options.by.empty() ? report::profile_text(view, options.top)
                              : report::profile_table_text(view, by, options.top);
  if (options.format == "text" && !options.by.empty() && !options.window.is_all())
    text = report::window_text(options.window) + "\n" + text;
  const int status = print(text);
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_profile(Command& app, int& exit_status) {
  auto options = std::make_shared<ProfileOptions>();
  Command* verb =
      app.add_subcommand("profile", "Calls, time and bytes: per function, call site and rank");
  verb->add_trace(options->trace);
  verb->add_format(options->format, {"text", "json", "csv"});
  verb->add_option("--by", options->by,
                   "Print one table only: function, site, callpath (a tree), group (kind of "
                   "function) or rank")
      ->check(one_of({"function", "site", "callpath", "group", "rank"}));
  verb->add_flag("--posix", options->posix,
                 "Show the calls of POSIX and stdio functions instead (`record --posix on`)");
  verb->add_option("--top", options->top, "Rows of each table of the text; 0: all")
      ->check(whole_number())
      ->type_name("COUNT")
      ->capture_default_str();
  add_display(*verb, options->display);
  add_window(*verb, options->window);
  verb->callback([options, &exit_status] { exit_status = profile(*options); });
}

}  // namespace refrain::cli
