// Descriptors for the recorder's files where the program has used up its own.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace refrain::tracer {

// While it exists, the process may open as many files as the system lets it, if all descriptors
// below the program's own limit are taken when it is made. A file that another thread of the
// program opens in this time may succeed where it would have failed.
class FileRoom {
 public:
  FileRoom();
  ~FileRoom();
  FileRoom(const FileRoom&) = delete;
  FileRoom& operator=(const FileRoom&) = delete;

 private:
  rlimit was_{};
  bool is_raised_ = false;
};

// open(), with such room if it fails for want of a descriptor. -1 and errno: failed.
int open_file(const char* path, int flags, mode_t mode = 0);

}  // namespace refrain::tracer
