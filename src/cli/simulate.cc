// refrain simulate: how long a recorded run takes on another machine.

#include <filesystem>
#include <memory>
#include <string>

#include "cli/options/simulate_options.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "report/models/simulate_report.h"
#include "sim/machine/machine.h"
#include "sim/run/predicted_trace.h"
#include "sim/run/simulate.h"

namespace refrain::cli {
namespace {

struct SimulateArguments {
  SimulateChoices choices;
  std::string output;
  bool force = false;
};

int run(const SimulateArguments& arguments) {
  const SimulateChoices& choices = arguments.choices;
  if (const Status good = may_write(arguments.output, arguments.force, choices.files()); !good.ok())
    return report(good.error());
  if (choices.skip_percent > 0 && !arguments.output.empty())
    return report(base::usage("--skip leaves calls without times: a trace (-o) needs all"));
  const auto machine = sim::read_machine(choices.machine);
  if (!machine.ok()) return report(machine.error());
  const auto trace = choices.open();
  if (!trace.ok()) return report(trace.error());
  const auto times = choices.unit_times(*trace);
  if (!times.ok()) return report(times.error());
  sim::SimulateOptions options = choices.options();
  options.folder = std::filesystem::path(arguments.output).parent_path().string();
  if (times->has_value()) options.times = &**times;
  std::unique_ptr<sim::PredictedTrace> predicted;
  if (!arguments.output.empty()) {
    predicted = std::make_unique<sim::PredictedTrace>(
        *trace, machine->name.empty() ? machine->file : machine->name);
    options.on_call = [&](Rank rank, uint32_t thread, uint64_t seq, sim::Time begin,
                          sim::Time end) { predicted->add(rank, thread, seq, begin, end); };
  }
  const auto simulation = sim::simulate(*trace, *machine, options);
  if (!simulation.ok()) return report(simulation.error());
  if (!simulation->deadlock.empty()) return report(deadlock_of(*trace, *simulation));
  if (predicted)
    if (const auto done = predicted->write(arguments.output); !done.ok())
      return report(done.error());
  const int status = print(choices.format == "json" ? report::simulate_json(*simulation, *machine)
                                                    : report::simulate_text(*simulation, *machine));
  return status != 0 ? status : status_of(*trace, *simulation);
}

}  // namespace

void add_simulate(Command& app, int& exit_status) {
  auto arguments = std::make_shared<SimulateArguments>();
  Command* verb =
      app.add_subcommand("simulate", "How long a recorded run takes on another machine");
  arguments->choices.add_to(*verb);
  verb->add_option("-o,--output", arguments->output,
                   "Write a trace with the predicted times of all calls");
  verb->add_flag("--force", arguments->force, "Overwrite the output");
  verb->callback([arguments, &exit_status] { exit_status = run(*arguments); });
}

}  // namespace refrain::cli
