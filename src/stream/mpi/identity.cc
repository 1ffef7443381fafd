#include "stream/mpi/identity.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "base/process_stat.h"
#include "stream/partitions.h"

namespace refrain::stream {

Identity own_identity() {
  std::string host(256, '\0'), ids(64, '\0'), start(64, '\0');
  gethostname(host.data(), host.size() - 1);
  // Numbers of processes mean nothing to whoever sees others.
  static_cast<void>(!readlink("/proc/self/ns/pid", ids.data(), ids.size() - 1));
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    static_cast<void>(!read(file, start.data(), start.size()));
    close(file);
  }
  base::ProcessStat stat;
  base::read_process_stat(getpid(), &stat);
  return {partition_key({}, host + ids + start), stat.born, getpid()};
}

bool is_alive(const Identity& own, const Identity& other) {
  if (other.host != own.host) return true;
  const int pid = static_cast<int>(other.pid);
  if (kill(pid, 0) != 0 && errno != EPERM) return false;
  base::ProcessStat stat;
  return !base::read_process_stat(pid, &stat) || (stat.state != 'Z' && stat.born == other.born);
}

}  // namespace refrain::stream
