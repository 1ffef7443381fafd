// A program that ends before it is in MPI_Init - its arguments are wrong, its input is missing -
// must end its job, and with its own exit status. An analyser that is in MPI_Init by then would
// wait there for ever.
#pragma once

namespace refrain::tracer {

// After announce_rank() of an analyser and before its MPI_Init: waits until a program of this host
// is in its own. Does not wait where that cannot be seen: with other hosts, in a container that
// hides the launcher, or beside a program that was started without `record --live`; and a minute at
// most. False: all programs have ended.
bool wait_for_programs();

}  // namespace refrain::tracer
