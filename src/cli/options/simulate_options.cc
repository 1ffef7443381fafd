#include "cli/options/simulate_options.h"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "cli/options/values.h"
#include "cli/output/activity.h"
#include "cli/output/common.h"
#include "report/models/simulate_report.h"
#include "sim/lower/trace_actions.h"
#include "text/escape.h"

namespace refrain::cli {

void SimulateChoices::add_to(Command& verb, Runs runs) {
  if (runs == Runs::kOne)
    verb.add_trace(trace);
  else
    verb.add_option("trace", traces, "Trace file (.rfn); several of them with --regression")
        ->required();
  verb.add_option("--machine", machine,
                  "Machine file (TOML): parameters of the network, topology, mapping")
      ->required(runs == Runs::kOne);
  Option* const of_times =
      verb.add_option("--times", times,
                      "Computation from ranks that ran alone (refrain solo --times), instead of "
                      "the trace's");
  verb.add_option("--plan", plan,
                  "Ranks that stand for others (refrain similarity --plan): their times are those "
                  "of all ranks of their groups")
      ->needs(of_times);
  verb.add_option("--contention", contention,
                  "fair: messages share the links of the machine's topology; none: they do not")
      ->check(one_of({"fair", "none"}))
      ->capture_default_str();
  verb.add_option("--matching", matching,
                  "recorded: receives from any source take what they took; simulated: what comes "
                  "first on this machine")
      ->check(one_of({"recorded", "simulated"}))
      ->capture_default_str();
  verb.add_option("--skip", skip_percent,
                  "Leave out iterations that repeat, if the error is at most PERCENT of the "
                  "computation: 0.5%")
      ->transform(percent_with_sign())
      ->type_name("PERCENT");
  verb.add_option("--max-calls", most_calls, "Runs with more calls are refused")
      ->check(whole_number(1))
      ->type_name("COUNT")
      ->capture_default_str();
  verb.add_format(format, {"text", "json"});
}

sim::SimulateOptions SimulateChoices::options() const {
  sim::SimulateOptions out;
  out.contention = contention == "fair" ? sim::Contention::kFair : sim::Contention::kNone;
  out.matching = matching == "simulated" ? sim::Matching::kSimulated : sim::Matching::kRecorded;
  out.skip_share = skip_percent / 100;
  out.most_calls = most_calls;
  out.progress = Activity::share;
  out.reads_ahead = std::thread::hardware_concurrency() > 1;
  return out;
}

std::vector<std::string> SimulateChoices::files() const {
  std::vector<std::string> all = traces;
  all.insert(all.end(), {trace, machine, times, plan});
  return all;
}

base::Result<Trace> SimulateChoices::open() const {
  auto out = Trace::open_with_times(trace);
  if (out.ok() && !out->info().complete)
    return base::Error{base::ErrorCode::kIncomplete,
                       "the trace is incomplete: ranks would wait for what it lacks", out->name()};
  return out;
}

base::Result<std::optional<sim::UnitTimes>> SimulateChoices::unit_times(const Trace& of) const {
  using Out = std::optional<sim::UnitTimes>;
  if (times.empty()) return Out();
  auto file = format::vectors::read_file(times);
  if (!file.ok()) return file.error();
  sim::Plan who = sim::plan_of_all(of.rank_count());
  if (!plan.empty()) {
    auto read = sim::read_plan(plan, of.rank_count());
    if (!read.ok()) return read.error();
    who = std::move(*read);
  }
  auto out = sim::UnitTimes::make(of, std::move(*file), times, who);
  if (!out.ok()) return out.error();
  return Out(std::move(*out));
}

base::Error deadlock_of(const Trace& trace, const sim::Simulation& simulation) {
  const std::string waits = report::deadlock_text(simulation, trace);
  const RunInfo& info = trace.info();
  const bool is_filtered = !info.text_of("filter").empty() ||
                           std::any_of(info.losses.begin(), info.losses.end(),
                                       [](const Loss& loss) { return loss.reason == "left_out"; });
  // Which communicator a thread means that another one made, and what it waits for, is in the order
  // of the calls of all threads, which times tell.
  if (!is_filtered && !trace.has_times() && sim::TraceActions::has_threads(trace))
    return {base::ErrorCode::kIncomplete,
            "ranks have several threads, whose order the trace does not tell, and wait for ever: " +
                waits + "; record with --timing exact",
            trace.name()};
  if (!is_filtered) return base::fail("deadlock: " + waits, trace.name());
  const std::string filter(info.text_of("filter"));
  return {base::ErrorCode::kIncomplete,
          "the recording left calls out (" +
              (filter.empty() ? "it was paused" : "filter: " + text::printable(filter)) +
              "), and ranks wait for what the trace lacks: " + waits +
              "; record without leaving calls out",
          trace.name()};
}

int status_of(const Trace& trace, const sim::Simulation& simulation) {
  if (simulation.not_lowered.empty()) return status_of(trace);
  uint64_t sum = 0;
  for (const auto& [what, count] : simulation.not_lowered) sum += count;
  return report(base::Error{base::ErrorCode::kIncomplete,
                            std::to_string(sum) + " parts of the run were not simulated (" +
                                simulation.not_lowered.begin()->first +
                                "): the prediction lacks their time",
                            trace.name()});
}

}  // namespace refrain::cli
