// What `simulate` and `predict` ask for in the same way: the machine, times of ranks that ran
// alone, limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/command.h"
#include "refrain/trace.h"
#include "sim/predict/unit_times.h"
#include "sim/run/simulate.h"

namespace refrain::cli {

struct SimulateChoices {
  std::string trace, machine, times, plan, contention = "fair", matching = "recorded",
                                           format = "text";
  std::vector<std::string> traces;
  double skip_percent = 0;  // 0: nothing is skipped
  uint64_t most_calls = sim::SimulateOptions().most_calls;

  // With kMany, traces go to `traces`, and no machine has to be there.
  enum class Runs : uint8_t { kOne, kMany };
  void add_to(Command& verb, Runs runs = Runs::kOne);
  sim::SimulateOptions options() const;
  // What is read: no output may take its place. Names that were not given are empty.
  std::vector<std::string> files() const;
  // Fails where the trace is incomplete.
  base::Result<Trace> open() const;
  // Nothing: no --times was given.
  base::Result<std::optional<sim::UnitTimes>> unit_times(const Trace& trace) const;
};

// A simulation that ended in a deadlock: a failure, or, where recording left calls out, an
// incomplete trace, as the ranks may wait for these.
base::Error deadlock_of(const Trace& trace, const sim::Simulation& simulation);
// 0, or 4 with a line on stderr when parts of the run were not simulated.
int status_of(const Trace& trace, const sim::Simulation& simulation);

}  // namespace refrain::cli
