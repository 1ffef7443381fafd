// Becomes a program of Refrain that is built for an MPI: refrain-replay-mpich,
// refrain-calibrate-smpi.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/launch/find_mpi.h"
#include "cli/launch/launch_line.h"
#include "cli/options/command.h"

namespace refrain::cli {

// --mpi of verbs that become such a program, and what smpimain is started with.
struct MpiChoice {
  std::string mpi;  // empty: the launcher's
  Words smpi_line;  // see smpi_line.h; empty: not under SMPI

  void add_to(Command& verb);
  bool is_simulated() const { return !smpi_line.empty(); }
  // "mpich", "openmpi" or "smpi"; empty where no option says it and no launcher has started this.
  std::string name(const Launcher& launcher) const;
};

// Executes <name>-<mpi> with these words after its name; `mpi` is choice.name(). Under SMPI it is a
// library, which the choice's smpi_line starts. Returns only when there is no such program.
base::Error become_companion(const std::string& name, const std::string& mpi,
                             const MpiChoice& choice, const Words& words);

}  // namespace refrain::cli
