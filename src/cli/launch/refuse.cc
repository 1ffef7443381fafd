#include "cli/launch/refuse.h"

#include <chrono>
#include <cstdlib>
#include <thread>

#include "cli/output/common.h"

namespace refrain::cli {

int refuse(const base::Error& error, const Launcher& launcher) {
  if (launcher.rank == 0) return report(error);
  // Open MPI 5 ends the job, what rank 0 has said included, as soon as one rank has failed. So the
  // first to fail must be rank 0, which may take seconds to get here on a busy host; that ends the
  // others at once. MPICH's launcher would wait for each of them.
  std::this_thread::sleep_for(std::chrono::seconds(launcher.mpi == Mpi::kOpenMpi ? 10 : 1));
  return static_cast<int>(error.code);
}

int refuse(const base::Error& error) {
  return refuse(error,
                find_launcher([](const char* name) -> const char* { return std::getenv(name); }));
}

}  // namespace refrain::cli
