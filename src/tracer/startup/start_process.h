// Starts the recorder of a rank at its first MPI call.
#pragma once

namespace refrain::tracer {

class Process;

// Options from the environment, clock, filters, what is loaded.
void start_process(Process& process);

}  // namespace refrain::tracer
