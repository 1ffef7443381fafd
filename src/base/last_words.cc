#include "base/last_words.h"

#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>

namespace refrain::base {

void wait_until_read(int pipe, std::chrono::milliseconds most) {
  const int kept = errno;
  struct stat file;
  const auto is_read = [&] {
    int unread = 0;
    return ioctl(pipe, FIONREAD, &unread) != 0 || unread == 0;
  };
  if (fstat(pipe, &file) == 0 && S_ISFIFO(file.st_mode)) wait_until(is_read, most);
  errno = kept;
}

}  // namespace refrain::base
