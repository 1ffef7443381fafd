// refrain manual: its own man pages and completion, for those who install or package it. Not in
// --help: nobody needs it who has them.

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "cli/help/command_tree.h"
#include "cli/help/completion.h"
#include "cli/help/manual_page.h"
#include "cli/output/common.h"
#include "cli/verbs.h"
#include "format/encode/encode.h"

namespace refrain::cli {
namespace {

base::Status write_all(const CommandDoc& command, const std::string& folder) {
  std::map<std::string, std::string> files = manual_pages(command);
  files[command.name + ".bash"] = bash_completion(command);
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return base::fail(std::string("cannot make the folder: ") + std::strerror(errno), folder);
  for (const auto& [name, text] : files)
    if (auto done = format::write_file_atomically(folder + "/" + name, text, "the manual");
        !done.ok())
      return done;
  return base::Done{};
}

}  // namespace

void add_manual(Command& app, int& exit_status) {
  auto folder = std::make_shared<std::string>();
  Command* verb = app.add_subcommand("manual", "Write the man pages and completion for bash");
  verb->group("");
  verb->add_option("-o,--output", *folder, "Folder for refrain.1, refrain-VERB.1, refrain.bash")
      ->required();
  verb->callback([&app, folder, &exit_status] {
    auto done = may_replace(*folder, {});
    if (done.ok()) done = write_all(describe(app, REFRAIN_VERSION), *folder);
    exit_status = done.ok() ? 0 : report(done.error());
  });
}

}  // namespace refrain::cli
