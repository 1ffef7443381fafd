#include "cli/output/output.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cli/output/activity.h"

namespace refrain::cli {

Output::Output() {
  // Only verbs that print come here: `record` must not hand an ignored SIGPIPE to its program.
  std::signal(SIGPIPE, SIG_IGN);
  buffer_.reserve(kFlushBytes + 4096);
}

Output::~Output() { flush(); }

void Output::flush() {
  // What goes to the same terminal says itself that something is going on.
  if (!buffer_.empty()) Activity::wipe(::isatty(STDOUT_FILENO) == 1);
  std::string_view rest = buffer_;
  while (!rest.empty() && !closed_) {
    const ssize_t n = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      closed_ = true;
      if (errno != EPIPE) error_number_ = errno;
    }
  }
  buffer_.clear();
}

base::Status Output::finish() {
  flush();
  if (error_number_ != 0)
    return base::fail("cannot write the output (" + std::string(std::strerror(error_number_)) + ")",
                      "stdout");
  return base::Done{};
}

}  // namespace refrain::cli
