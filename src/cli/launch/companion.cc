#include "cli/launch/companion.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/launch/own_files.h"
#include "cli/launch/smpi_line.h"

namespace refrain::cli {
namespace {

void execute(const std::string& program, Words words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
}

}  // namespace

void MpiChoice::add_to(Command& verb) {
  verb.add_option("--mpi", mpi, "The MPI to use [the launcher's]")
      ->check(one_of(launched_mpi_words()));
  verb.add_option("--smpi-line", smpi_line)->group("");
}

std::string MpiChoice::name(const Launcher& launcher) const {
  if (is_simulated()) return "smpi";
  if (!mpi.empty()) return mpi;
  return launcher.mpi == Mpi::kNone ? "" : mpi_word(launcher.mpi);
}

base::Error become_companion(const std::string& name, const std::string& mpi,
                             const MpiChoice& choice, const Words& words) {
  const std::string file = name + "-" + mpi;
  std::string looked;
  for (const std::string& folder : own_folders()) {
    const std::string program = folder + "/" + file;
    if (!choice.is_simulated()) {
      Words line = {file};
      line.insert(line.end(), words.begin(), words.end());
      execute(program, line);
    } else if (access(program.c_str(), R_OK) == 0) {
      execute(choice.smpi_line[0], smpi_engine_line(choice.smpi_line, program, words));
      return base::fail(std::string("cannot run: ") + std::strerror(errno), choice.smpi_line[0]);
    }
    if (errno != ENOENT && errno != ENOTDIR)
      return base::fail(std::string("cannot run: ") + std::strerror(errno), program);
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return base::unsupported("no " + file + " in " + looked +
                           ": build Refrain where that MPI is installed");
}

}  // namespace refrain::cli
