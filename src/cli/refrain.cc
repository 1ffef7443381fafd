// refrain: the command. It records by itself and hands every other verb to refrain-verbs.
//
// Every rank of a job starts it, and several ranks may share a core: so it needs no library but
// C's, and is there in a quarter of the time that the libraries of all verbs take to be loaded.

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/own_files.h"
#include "cli/start.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"

namespace {

using namespace refrain;  // NOLINT(google-build-using-namespace)

// False when the words are for refrain-verbs: a mistake, or a question for help.
bool has_recorded(int argc, char** argv, int& exit_status) {
  CLI::App app(cli::kAbout, "refrain");
  cli::set_up(app);
  cli::add_record(app, exit_status);
  if (cli::wrong_variable(app, std::vector<std::string>(argv + 1, argv + argc))) return false;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError&) {
    return false;
  }
  return true;
}

// Returns only when it is not there.
int become_verbs(char** argv) {
  constexpr const char* kFile = "refrain-verbs";
  std::string looked;
  for (const std::string& folder : cli::own_folders()) {
    execv((folder + "/" + kFile).c_str(), argv);
    if (errno != ENOENT && errno != ENOTDIR)
      return cli::report(
          base::fail(std::string("cannot run: ") + std::strerror(errno), folder + "/" + kFile));
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return cli::report(base::unsupported(std::string("no ") + kFile + " in " + looked +
                                       ": it belongs to the same installation as this refrain"));
}

}  // namespace

int main(int argc, char** argv) {
  cli::keep_standard_streams();
  if (argc > 0) cli::set_called_as(argv[0]);
  try {
    int exit_status = 0;
    if (argc > 1 && std::strcmp(argv[1], "record") == 0 && has_recorded(argc, argv, exit_status))
      return exit_status;
    return become_verbs(argv);
  } catch (const std::exception& e) {  // the C++ library: ours return
    return cli::report(base::fail(e.what()));
  }
}
