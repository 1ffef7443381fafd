// The launcher that started this process as a rank: what the environment says of it, and its
// process.
#pragma once

#include <cstdint>
#include <vector>

namespace refrain::tracer {

struct Launcher {
  int rank = -1;           // of this process in its job
  int size = 0;            // ranks of the job; 0: it does not say
  int local = 0;           // ranks of the job that were started on this host
  int pid = 0;             // the process that started them
  unsigned long born = 0;  // when it began, in clock ticks since the system did
  uint64_t job = 0;        // a hash of what names the job in the environment
};

// False: not known. `mpi`: the word of the MPI that the program uses; a launcher of another one may
// stand further outside.
bool find_launcher(const char* mpi, Launcher* launcher);

// Whether this process is the first of those that its launcher has started on this host to ask. The
// answer holds while the process lives: the next one that asks behind its end is the first again.
// True where the launcher is not known.
bool is_first_to_ask(const char* mpi);

// Digits. False: there are none.
bool take_number(const char** at, unsigned long* number);

// When a process began; 0: there is none that we can see.
unsigned long birth_of(int pid);

// The processes that this one has started and that have not ended, as far as we can see them.
std::vector<int> children_of(int pid);

// Whether a process was started with this variable in its environment, and not as an empty one.
bool was_told(int pid, const char* name);

// The number of the process namespace that we are in.
unsigned long process_space();

}  // namespace refrain::tracer
