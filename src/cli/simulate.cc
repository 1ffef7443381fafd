// refrain simulate: how long a recorded run takes on another machine.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "cli/options/values.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/behaviour/simulate_report.h"
#include "sim/machine/machine.h"
#include "sim/run/predicted_trace.h"
#include "sim/run/simulate.h"

namespace refrain::cli {
namespace {

struct SimulateArguments {
  std::string trace, machine, output, contention = "fair", format = "text";
  uint64_t most_calls = sim::SimulateOptions().most_calls;
  bool force = false;
};

// 0, or 4 with a line on stderr when parts of the run were not simulated.
int status_of(const Trace& trace, const sim::Simulation& simulation) {
  if (simulation.not_lowered.empty()) return cli::status_of(trace);
  uint64_t sum = 0;
  for (const auto& [what, count] : simulation.not_lowered) sum += count;
  return report(base::Error{base::ErrorCode::kIncomplete,
                            std::to_string(sum) + " parts of the run were not simulated (" +
                                simulation.not_lowered.begin()->first +
                                "): the prediction lacks their time",
                            trace.name()});
}

int run(const SimulateArguments& arguments) {
  std::error_code ignored;
  if (!arguments.output.empty() && !arguments.force &&
      std::filesystem::exists(arguments.output, ignored))
    return report(base::usage("is there already; name another, or say --force", arguments.output));
  const auto machine = sim::read_machine(arguments.machine);
  if (!machine.ok()) return report(machine.error());
  const auto trace = Trace::open(arguments.trace);
  if (!trace.ok()) return report(trace.error());
  if (!trace->info().complete)
    return report(base::Error{base::ErrorCode::kIncomplete,
                              "the trace is incomplete: ranks would wait for what it lacks",
                              trace->name()});
  sim::SimulateOptions options;
  options.contention =
      arguments.contention == "fair" ? sim::Contention::kFair : sim::Contention::kNone;
  options.most_calls = arguments.most_calls;
  options.folder = std::filesystem::path(arguments.output).parent_path().string();
  options.progress = Activity::share;
  std::unique_ptr<sim::PredictedTrace> predicted;
  if (!arguments.output.empty()) {
    predicted = std::make_unique<sim::PredictedTrace>(
        *trace, machine->name.empty() ? machine->file : machine->name);
    options.on_call = [&](Rank rank, uint32_t thread, uint64_t seq, sim::Time begin,
                          sim::Time end) { predicted->add(rank, thread, seq, begin, end); };
  }
  const auto simulation = sim::simulate(*trace, *machine, options);
  if (!simulation.ok()) return report(simulation.error());
  if (!simulation->deadlock.empty())
    return report(base::fail(report::deadlock_text(*simulation), trace->name()));
  if (predicted)
    if (const auto done = predicted->write(arguments.output); !done.ok())
      return report(done.error());
  const int status =
      print(arguments.format == "json" ? report::simulate_json(*simulation, *machine)
                                       : report::simulate_text(*simulation, *machine));
  return status != 0 ? status : status_of(*trace, *simulation);
}

}  // namespace

void add_simulate(CLI::App& app, int& exit_status) {
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* verb =
      app.add_subcommand("simulate", "How long a recorded run takes on another machine");
  verb->add_option("trace", arguments->trace, "Trace file (.rfn)")->required();
  verb->add_option("--machine", arguments->machine,
                   "Machine file (TOML): parameters of the network, topology, mapping")
      ->required();
  verb->add_option("-o,--output", arguments->output,
                   "Write a trace with the predicted times of all calls");
  verb->add_option("--contention", arguments->contention,
                   "fair: messages share the links of the machine's topology; none: they do not")
      ->check(one_of({"fair", "none"}))
      ->capture_default_str();
  verb->add_option("--max-calls", arguments->most_calls, "Runs with more calls are refused")
      ->check(whole_number(1))
      ->type_name("COUNT")
      ->capture_default_str();
  verb->add_option("--format", arguments->format, "text or json")
      ->check(one_of({"text", "json"}))
      ->capture_default_str();
  verb->add_flag("--force", arguments->force, "Overwrite the output");
  verb->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace refrain::cli
