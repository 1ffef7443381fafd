// refrain cluster: a few ranks stand for all.

#include <charconv>
#include <filesystem>
#include <memory>
#include <string>

#include "analysis/clusters/cluster.h"
#include "analysis/clusters/matching.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"
#include "reader/internal.h"
#include "report/behaviour/cluster_report.h"

namespace refrain::cli {

namespace {

namespace clusters = analysis::clusters;

struct ClusterArguments {
  std::string trace, output, k;
  std::string method = "signatures", distance = "manhattan", assign = "nearest";
  std::string endpoints = "exact", metric = "replay", format = "text", steps = "1";
  uint64_t seed = 1;
  bool mixes = false, as_paper = false, force = false;
};

// The whole word is a number.
template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

base::Error bad_k(const std::string& word) {
  return base::usage(
      "--k: '" + word +
      "' is neither a number of clusters from 1 up, nor kinds, auto or auto:ERR with "
      "a relative error between 0 and 1");
}

// A number, kinds, auto, auto:ERR; nine where nothing is said.
Status take_k(const std::string& word, clusters::ClusterRequest& request) {
  if (word.empty()) return base::Done{};
  if (word == "kinds") {
    request.choice = format::ClusterChoice::kKinds;
  } else if (word == "auto" || word.rfind("auto:", 0) == 0) {
    request.choice = format::ClusterChoice::kAuto;
    if (word != "auto" && (!parse_number(std::string_view(word).substr(5), request.error) ||
                           !(request.error > 0 && request.error < 1)))
      return bad_k(word);
  } else if (!parse_number(std::string_view(word), request.k) || request.k == 0) {
    return bad_k(word);
  }
  return base::Done{};
}

format::ClusterMethod method_of(const std::string& word) {
  for (uint8_t m = 0; m < format::kClusterMethods; ++m)
    if (to_string(static_cast<format::ClusterMethod>(m)) == word)
      return static_cast<format::ClusterMethod>(m);
  return format::ClusterMethod::kSignatures;
}

format::ClusterMetric metric_of(const std::string& word) {
  for (uint8_t m = 0; m < format::kClusterMetrics; ++m)
    if (to_string(static_cast<format::ClusterMetric>(m)) == word)
      return static_cast<format::ClusterMetric>(m);
  return format::ClusterMetric::kReplay;
}

Result<clusters::ClusterRequest> take(const ClusterArguments& options) {
  clusters::ClusterRequest request;
  if (const Status k = take_k(options.k, request); !k.ok()) return k.error();
  request.method = method_of(options.method);
  request.metric = metric_of(options.metric);
  request.has_two_steps = options.steps == "2";
  request.is_euclidean = options.distance == "euclidean";
  request.is_by_tree = options.assign == "tree" || options.as_paper;
  request.has_lead_endpoints = options.endpoints == "lead" || options.as_paper;
  request.mixes_structures = options.mixes || options.as_paper;
  request.seed = options.seed;
  return request;
}

// Nine is the paper's number, and more than small runs have ranks.
void fit_default(const ClusterArguments& options, const Trace& trace,
                 clusters::ClusterRequest& request) {
  const auto ranks = static_cast<uint64_t>(trace.rank_count());
  if (options.k.empty() && request.k > ranks) request.k = ranks;
}

int run(const ClusterArguments& options) {
  auto request = take(options);
  if (!request.ok()) return report(request.error());
  std::error_code ignored;
  if (!options.force && std::filesystem::exists(options.output, ignored))
    return report(
        base::usage("is there already; name another with -o, or say --force", options.output));
  const auto trace = Trace::open(options.trace);
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
  const int status =
      print(options.format == "json" ? report::cluster_json(view) : report::cluster_text(view));
  return status != 0 ? status : status_of(*trace);
}

}  // namespace

void add_cluster(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<ClusterArguments>();
  CLI::App* verb = app.add_subcommand(
      "cluster", "Finds ranks that are alike, and lets one of each stand for them");
  verb->add_option("trace", options->trace, "Trace file (.rfn)")->required();
  verb->add_option("-o,--output", options->output, "Trace file to write")->required();
  verb->add_option(
      "--k", options->k,
      "How many clusters: a number, kinds (one for each structure), or auto[:ERR]: as few "
      "as keep the relative error below ERR [9; auto:0.05]");
  verb->add_flag(
      "--mix", options->mixes,
      "Ranks of different structure may be one cluster; the trace cannot be replayed then");
  verb->add_flag("--paper", options->as_paper, "As ACURDION: --mix --endpoints lead --assign tree");
  verb->add_option(
          "--assign", options->assign,
          "nearest: each rank takes the nearest lead; tree: it goes where the tree leads it")
      ->check(one_of({"nearest", "tree"}))
      ->capture_default_str();
  verb->add_option("--steps", options->steps, "1, or 2: by call path first, then by all else")
      ->check(one_of({"1", "2"}))
      ->capture_default_str();
  verb->add_option("--distance", options->distance, "Of ranks from each other")
      ->check(one_of({"manhattan", "euclidean"}))
      ->capture_default_str();
  verb->add_option(
          "--endpoints", options->endpoints,
          "exact: each rank keeps its calls, and shows times of its lead; lead: its calls are "
          "its lead's, relative to the rank")
      ->check(one_of({"exact", "lead"}))
      ->capture_default_str();
  verb->add_option("--method", options->method, "What ranks are compared by")
      ->check(one_of({"signatures", "reference", "two-signature", "hierarchical", "none"}))
      ->capture_default_str();
  verb->add_option("--metric", options->metric, "What --k auto bounds the error of")
      ->check(one_of({"replay", "profile", "waits"}))
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "Which ranks --k auto looks at")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_option("--format", options->format, "text or json")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  verb->add_flag("--force", options->force, "Overwrite the output");
  verb->footer(
      "The new trace opens like any other: every verb works on it, and says what it does not know "
      "of single ranks. Sums of calls, bytes and times stay exact.");
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
