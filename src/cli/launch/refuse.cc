#include "cli/launch/refuse.h"

#include <cstdlib>
#include <thread>

#include "base/last_words.h"
#include "cli/output/common.h"

namespace refrain::cli {

int refuse(const base::Error& error, const Launcher& launcher) {
  if (launcher.rank == 0) return report(error);
  std::this_thread::sleep_for(base::before_silent_failure(launcher.mpi == Mpi::kOpenMpi));
  return static_cast<int>(error.code);
}

int refuse(const base::Error& error) {
  return refuse(error,
                find_launcher([](const char* name) -> const char* { return std::getenv(name); }));
}

}  // namespace refrain::cli
