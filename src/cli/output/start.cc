#include "cli/output/start.h"

#include <fcntl.h>

namespace refrain::cli {

void keep_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0)
      (void)!open("/dev/null", (fd == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

}  // namespace refrain::cli
