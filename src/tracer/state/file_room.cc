#include "tracer/state/file_room.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/no_cancel.h"
#include "tracer/state/keep_errno.h"

namespace refrain::tracer {

FileRoom::FileRoom() {
  const base::NoCancel no_cancel;
  const KeepErrno keep;
  const int fd = open("/", O_PATH | O_CLOEXEC);
  if (fd >= 0) {
    close(fd);
    return;
  }
  if (errno != EMFILE || getrlimit(RLIMIT_NOFILE, &was_) != 0 || was_.rlim_cur >= was_.rlim_max)
    return;
  const rlimit all{was_.rlim_max, was_.rlim_max};
  is_raised_ = setrlimit(RLIMIT_NOFILE, &all) == 0;
}

FileRoom::~FileRoom() {
  const KeepErrno keep;
  if (is_raised_) setrlimit(RLIMIT_NOFILE, &was_);
}

int open_file(const char* path, int flags, mode_t mode) {
  const base::NoCancel no_cancel;
  const int fd = open(path, flags, mode);
  if (fd >= 0 || errno != EMFILE) return fd;
  const FileRoom room;
  return open(path, flags, mode);
}

}  // namespace refrain::tracer
