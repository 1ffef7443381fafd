#include "replay/solo/units.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace refrain::replay::solo {
namespace {

std::atomic<clockid_t> g_clock{CLOCK_THREAD_CPUTIME_ID};

uint64_t now_ns() {
  timespec now{};
  clock_gettime(g_clock.load(std::memory_order_relaxed), &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

// How often the system took the processor away.
int64_t switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

// The least that lies between two looks at the clock.
uint64_t empty_unit_ns() {
  constexpr int kLooks = 200;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < kLooks; ++i) {
    const uint64_t began = now_ns();
    least = std::min(least, now_ns() - began);
  }
  return least;
}

constexpr size_t kWaiting = 8192;

}  // namespace

void measure_on_the_wall() { g_clock.store(CLOCK_MONOTONIC, std::memory_order_relaxed); }

Units::~Units() { finish(); }

void Units::begin(const std::string& path, uint32_t thread) {
  if (path.empty()) return;
  fd_ =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, (path + "." + std::to_string(thread)).c_str(),
                               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  waiting_.reserve(kWaiting);
  empty_ns_ = empty_unit_ns();
}

void Units::begin_unit() {
  if (has_begun_) waiting_.push_back(0);
  has_begun_ = true;
  switches_ = switches();
  began_ns_ = now_ns();
}

void Units::end_unit() {
  if (!has_begun_) return;
  const uint64_t ended_ns = now_ns();
  const bool is_on_the_wall = g_clock.load(std::memory_order_relaxed) == CLOCK_MONOTONIC;
  const uint64_t begun = began_ns_ + (is_on_the_wall ? 0 : empty_ns_);
  uint64_t unit = ended_ns > begun ? ended_ns - begun : 0;
  if (switches() != switches_) unit |= kInterrupted;
  waiting_.push_back(unit);
  has_begun_ = false;
  if (waiting_.size() >= kWaiting) write_out();
}

void Units::write_out() {
  const char* at = reinterpret_cast<const char*>(waiting_.data());
  size_t left = waiting_.size() * sizeof(uint64_t);
  while (left > 0) {
    const ssize_t n = syscall(SYS_write, fd_, at, left);
    if (n <= 0) break;
    at += n;
    left -= static_cast<size_t>(n);
  }
  waiting_.clear();
}

void Units::finish() {
  if (fd_ < 0) return;
  write_out();
  close(fd_);
  fd_ = -1;
}

}  // namespace refrain::replay::solo
