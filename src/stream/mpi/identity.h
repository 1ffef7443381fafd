// What names a process for others of its host, for as long as the job runs.
#pragma once

#include <cstdint>

namespace refrain::stream {

// Sent as it is: all processes of a job run on one kind of machine.
struct Identity {
  uint64_t host;  // of the machine's name, its start, and what process ids it sees
  uint64_t born;
  int64_t pid;
};

Identity own_identity();

// False when `other` was of this host and is not there any more.
bool is_alive(const Identity& own, const Identity& other);

}  // namespace refrain::stream
