// The file of a message log: RankLog::FileSink.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/no_cancel.h"
#include "tracer/messages/rank_log.h"
#include "tracer/state/file_room.h"
#include "tracer/state/keep_errno.h"

namespace refrain::tracer {

bool RankLog::FileSink::create(const std::string& folder, const std::string& name) {
  const base::NoCancel no_cancel;
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return error_ = errno, false;
  path_ = folder + "/" + name;
  const int fd = open_file(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return error_ = errno, false;
  close(fd);
  return true;
}

// No descriptor stays open: the program gets the same numbers as without the recorder.
int RankLog::FileSink::write(std::span<const std::byte> bytes, size_t reserve) {
  const base::NoCancel no_cancel;
  const KeepErrno keep;
  rlimit limit{};
  // Beyond a limit on file sizes the system would send SIGXFSZ.
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      end_ + bytes.size() + reserve > limit.rlim_cur && bytes.size() > reserved_)
    return EFBIG;
  const int fd = open_file(path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  // What was set apart before is there, whatever comes behind it.
  const int full = fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(end_),
                             static_cast<off_t>(bytes.size() + reserve));
  int error = full != 0 && errno == ENOSPC && bytes.size() > reserved_ ? ENOSPC : 0;
  reserved_ = full == 0 ? reserve : 0;
  for (size_t done = 0; error == 0 && done < bytes.size();) {
    const ssize_t n =
        pwrite(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(end_ + done));
    if (n > 0) done += static_cast<size_t>(n);
    if (n < 0 && errno != EINTR) error = errno;
    if (n == 0) error = EIO;
  }
  if (error == 0)
    end_ += bytes.size();
  else if (ftruncate(fd, static_cast<off_t>(end_)) != 0)
    reserved_ = 0;
  close(fd);
  return error;
}

}  // namespace refrain::tracer
