// refrain similarity: ranks that compute alike, and who stands for them.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/computation/groups.h"
#include "cli/options/display_options.h"
#include "cli/options/values.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"
#include "report/behaviour/similarity_report.h"

namespace refrain::cli {
namespace {

using analysis::computation::HowToGroup;

struct SimilarityOptions {
  std::vector<std::string> traces;
  std::string by = "linkage", format = "text", plan, svg, times, vectors;
  double percent = 10;
  uint32_t clusters = 0;
  uint64_t seed = 1;
  bool force = false;
  DisplayOptions display;
};

HowToGroup how_of(const SimilarityOptions& options) {
  HowToGroup how;
  how.percent = options.percent;
  how.seed = options.seed;
  if (options.clusters > 0) {
    how.by = HowToGroup::By::kClusters;
    how.clusters = options.clusters;
  } else if (options.by == "sequence") {
    how.by = HowToGroup::By::kSequence;
  }
  return how;
}

base::Status check_free(const SimilarityOptions& options) {
  std::vector<std::string> read = options.traces;
  read.push_back(options.times);
  return may_write_all({options.plan, options.svg, options.vectors}, options.force, read);
}

// A line of CSV for each rank and unit; whole in memory, as it is nothing or complete on the disk.
class VectorLines {
 public:
  void add(const analysis::computation::Sequence& sequence, uint64_t first, uint64_t count,
           std::span<const uint64_t> units_ns) {
    for (uint64_t v = 0; v < sequence.ranks.size(); ++v)
      for (uint64_t i = 0; i < count; ++i)
        text_ += std::to_string(sequence.ranks.at(v)) + "," + std::to_string(first + i) + "," +
                 std::to_string(units_ns[v * count + i]) + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "rank,unit,ns\n";
};

base::Result<std::vector<Trace>> open_all(const std::vector<std::string>& paths) {
  std::vector<Trace> out;
  for (const std::string& path : paths) {
    auto trace = Trace::open_with_times(path);
    if (!trace.ok()) return trace.error();
    out.push_back(std::move(*trace));
  }
  return out;
}

int run(const SimilarityOptions& options) {
  if (const auto status = check_free(options); !status.ok()) return report(status.error());
  const auto traces = open_all(options.traces);
  if (!traces.ok()) return report(traces.error());
  if (options.clusters > static_cast<uint64_t>(traces->front().rank_count()))
    return report(base::usage("--clusters " + std::to_string(options.clusters) + ": the run has " +
                              std::to_string(traces->front().rank_count()) + " ranks"));
  const HowToGroup how = how_of(options);
  const uint64_t calls = traces->front().call_count();
  analysis::computation::GroupProgress progress;
  progress.read = [calls](uint64_t read) { Activity::share(std::min(read, calls), calls); };
  progress.compare = [](double part) { Activity::share(static_cast<uint64_t>(part * 1000), 1000); };
  VectorLines lines;
  if (!options.vectors.empty())
    progress.vectors = [&lines](const auto& sequence, uint64_t first, uint64_t count,
                                std::span<const uint64_t> units_ns) {
      lines.add(sequence, first, count, units_ns);
    };
  analysis::computation::SoloTimes times;
  if (!options.times.empty()) {
    auto file = format::vectors::read_file(options.times);
    if (!file.ok()) return report(file.error());
    times = {std::move(*file), options.times};
  }
  const auto groups = analysis::computation::groups_of(*traces, how, progress,
                                                       options.times.empty() ? nullptr : &times);
  if (!groups.ok()) return report(groups.error());
  if (!options.plan.empty())
    if (const auto status = format::write_file_atomically(
            options.plan, report::similarity_plan(*groups), "the plan");
        !status.ok())
      return report(status.error());
  if (!options.svg.empty())
    if (const auto status = format::write_file_atomically(
            options.svg, report::similarity_svg(*groups), "the picture");
        !status.ok())
      return report(status.error());
  if (!options.vectors.empty())
    if (const auto status =
            format::write_file_atomically(options.vectors, lines.text(), "the vectors");
        !status.ok())
      return report(status.error());
  if (options.format == "text") use_display(options.display);
  const int status = print(options.format == "json" ? report::similarity_json(*groups, how)
                                                    : report::similarity_text(*groups, how));
  return status != 0 ? status : status_of(traces->front());
}

}  // namespace

void add_similarity(Command& app, int& exit_status) {
  auto options = std::make_shared<SimilarityOptions>();
  Command* verb = app.add_subcommand(
      "similarity", "Ranks that compute alike, and a representative for each group");
  verb->add_option("traces", options->traces,
                   "Trace files (.rfn), recorded with times; of several runs of one program the "
                   "least times count")
      ->required();
  Option* percent =
      verb->add_option("-k,--percent", options->percent,
                       "Ranks are one group up to this distance, in percent of the mean time that "
                       "a rank computes")
          ->check(real_number(0, 1000))
          ->capture_default_str();
  Option* clusters = verb->add_option("--clusters", options->clusters,
                                      "So many groups of each sequence instead, by k-means")
                         ->check(whole_number(1, UINT32_MAX))
                         ->type_name("K");
  verb->add_option("--by", options->by,
                   "linkage, or sequence: ranks with the same calls are a group")
      ->check(one_of({"linkage", "sequence"}))
      ->capture_default_str()
      ->excludes(clusters);
  clusters->excludes(percent);
  verb->add_option("--seed", options->seed, "Of k-means")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_option("--times", options->times,
                   "Times of ranks that ran alone (refrain solo --times), instead of the traces'");
  verb->add_option("--plan", options->plan, "Write representatives and groups to this file (JSON)");
  verb->add_option("--svg", options->svg, "Write dendrograms and vectors to this file (SVG)");
  verb->add_format(options->format, {"text", "json"});
  add_display(*verb, options->display, false);
  verb->add_option("--vectors", options->vectors,
                   "Write the vectors that are compared to this file (CSV: rank, unit, ns)");
  verb->add_flag("--force", options->force, "Overwrite files of --plan, --svg and --vectors");
  verb->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace refrain::cli
