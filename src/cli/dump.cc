// refrain dump: every call in order, decoded; --bytes: the file itself, annotated.

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/window.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/output/output.h"
#include "cli/verbs.h"
#include "format/decode/decode.h"
#include "reader/trace_file.h"
#include "refrain/calls.h"
#include "report/trace/call_text.h"
#include "report/waits/waits_rows.h"
#include "text/path_names.h"
#include "text/site_names.h"
#include "text/values.h"

namespace refrain::cli {

namespace {

struct DumpArguments {
  std::string path;
  std::string format = "text";
  std::optional<int64_t> rank;
  std::optional<uint32_t> thread;
  uint64_t from = 0;
  uint64_t first = UINT64_MAX;
  std::optional<uint64_t> from_ns, to_ns;
  bool bytes = false;
  bool no_resolve = false;
  bool call_paths = false;
  DisplayOptions display;
};

class Dumper {
 public:
  Dumper(const Trace& trace, const DumpArguments& options)
      : trace_(trace),
        options_(options),
        sites_(trace, !options.no_resolve),
        paths_(trace, symbols_) {}

  base::Status run() {
    const bool array = options_.format == "json";
    if (array) out_.write("[");
    const Rank begin = options_.rank.value_or(0);
    const Rank end = options_.rank ? begin + 1 : trace_.rank_count();
    for (Rank rank = begin; rank < end && !out_.closed(); ++rank) {
      const base::Status status = dump_rank(rank);
      if (!status.ok()) return status;
    }
    if (array) out_.write(is_first_ ? "]\n" : "\n]\n");
    return out_.finish();
  }

 private:
  base::Status dump_rank(Rank rank) {
    const std::vector<Location> locations = trace_.locations(rank);
    RankReader reader(trace_, rank, Times::kRead);
    report::CallFormatter formatter(
        trace_, options_.format == "text" ? text::Style::kText : text::Style::kJson,
        [this](DefinitionId site) { return sites_.name(site); });
    if (options_.call_paths)
      formatter.show_paths([this](DefinitionId path) -> const std::vector<text::PathStep>& {
        return options_.no_resolve ? unresolved(path) : paths_.steps(path);
      });
    for (const Location& location : locations) {
      if (options_.thread && *options_.thread != location.thread) continue;
      const base::Status status = dump_location(reader, location, formatter);
      if (!status.ok()) return status;
    }
    return base::Done{};
  }

  base::Status dump_location(RankReader& reader, const Location& location,
                             report::CallFormatter& formatter) {
    analysis::CallRange range;
    range.first = options_.from;
    range.from_ns = options_.from_ns.value_or(0);
    range.to_ns = options_.to_ns.value_or(UINT64_MAX);
    Result<analysis::CallsInRange> calls =
        analysis::CallsInRange::open(reader, location.thread, range);
    if (!calls.ok()) return calls.error();
    const std::string_view separator = options_.format == "json" ? ",\n" : "";
    for (uint64_t left = options_.first; left > 0 && !out_.closed(); --left) {
      const Call* const call = calls->next();
      if (call == nullptr) break;
      if (!separator.empty()) out_.buffer() += is_first_ ? "\n" : separator;
      is_first_ = false;
      if (!formatter.append(out_.buffer(), *call))
        return base::fail("call " + std::to_string(call->seq) + " of rank " +
                              std::to_string(location.rank) +
                              " stands for more text than can be printed",
                          trace_.name());
      if (separator.empty()) out_.buffer() += '\n';
      out_.flush_if_full();
    }
    return calls->time_status();
  }
  // A path as modules and offsets.
  const std::vector<text::PathStep>& unresolved(DefinitionId path) {
    unresolved_.clear();
    for (const DefinitionId site : trace_.call_path(path))
      unresolved_.insert(unresolved_.begin(), {sites_.name(site), ""});
    return unresolved_;
  }

  const Trace& trace_;
  const DumpArguments& options_;
  text::SiteNames sites_;
  reader::Symbols symbols_;
  text::PathNames paths_;
  std::vector<text::PathStep> unresolved_;
  Output out_;
  bool is_first_ = true;
};

// The file as bytes with what they mean, also of a damaged one as far as it can be told; the exit
// status is that of every other verb.
int dump_bytes(const DumpArguments& options) {
  const Result<std::string> bytes = reader::read_trace_file(options.path);
  if (!bytes.ok()) return report(bytes.error());
  Output out;
  std::string section;
  for (const format::ByteLine& line : format::annotate(*bytes)) {
    if (line.section != section) {
      section = line.section;
      out.write(fmt::format("{}{}\n", section, line.in_raw ? " (decompressed)" : ""));
    }
    out.write(fmt::format("  {:>8x}  {:<24}  {}\n", line.offset, line.hex, line.meaning));
  }
  const base::Status done = out.finish();
  if (!done.ok()) return report(done.error());
  const Result<Trace> trace = Trace::from_bytes(*bytes, options.path);
  return trace.ok() ? status_of(*trace) : report(trace.error());
}

// Whether there is anything of what --rank and --thread ask for.
base::Status check_selection(const Trace& trace, const DumpArguments& options) {
  if (options.rank) {
    const base::Status known = check_rank(trace, *options.rank);
    if (!known.ok() || !options.thread) return known;
  }
  if (!options.thread) return base::Done{};
  const auto has_thread = [&](const std::vector<Location>& locations) {
    return std::any_of(locations.begin(), locations.end(),
                       [&](const Location& l) { return l.thread == *options.thread; });
  };
  bool found = options.rank && has_thread(trace.locations(static_cast<Rank>(*options.rank)));
  for (GroupId g = 0; !options.rank && !found && g < trace.group_count(); ++g)
    found = has_thread(trace.group_locations(g));
  if (found) return base::Done{};
  const std::string who = options.rank ? "rank " + std::to_string(*options.rank) : "any rank";
  return base::usage("no thread " + std::to_string(*options.thread) + " in " + who, trace.name());
}

int run(const DumpArguments& options) {
  if (options.bytes) return dump_bytes(options);
  if (options.from_ns && options.to_ns && *options.from_ns > *options.to_ns)
    return report(base::usage("--from-ns is later than --to-ns"));
  const Result<Trace> trace = Trace::open(options.path);
  if (!trace.ok()) return report(trace.error());
  const base::Status selected = check_selection(*trace, options);
  if (!selected.ok()) return report(selected.error());
  if ((options.from_ns || options.to_ns) && !trace->has_times())
    return report(
        base::unsupported("the trace has no times of single calls: record with --timing exact "
                          "or bins:0.02",
                          options.path));
  if (options.format == "text") use_display(options.display);
  const base::Status done = Dumper(*trace, options).run();
  return done.ok() ? status_of(*trace) : report(done.error());
}

}  // namespace

void add_dump(Command& app, int& exit_status) {
  auto options = std::make_shared<DumpArguments>();
  Command* verb = app.add_subcommand("dump", "Every call in order, with every parameter");
  verb->add_trace(options->path);
  const std::vector<Option*> about_calls = {
      verb->add_option("--rank", options->rank, "Only this rank of MPI_COMM_WORLD")
          ->check(rank_number()),
      verb->add_option("--thread", options->thread, "Only this thread of each rank")
          ->check(whole_number(0, UINT32_MAX))
          ->type_name("THREAD"),
      verb->add_option("--format", options->format,
                       "text, jsonl (one object a line) or json (one array)")
          ->check(one_of({"text", "jsonl", "json"}))
          ->capture_default_str(),
      verb->add_option("--from", options->from, "Begin at this call of each thread")
          ->check(whole_number())
          ->type_name("CALL"),
      verb->add_option("--from-ns", options->from_ns,
                       "Begin at the first call that ends at this time or later: ns, or as in 20ms")
          ->transform(time_with_unit())
          ->type_name("TIME"),
      verb->add_option("--to-ns", options->to_ns, "Only calls that begin at this time or earlier")
          ->transform(time_with_unit())
          ->type_name("TIME"),
      verb->add_option("--first", options->first, "Print at most this many calls of each thread")
          ->check(whole_number())
          ->type_name("COUNT")
          ->default_str("all"),
      verb->add_flag("--call-paths", options->call_paths,
                     "With every call also who called whom: all call sites that were recorded, the "
                     "outermost first"),
      verb->add_flag("--no-resolve", options->no_resolve,
                     "Call sites as module and offset, without debug information")};
  add_display(*verb, options->display);
  Option* bytes = verb->add_flag("--bytes", options->bytes,
                                 "Print the bytes of the file instead, annotated, as text");
  for (Option* option : about_calls) bytes->excludes(option);
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
