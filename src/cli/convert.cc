// refrain convert: the calls of a trace in other tools' formats.

#include "convert/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/labelled_line.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::cli {
namespace {

struct ConvertArguments {
  std::string trace, ranks, format = "text", memory = "256M";
  std::optional<int64_t> rank;
  std::optional<uint64_t> from_ns, to_ns;
  bool no_resolve = false;
  convert::Options how;
  DisplayOptions display;
};

// "0-3,8": numbers and ranges.
Status take_ranks(const Trace& trace, const std::string& text, std::vector<Rank>& out) {
  const auto bad = [&] {
    return base::usage("--ranks " + text + " is not a list of ranks such as 0-3,8");
  };
  std::set<Rank> chosen;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    Rank first = 0;
    const auto [after, error] = std::from_chars(at, end, first);
    if (error != std::errc()) return bad();
    Rank last = first;
    at = after;
    if (at != end && *at == '-') {
      const auto [behind, failed] = std::from_chars(at + 1, end, last);
      if (failed != std::errc()) return bad();
      at = behind;
    }
    if (last < first) return bad();
    for (const Rank rank : {first, last})
      if (const Status known = check_rank(trace, rank); !known.ok()) return known;
    for (Rank rank = first; rank <= last; ++rank) chosen.insert(rank);
    if (at == end) break;
    if (*at++ != ',') return bad();
  }
  out.assign(chosen.begin(), chosen.end());
  return base::Done{};
}

Status take(ConvertArguments& options, const Trace& trace) {
  convert::Options& how = options.how;
  if (options.rank) {
    if (const Status known = check_rank(trace, *options.rank); !known.ok()) return known;
    how.ranks = {*options.rank};
  } else if (!options.ranks.empty()) {
    if (const Status good = take_ranks(trace, options.ranks, how.ranks); !good.ok()) return good;
  }
  how.has_window = options.from_ns || options.to_ns;
  how.from_ns = options.from_ns.value_or(0);
  how.to_ns = options.to_ns.value_or(UINT64_MAX);
  if (how.from_ns > how.to_ns) return base::usage("--from-ns is later than --to-ns");
  how.resolve = !options.no_resolve;
  const auto memory = base::parse_bytes(options.memory);
  if (!memory) return base::usage("--memory: '" + options.memory + "' is not a size, such as 64M");
  how.memory = static_cast<size_t>(*memory);
  return base::Done{};
}

std::string times_text(convert::TimesFrom times) {
  switch (times) {
    case convert::TimesFrom::kTrace: return "as recorded";
    case convert::TimesFrom::kBuilt:
      return "built from mean durations, as the trace has no times of single calls: ranks do not "
             "fit each other, and a message may arrive before it is sent";
    case convert::TimesFrom::kNone: break;
  }
  return "none: the trace has no times of single calls";
}

std::string text_of(const convert::Outcome& outcome) {
  std::string out;
  for (const std::string& file : outcome.files) out += text::printable(file) + "\n";
  const auto line = [&](std::string_view name, const std::string& text) {
    report::add_line(out, name, text, report::kLongLabel);
  };
  line("written", fmt::format("{} bytes", text::count_text(outcome.bytes)));
  line("calls", fmt::format("{} of {} rank{}", text::count_text(outcome.calls),
                            text::count_text(outcome.ranks), outcome.ranks == 1 ? "" : "s"));
  if (outcome.sends + outcome.receives + outcome.collectives > 0)
    line("messages",
         fmt::format("{} sent, {} received; {} collective calls", text::count_text(outcome.sends),
                     text::count_text(outcome.receives), text::count_text(outcome.collectives)));
  for (const auto& [what, count] : outcome.not_held)
    line("not held", fmt::format("{} {}", text::count_text(count), what));
  if (outcome.not_held.empty()) line("not held", "nothing");
  line("times", times_text(outcome.times));
  return report::fitted_lines(out, report::kLongLabel);
}

std::string json_of(const convert::Outcome& outcome, const std::string& target) {
  nlohmann::ordered_json out;
  out["to"] = target;
  out["files"] = nlohmann::json::array();
  for (const std::string& file : outcome.files) out["files"].push_back(text::printable(file));
  out["bytes"] = outcome.bytes;
  out["ranks"] = outcome.ranks;
  out["calls"] = outcome.calls;
  out["sends"] = outcome.sends;
  out["receives"] = outcome.receives;
  out["collectives"] = outcome.collectives;
  out["times"] = convert::name_of(outcome.times);
  out["not_held"] = nlohmann::json::array();
  for (const auto& [what, count] : outcome.not_held)
    out["not_held"].push_back({{"what", what}, {"count", count}});
  return out.dump(2) + "\n";
}

int run(ConvertArguments& options) {
  const auto trace = Trace::open_with_times(options.trace);
  if (!trace.ok()) return report(trace.error());
  if (const Status good = take(options, *trace); !good.ok()) return report(good.error());
  // What else may be there is a matter of the format.
  if (const Status good = may_replace(options.how.output, {options.trace}); !good.ok())
    return report(good.error());
  const auto outcome = convert::convert(*trace, options.how, Activity::share);
  if (!outcome.ok()) return report(outcome.error());
  if (options.format == "text") use_display(options.display);
  const int status =
      print(options.format == "json" ? json_of(*outcome, options.how.target) : text_of(*outcome));
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_convert(Command& app, int& exit_status) {
  auto options = std::make_shared<ConvertArguments>();
  Command* verb = app.add_subcommand("convert", "Convert a trace to the formats of other tools");
  std::string what;
  std::vector<std::string> names;
  for (const convert::Target& target : convert::targets()) {
    names.emplace_back(target.name);
    what += fmt::format("{}{}: {}", what.empty() ? "" : "; ", target.name, target.what);
    if (!target.missing.empty()) what += fmt::format(" (needs {})", target.missing);
  }
  verb->add_trace(options->trace);
  verb->add_option("--to", options->how.target, what)->required()->check(one_of(names));
  verb->add_option("-o,--output", options->how.output, "File or folder to write")->required();
  Option* rank = verb->add_option("--rank", options->rank, "Only this rank of MPI_COMM_WORLD")
                     ->check(rank_number());
  verb->add_option("--ranks", options->ranks, "Only these ranks, such as 0-3,8")->excludes(rank);
  verb->add_option("--from-ns", options->from_ns,
                   "Only calls that end at this time or later: ns, or as in 20ms")
      ->transform(time_with_unit())
      ->type_name("TIME");
  verb->add_option("--to-ns", options->to_ns, "Only calls that begin at this time or earlier")
      ->transform(time_with_unit())
      ->type_name("TIME");
  verb->add_flag("--no-resolve", options->no_resolve,
                 "Call sites as module and offset, without debug information");
  verb->add_format(options->format, {"text", "json"}, "Format of the summary: text or json");
  add_display(*verb, options->display, false);
  verb->add_option("--flops", options->how.flops,
                   "ti: write computation as flops, so many a second of its time; without it as "
                   "the time itself")
      ->check(positive_number());
  verb->add_option("--memory", options->memory,
                   "otf2, ti, goal, paraver: what tables of channels and of tags may take; what "
                   "does not fit goes over temporary files beside the output")
      ->type_name("SIZE")
      ->capture_default_str();
  verb->add_option("--max-file-bytes", options->how.most_file_bytes,
                   "perfetto: a file that is longer is followed by another one")
      ->transform(bytes_with_unit(4096, uint64_t{1} << 40))
      ->type_name("SIZE")
      ->capture_default_str();
  verb->add_flag("--force", options->how.force, "Replace the output");
  verb->footer(
      "Memory follows ranks and different calls, not the number of calls, messages or channels. "
      "docs/convert.md says what becomes of what.");
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
