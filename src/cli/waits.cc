// refrain waits: who waited for whom, for how long, and what it goes back to.

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/profile/profile.h"
#include "analysis/waits/wait_states.h"
#include "base/nearest.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/options/window_options.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/waits/untimed_text.h"
#include "report/waits/waits_report.h"

namespace refrain::cli {
namespace {

namespace waits = analysis::waits;

struct WaitsOptions {
  std::string trace;
  std::string format = "text";
  std::string pattern;
  std::string explain;
  std::optional<int64_t> rank;
  size_t top = 20;
  DisplayOptions display;
  uint64_t memory_mib = 256;
  analysis::Window window;
};

std::string names_of(const std::vector<waits::Pattern>& patterns) {
  std::string names;
  for (const waits::Pattern p : patterns)
    names += (names.empty() ? "" : ", ") + std::string(name_of(p));
  return names;
}

// By its name or its printed title.
Result<waits::Pattern> pattern_of(const std::string& words) {
  const auto found = waits::patterns_called(words);
  if (found.size() == 1) return found[0];
  if (found.size() > 1)
    return base::usage("'" + words +
                       "' is the name of several patterns; choose one: " + names_of(found));
  std::vector<waits::Pattern> all;
  std::vector<std::string> known;
  for (int i = 0; i < waits::kPatterns; ++i) {
    all.push_back(static_cast<waits::Pattern>(i));
    known.emplace_back(name_of(all.back()));
    known.emplace_back(title_of(all.back()));
  }
  const std::string hint = base::did_you_mean(words, known);
  return base::usage("no pattern '" + words + "'" +
                     (hint.empty() ? "; there are " + names_of(all) : hint));
}

// PATTERN[:RANK[:CALLPATH]], where RANK may be empty.
Status take_explain(const WaitsOptions& options, const Trace& trace, reader::Symbols& symbols,
                    waits::Options& out) {
  const std::string& text = options.explain;
  const size_t first = text.find(':');
  const auto pattern = pattern_of(text.substr(0, first));
  if (!pattern.ok()) return pattern.error();
  out.explain = *pattern;
  out.explain_count = options.top == 0 ? SIZE_MAX : options.top;
  out.explain_rank = options.rank.value_or(-1);
  if (first == std::string::npos) return base::Done{};
  const size_t second = text.find(':', first + 1);
  const std::string rank =
      text.substr(first + 1, second == std::string::npos ? std::string::npos : second - first - 1);
  if (!rank.empty()) {
    const auto [end, error] =
        std::from_chars(rank.data(), rank.data() + rank.size(), out.explain_rank);
    if (error != std::errc() || end != rank.data() + rank.size())
      return base::usage("no rank '" + rank + "' in --explain " + text);
    if (const Status known = check_rank(trace, out.explain_rank); !known.ok()) return known;
  }
  if (second == std::string::npos) return base::Done{};
  const std::string path = text.substr(second + 1);
  out.explain_paths = report::paths_with(trace, symbols, path);
  if (out.explain_paths.empty())
    return base::usage("no call path of the trace contains '" + path + "'");
  return base::Done{};
}

int run_waits(const WaitsOptions& options) {
  const auto trace = Trace::open_with_times(options.trace);
  if (!trace.ok()) return report(trace.error());
  if (options.format == "text") use_display(options.display);
  reader::Symbols symbols;
  waits::Options how;
  how.memory_bytes = options.memory_mib << 20;
  how.window = options.window;
  if (const Status good = analysis::check_window(*trace, how.window); !good.ok())
    return report(good.error());
  std::optional<waits::Pattern> shown;
  if (!options.pattern.empty()) {
    const auto pattern = pattern_of(options.pattern);
    if (!pattern.ok()) return report(pattern.error());
    shown = *pattern;
  }
  if (options.rank)
    if (const Status known = check_rank(*trace, *options.rank); !known.ok())
      return report(known.error());
  if (!options.explain.empty())
    if (const Status good = take_explain(options, *trace, symbols, how); !good.ok())
      return report(good.error());
  const reader::SourcePaths paths(*trace, symbols);
  how.paths = &paths;
  events::TraceCalls calls(*trace);
  const auto result = waits::wait_states(*trace, calls, how);
  if (!result.ok()) {
    // The message says which option is missing; what is known without it is said all the same.
    if (!trace->has_times() && options.format != "csv") {
      const analysis::Profile profile = analysis::profile(*trace);
      print(options.format == "json" ? report::untimed_json(*trace, profile, symbols)
                                     : report::untimed_text(*trace, profile, symbols, options.top));
    }
    return report(result.error());
  }
  const report::WaitsView view{
      *trace, *result, symbols, shown, options.rank.value_or(-1), options.top, options.window};
  std::string text;
  if (options.format == "json")
    text = report::waits_json(view);
  else if (options.format == "csv")
    text = report::waits_csv(view);
  else
    text = options.explain.empty() ? report::waits_text(view) : report::explained_text(view);
  const int status = print(text);
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_waits(Command& app, int& exit_status) {
  auto options = std::make_shared<WaitsOptions>();
  Command* verb = app.add_subcommand(
      "waits", "Which rank waited for which: wait states, causes, critical path");
  verb->add_option("trace", options->trace, "Trace file (.rfn), recorded with times")->required();
  verb->add_format(options->format, {"text", "json", "csv"});
  verb->add_option("--pattern", options->pattern,
                   "Only this pattern and those that it contains: late_sender, collective,\n"
                   "... or as it is printed: 'Late sender'");
  verb->add_option("--rank", options->rank, "Only waits of this rank")->check(rank_number());
  verb->add_option("--explain", options->explain,
                   "PATTERN[:RANK[:CALLPATH]], as in late_sender:2 or 'Late sender:2': the calls "
                   "behind a number, the longest waits first; "
                   "CALLPATH is a part of a call path's text, such as heat.c:41");
  verb->add_option("--top", options->top, "Rows of each table of the text; 0: all")
      ->check(whole_number())
      ->type_name("COUNT")
      ->capture_default_str();
  verb->add_option("--memory", options->memory_mib,
                   "MiB of memory for the log of waits; the rest goes to a file in $TMPDIR")
      ->transform(mebibytes_with_unit(1, 1 << 20))
      ->type_name("MIB")
      ->capture_default_str();
  add_display(*verb, options->display);
  add_window(*verb, options->window);
  verb->callback([options, &exit_status] { exit_status = run_waits(*options); });
}

}  // namespace refrain::cli
