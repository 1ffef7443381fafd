// sim::Simulation as text and JSON. docs/simulate.md describes the fields.
#pragma once

#include <string>

#include "sim/machine/machine.h"
#include "sim/run/simulate.h"

namespace refrain::report {

std::string simulate_text(const sim::Simulation& simulation, const sim::Machine& machine);
// {"machine", "predicted_ns", "ranks": [...], ...}; times in ns.
std::string simulate_json(const sim::Simulation& simulation, const sim::Machine& machine);
// "rank 3 waits in MPI_Recv at ring.c:41 (call 17) from 1.2 ms on, ..." of the first few.
std::string deadlock_text(const sim::Simulation& simulation, const Trace& trace);

}  // namespace refrain::report
