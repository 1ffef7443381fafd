#include "base/last_words.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>

namespace refrain::base {

void wait_until_read(int pipe, std::chrono::milliseconds most) {
  const int kept = errno;
  struct stat file;
  if (fstat(pipe, &file) == 0 && S_ISFIFO(file.st_mode)) {
    const timespec millisecond{0, 1'000'000};
    int unread = 0;
    for (auto i = most.count(); i > 0 && ioctl(pipe, FIONREAD, &unread) == 0 && unread != 0; --i) {
      nanosleep(&millisecond, nullptr);
    }
  }
  errno = kept;
}

}  // namespace refrain::base
