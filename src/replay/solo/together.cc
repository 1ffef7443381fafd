#include "replay/solo/together.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace refrain::replay::solo {

// By system calls of its own: the library stands in front of open() (files.cc).
bool Together::open(const std::string& text) {
  char* at = nullptr;
  const size_t own = std::strtoull(text.c_str(), &at, 10);
  if (*at != ',') return false;
  const size_t ranks = std::strtoull(at + 1, &at, 10);
  if (*at != ',' || own >= ranks) return false;
  const auto fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, at + 1, O_RDWR | O_CLOEXEC));
  if (fd < 0) return false;
  void* const memory =
      mmap(nullptr, options::together_bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return false;
  lanes_ = {static_cast<options::TogetherLane*>(memory), ranks};
  own_ = own;
  parent_ = getppid();
  return true;
}

// Whoever takes out ranks that end must be there.
template <class Condition>
void Together::wait_while(Condition waits) const {
  while (waits() && getppid() == parent_) sched_yield();
}

void Together::begin() {
  lanes_[own_].has_begun.store(1);
  for (const options::TogetherLane& lane : lanes_)
    wait_while([&] { return lane.has_begun.load() == 0; });
}

void Together::wait_for_others(uint64_t end_ns, uint64_t next_ns) {
  lanes_[own_].reached_ns.store(end_ns);
  for (const options::TogetherLane& lane : lanes_)
    wait_while([&] { return lane.reached_ns.load() < end_ns; });
  lanes_[own_].reached_ns.store(next_ns > end_ns ? next_ns : end_ns);
}

void Together::end() {
  if (is_open()) options::leave_together(lanes_[own_]);
}

}  // namespace refrain::replay::solo
