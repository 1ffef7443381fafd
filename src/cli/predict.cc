// refrain predict: a simulation with its uncertainty, and what a faster network or processor gives.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/profile/profile.h"
#include "cli/options/simulate_options.h"
#include "cli/options/values.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"
#include "report/models/predict_report.h"
#include "report/models/simulate_report.h"
#include "sim/predict/predict.h"
#include "sim/predict/regression.h"
#include "sim/scaling/other_ranks.h"

namespace refrain::cli {
namespace {

struct PredictArguments {
  SimulateChoices choices;
  std::string sweep, svg;
  bool has_sweep = false, force = false;
  double measured_s = 0;
  bool is_regression = false;
  std::vector<std::string> inputs;
  uint64_t ranks = 0;
  uint64_t draws = sim::kDraws, seed = 1, threads = 0;
};

constexpr const char* kPredictExamples =
    "Examples:\n"
    "  refrain predict run.rfn --machine m.toml\n"
    "  refrain predict run.rfn --machine m.toml --times run.rfv --plan plan.json\n"
    "  refrain predict run.rfn --machine m.toml --sweep bandwidth=1..4,latency=0.5..2 --svg t.svg\n"
    "  refrain predict p16.rfn p64.rfn p256.rfn --ranks 1024 --machine m.toml\n"
    "  refrain predict --regression q4.rfn q8.rfn q16.rfn --ranks 64";

// From how long runs on fewer ranks took.
int run_regression(const PredictArguments& arguments) {
  if (arguments.ranks == 0)
    return report(base::usage("--regression predicts a run on other ranks: say --ranks COUNT"));
  std::vector<sim::RegressionRun> runs;
  std::vector<std::string> commands;
  for (const std::string& name : arguments.choices.traces) {
    const auto trace = Trace::open(name);
    if (!trace.ok()) return report(trace.error());
    const RunInfo& info = trace->info();
    if (!info.complete || info.duration_ns == 0)
      return report(base::Error{base::ErrorCode::kIncomplete, "does not say how long the run took",
                                trace->name()});
    runs.push_back({info.rank_count, analysis::time_between_ns(*trace) * 1e-9, {}});
    commands.emplace_back(info.text_of("command"));
  }
  sim::RegressionRun target{arguments.ranks, 0, {}};
  for (const std::string& text : arguments.inputs) {
    const auto input = sim::parse_input(text, commands);
    if (!input.ok()) return report(input.error());
    target.inputs.push_back(input->of_target);
    for (size_t i = 0; i < runs.size(); ++i) runs[i].inputs.push_back(input->of_runs[i]);
  }
  const auto regression = sim::regress(runs, target);
  if (!regression.ok()) return report(regression.error());
  return print(arguments.choices.format == "json"
                   ? report::regression_json(*regression, target, arguments.measured_s)
                   : report::regression_text(*regression, target, arguments.measured_s));
}

// The run that is predicted: the recorded one, or, with --ranks, the one that follows from three.
base::Result<Trace> open_run(PredictArguments& arguments) {
  SimulateChoices& choices = arguments.choices;
  if (arguments.ranks == 0) return choices.open();
  if (!choices.times.empty() || !choices.plan.empty())
    return base::usage("--times and --plan are of one run, not of one that follows from others");
  std::vector<Trace> traces;
  for (const std::string& name : choices.traces) {
    choices.trace = name;
    auto trace = choices.open();
    if (!trace.ok()) return trace.error();
    traces.push_back(std::move(*trace));
  }
  return sim::at_ranks(traces, arguments.ranks);
}

int run(PredictArguments arguments) {
  if (arguments.is_regression) return run_regression(arguments);
  if (!arguments.inputs.empty()) return report(base::usage("--input goes with --regression"));
  if (arguments.choices.traces.size() != (arguments.ranks > 0 ? 3 : 1))
    return report(base::usage(
        "takes one run, or three and --ranks COUNT, or --regression and as many as there are"));
  if (arguments.choices.machine.empty()) return report(base::usage("--machine is missing"));
  arguments.choices.trace = arguments.choices.traces[0];
  const SimulateChoices& choices = arguments.choices;
  if (const Status good = may_write(arguments.svg, arguments.force, choices.files()); !good.ok())
    return report(good.error());
  sim::PredictOptions options;
  if (arguments.has_sweep) {
    auto sweeps = sim::parse_sweeps(arguments.sweep);
    if (!sweeps.ok()) return report(sweeps.error());
    options.sweeps = std::move(*sweeps);
  } else if (!arguments.svg.empty()) {
    return report(base::usage("--svg draws a sweep: --sweep bandwidth=0.5..2,latency=0.5..2"));
  }
  const auto machine = sim::read_machine(choices.machine);
  if (!machine.ok()) return report(machine.error());
  const auto trace = open_run(arguments);
  if (!trace.ok()) return report(trace.error());
  const auto times = choices.unit_times(*trace);
  if (!times.ok()) return report(times.error());
  options.simulate = choices.options();
  if (times->has_value()) options.times = &**times;
  options.draws = static_cast<uint32_t>(arguments.draws);
  options.seed = arguments.seed;
  options.threads = static_cast<uint32_t>(arguments.threads);
  const auto prediction = sim::predict(*trace, *machine, options);
  if (!prediction.ok()) return report(prediction.error());
  if (!prediction->simulation.deadlock.empty())
    return report(deadlock_of(*trace, prediction->simulation));
  if (!arguments.svg.empty())
    if (const auto done = format::write_file_atomically(
            arguments.svg, report::tornado_svg(*prediction), "the picture");
        !done.ok())
      return report(done.error());
  const int status = print(choices.format == "json"
                               ? report::predict_json(*prediction, *machine, arguments.measured_s)
                               : report::predict_text(*prediction, *machine, arguments.measured_s));
  return status != 0 ? status : status_of(*trace, prediction->simulation);
}

}  // namespace

void add_predict(Command& app, int& exit_status) {
  auto arguments = std::make_shared<PredictArguments>();
  Command* verb = app.add_subcommand(
      "predict", "How long a run takes on another machine, how sure that is, and what would help");
  arguments->choices.add_to(*verb, SimulateChoices::Runs::kMany);
  verb->add_flag("--regression", arguments->is_regression,
                 "From how long runs on fewer ranks took, without a simulation");
  verb->add_option(
          "--ranks", arguments->ranks,
          "Of the run that is predicted: with --regression, or from three runs of the same program "
          "on other numbers of ranks, where all that it does follows these")
      ->check(whole_number(1, 1U << 24))
      ->type_name("COUNT");
  verb->add_option("--input", arguments->inputs,
                   "With --regression: an input variable of the program, which the commands of the "
                   "runs have (n=400), or with their values (n=100,200,200:400)")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  Option* const sweep =
      verb->add_option("--sweep", arguments->sweep,
                       "Parts of the machine by factors: bandwidth, latency, overhead, compute; "
                       "bandwidth=1..4 in 5 steps, latency=0.5..2:9 in 9")
          ->type_name("PART=FROM..TO,...");
  verb->add_option("--svg", arguments->svg, "Write the sweeps as a tornado chart (SVG)");
  verb->add_option("--measured", arguments->measured_s,
                   "Seconds that the run takes there: shows the error of the prediction")
      ->check(positive_number());
  verb->add_option("--draws", arguments->draws,
                   "Simulations with drawn parameters, for the interval; 0: none")
      ->check(whole_number(0, 10000))
      ->capture_default_str();
  verb->add_option("--seed", arguments->seed, "Of what is drawn")
      ->check(whole_number())
      ->capture_default_str();
  verb->add_option("--threads", arguments->threads, "Simulations side by side [all cores]")
      ->check(whole_number(1, 4096));
  verb->add_flag("--force", arguments->force, "Overwrite the picture");
  verb->footer(kPredictExamples);
  verb->callback([arguments, sweep, &exit_status] {
    arguments->has_sweep = sweep->count() > 0;
    exit_status = run(*arguments);
  });
}

}  // namespace refrain::cli
