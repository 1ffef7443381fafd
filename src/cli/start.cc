#include "cli/start.h"

#include <fcntl.h>

namespace refrain::cli {

namespace {

// CLI11 2.5 and newer fill paragraphs, which would run the lines of examples together, and move
// long names far to the right.
template <class Formatter>
void keep_lines(Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
    formatter.long_option_alignment_ratio(0.2F);
  }
}

}  // namespace

void keep_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0)
      (void)!open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

void set_up(CLI::App& app) {
  app.set_version_flag("--version", "refrain " REFRAIN_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  keep_lines(*app.get_formatter());
}

}  // namespace refrain::cli
