// refrain cluster: a few ranks stand for all.

#include <filesystem>
#include <memory>
#include <string>

#include "analysis/clusters/cluster.h"
#include "analysis/clusters/matching.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/clusters/cluster_request.h"
#include "format/encode/encode.h"
#include "reader/internal.h"
#include "report/behaviour/cluster_report.h"

namespace refrain::cli {

namespace {

namespace clusters = analysis::clusters;

struct ClusterArguments {
  std::string trace, output;
  format::ClusterWords words;
  std::string format = "text";
  bool as_paper = false, force = false;
  DisplayOptions display;
};

Result<clusters::ClusterRequest> take(const ClusterArguments& options) {
  format::ClusterWords words = options.words;
  if (options.as_paper) {
    words.mixes = true;
    words.endpoints = "lead";
    words.assign = "tree";
  }
  return format::cluster_request(words, "--k");
}

// Nine is the paper's number, and more than small runs have ranks.
void fit_default(const ClusterArguments& options, const Trace& trace,
                 clusters::ClusterRequest& request) {
  const auto ranks = static_cast<uint64_t>(trace.rank_count());
  if (options.words.k.empty() && request.k > ranks) request.k = ranks;
}

int run(const ClusterArguments& options) {
  auto request = take(options);
  if (!request.ok()) return report(request.error());
  if (const Status good = may_write(options.output, options.force, {options.trace}); !good.ok())
    return report(good.error());
  const auto trace = Trace::open_with_times(options.trace);
  if (!trace.ok()) return report(trace.error());
  fit_default(options, *trace, *request);
  const auto found = clusters::find(*trace, *request);
  if (!found.ok()) return report(found.error());
  const auto bytes = clusters::encode(*trace, *found);
  if (!bytes.ok()) return report(bytes.error());
  const auto back = Trace::from_bytes(*bytes, options.output);
  if (!back.ok()) return report(back.error());
  // Before the file of the trace may be replaced.
  const auto matching = clusters::matching(*trace, *back);
  if (!matching.ok()) return report(matching.error());
  const report::ClusterView view{*trace,       *found,         reader::data_of(*back).clusters,
                                 *matching,    options.output, trace->info().file_bytes,
                                 bytes->size()};
  const Status written = format::write_file_atomically(options.output, *bytes);
  if (!written.ok()) return report(written.error());
  if (options.format == "text") use_display(options.display);
  const int status =
      print(options.format == "json" ? report::cluster_json(view) : report::cluster_text(view));
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_cluster(Command& app, int& exit_status) {
  auto options = std::make_shared<ClusterArguments>();
  Command* verb = app.add_subcommand(
      "cluster", "Finds ranks that are alike, and lets one of each stand for them");
  verb->add_trace(options->trace);
  verb->add_option("-o,--output", options->output, "Trace file to write")->required();
  verb->add_option(
      "--k", options->words.k,
      "How many clusters: a number, kinds (one for each structure), or auto[:ERR]: as few "
      "as keep the relative error below ERR [9; auto:0.05]");
  verb->add_flag(
      "--mix", options->words.mixes,
      "Ranks of different structure may be one cluster; the trace cannot be replayed then");
  verb->add_flag("--paper", options->as_paper, "As ACURDION: --mix --endpoints lead --assign tree");
  verb->add_option(
          "--assign", options->words.assign,
          "nearest: each rank takes the nearest lead; tree: it goes where the tree leads it")
      ->check(one_of({"nearest", "tree"}))
      ->capture_default_str();
  verb->add_option("--steps", options->words.steps, "1, or 2: by call path first, then by all else")
      ->check(one_of({"1", "2"}))
      ->capture_default_str();
  verb->add_option("--distance", options->words.distance, "Of ranks from each other")
      ->check(one_of({"manhattan", "euclidean"}))
      ->capture_default_str();
  verb->add_option(
          "--endpoints", options->words.endpoints,
          "exact: each rank keeps its calls, and shows times of its lead; lead: its calls are "
          "its lead's, relative to the rank")
      ->check(one_of({"exact", "lead"}))
      ->capture_default_str();
  verb->add_option("--method", options->words.method, "What ranks are compared by")
      ->check(one_of({"signatures", "reference", "two-signature", "hierarchical", "none"}))
      ->capture_default_str();
  verb->add_option("--metric", options->words.metric, "What --k auto bounds the error of")
      ->check(one_of({"replay", "profile", "waits"}))
      ->capture_default_str();
  verb->add_option("--seed", options->words.seed, "Which ranks --k auto looks at")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_format(options->format, {"text", "json"});
  add_display(*verb, options->display, false);
  verb->add_flag("--force", options->force, "Overwrite the output");
  verb->footer(
      "The new trace opens like any other: every verb works on it, and says what it does not know "
      "of single ranks. Sums of calls, bytes and times stay exact.");
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
