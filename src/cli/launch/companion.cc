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

base::Error become_companion(const std::string& name, const std::string& mpi,
                             const Words& smpi_line, const Words& words) {
  const std::string file = name + "-" + mpi;
  std::string looked;
  for (const std::string& folder : own_folders()) {
    const std::string program = folder + "/" + file;
    if (mpi != "smpi") {
      Words line = {file};
      line.insert(line.end(), words.begin(), words.end());
      execute(program, line);
    } else if (access(program.c_str(), R_OK) == 0) {
      execute(smpi_line[0], smpi_engine_line(smpi_line, program, words));
      return base::fail(std::string("cannot run: ") + std::strerror(errno), smpi_line[0]);
    }
    if (errno != ENOENT && errno != ENOTDIR)
      return base::fail(std::string("cannot run: ") + std::strerror(errno), program);
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return base::unsupported("no " + file + " in " + looked +
                           ": build Refrain where that MPI is installed");
}

}  // namespace refrain::cli
