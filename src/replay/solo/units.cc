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

std::atomic<bool> g_is_on_the_wall{false};

uint64_t look(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t wall_ns() { return look(CLOCK_MONOTONIC); }

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
    const uint64_t began = wall_ns();
    least = std::min(least, wall_ns() - began);
  }
  return least;
}

uint64_t less(uint64_t value, uint64_t by) { return value > by ? value - by : 0; }

// Below this, a unit is its time on the wall: the processor was not given to anybody else and back
// in so short a time. The processor's time and the count of switches each take a system call of
// some 200 ns, behind which the program's code runs slower as well.
constexpr uint64_t kShortNs = 2000;

constexpr size_t kWaiting = 8192;

}  // namespace

void measure_on_the_wall() { g_is_on_the_wall.store(true, std::memory_order_relaxed); }

Units::~Units() { finish(); }

void Units::begin(const std::string& path, uint32_t thread) {
  if (path.empty()) return;
  fd_ =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, (path + "." + std::to_string(thread)).c_str(),
                               O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  waiting_.reserve(kWaiting);
  empty_ns_ = empty_unit_ns();
}

void Units::look_at_all() {
  switches_ = switches();
  seen_processor_ns_ = look(CLOCK_THREAD_CPUTIME_ID);
  seen_wall_ns_ = wall_ns();
}

void Units::begin_unit() {
  if (has_begun_) waiting_.push_back(0);
  has_begun_ = true;
  uint64_t now = wall_ns();
  // A long answer may have waited for a file, and lost its processor.
  if (now - ended_ns_ > kShortNs) {
    look_at_all();
    now = wall_ns();
  }
  began_ns_ = now;
}

void Units::end_unit() {
  if (!has_begun_) return;
  has_begun_ = false;
  ended_ns_ = wall_ns();
  uint64_t unit = less(ended_ns_ - began_ns_, empty_ns_);
  if (unit > kShortNs) unit = long_unit(unit);
  waiting_.push_back(unit);
  if (waiting_.size() >= kWaiting) write_out();
}

// Between the last look at all clocks and the begin of the unit there were short units and answers
// only, in which the thread had its processor: what it had behind that, it had in the unit.
uint64_t Units::long_unit(uint64_t on_the_wall) {
  const int64_t were = switches_;
  const uint64_t before_ns = seen_processor_ns_ + (began_ns_ - seen_wall_ns_);
  look_at_all();
  const uint64_t looks_ns = seen_wall_ns_ - ended_ns_;
  uint64_t unit = on_the_wall;
  if (!g_is_on_the_wall.load(std::memory_order_relaxed))
    unit = std::min(unit, less(seen_processor_ns_, before_ns + looks_ns + empty_ns_));
  return switches_ == were ? unit : unit | kInterrupted;
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
