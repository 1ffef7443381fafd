// What `simulate` and `predict` ask for in the same way: the machine, times of ranks that ran
// alone, limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/options/command.h"
#include "refrain/trace.h"
#include "sim/predict/unit_times.h"
#include "sim/run/simulate.h"

namespace refrain::cli {

struct SimulateChoices {
  std::string trace, machine, times, plan, contention = "fair", format = "text";
  uint64_t most_calls = sim::SimulateOptions().most_calls;

  void add_to(Command& verb);
  sim::SimulateOptions options() const;
  // Fails where the trace is incomplete.
  base::Result<Trace> open() const;
  // Nothing: no --times was given.
  base::Result<std::optional<sim::UnitTimes>> unit_times(const Trace& trace) const;
};

// 0, or 4 with a line on stderr when parts of the run were not simulated.
int status_of(const Trace& trace, const sim::Simulation& simulation);

}  // namespace refrain::cli
