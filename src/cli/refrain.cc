// refrain: the command. It records by itself, and hands every other verb to refrain-verbs, and a
// `record` whose words have a mistake, or ask for help.
//
// Every rank of a job starts it, and several ranks may share a core: so it needs no library but
// C's, and is there in a quarter of the time that the libraries of all verbs take to be loaded.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "cli/launch/own_files.h"
#include "cli/launch/plain_line.h"
#include "cli/output/common.h"
#include "cli/output/start.h"

namespace {

using namespace refrain;  // NOLINT(google-build-using-namespace)

// Returns only when there is none. `./dev demo` builds refrain-first in its place.
int become_verbs(char** argv) {
  const std::vector<std::string> folders = cli::own_folders();
  for (const char* const name : {"refrain-verbs", "refrain-first"})
    for (const std::string& folder : folders) {
      const std::string file = folder + "/" + name;
      execv(file.c_str(), argv);
      if (errno != ENOENT && errno != ENOTDIR)
        return cli::report(base::fail(std::string("cannot run: ") + std::strerror(errno), file));
    }
  std::string looked;
  for (const std::string& folder : folders) looked += (looked.empty() ? "" : ", ") + folder;
  return cli::report(base::unsupported("no refrain-verbs in " + looked +
                                       ": it belongs to the same installation as this refrain"));
}

}  // namespace

int main(int argc, char** argv) {
  cli::keep_standard_streams();
  if (argc > 0) cli::set_called_as(argv[0]);
  try {
    if (argc > 2 && std::strcmp(argv[1], "record") == 0) {
      cli::RecordOptions options;
      cli::Words rest;
      if (cli::read_plain_line(cli::Words(argv + 2, argv + argc), options, rest))
        return cli::record(options, rest, {});
    }
    return become_verbs(argv);
  } catch (const std::exception& e) {  // the C++ library: ours return
    return cli::report(base::fail(e.what()));
  }
}
