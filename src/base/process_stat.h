// What /proc/PID/stat says of a process: enough to tell whether a process that was known is still
// there, and who its parent is. Linux only; elsewhere reading fails.
#pragma once

#include <string>

namespace refrain::base {

struct ProcessStat {
  std::string name;  // as the kernel cuts it off
  char state = '?';  // R, S, D, ...; Z: it ended, and its parent was not told
  int parent = 0;
  unsigned long born =
      0;  // clock ticks since the machine started: with the id, this names a process
};

// False when there is no such process, or nobody may look.
bool read_process_stat(int pid, ProcessStat* stat);

}  // namespace refrain::base
