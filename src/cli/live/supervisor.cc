#include "cli/live/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/live/worker.h"
#include "cli/output/common.h"

namespace refrain::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kStarts = 3;
constexpr int kStepMs = 1000;  // between two looks at a worker; the cores are the programs'
// A worker that says nothing hangs if it sleeps for so long, or works for so long: what large jobs
// leave takes minutes.
constexpr Seconds kMostAsleep(15), kMostBusy(1800);
constexpr double kAsleepShare = 0.01;  // of a core: threads of a page look up now and then

// No files of the launcher, which else would wait for it. Its stderr, for a first line.
int detach(const std::string& log) {
  const int first_words = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int nothing = open("/dev/null", O_RDWR);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  dup2(nothing, STDIN_FILENO);
  dup2(file >= 0 ? file : nothing, STDOUT_FILENO);
  dup2(file >= 0 ? file : nothing, STDERR_FILENO);
  for (const int fd : {nothing, file})
    if (fd > STDERR_FILENO) close(fd);
  return first_words;
}

// A launcher's pipes may have any number.
void close_others(int kept) {
  std::error_code error;
  std::vector<int> open_ones;
  for (fs::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error))
    open_ones.push_back(std::atoi(it->path().filename().c_str()));
  for (const int fd : open_ones)
    if (fd > STDERR_FILENO && fd != kept) close(fd);
}

// CPU time of a process; 0: not known.
Seconds cpu_time(pid_t process) {
  clockid_t clock{};
  timespec t{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &t) != 0) return Seconds(0);
  return Seconds(static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9);
}

// Whether a worker hangs, from what it says and from its CPU time.
class Pulse {
 public:
  Pulse(pid_t worker, const std::atomic<uint64_t>& beats, Seconds most_asleep)
      : worker_(worker), beats_(beats), most_asleep_(most_asleep) {}

  bool hangs() {
    const Clock::time_point now = Clock::now();
    const uint64_t beat = beats_.load(std::memory_order_relaxed);
    const Seconds used = cpu_time(worker_);
    if (beat != beat_) {
      beat_ = beat;
      spoke_ = slept_ = now;
      used_ = used;
      return false;
    }
    if (used - used_ > kAsleepShare * Seconds(now - slept_) + Seconds(0.02)) {
      slept_ = now;
      used_ = used;
    }
    return now - slept_ > most_asleep_ || now - spoke_ > kMostBusy;
  }

 private:
  const pid_t worker_;
  const std::atomic<uint64_t>& beats_;
  const Seconds most_asleep_;
  uint64_t beat_ = 0;
  Clock::time_point spoke_ = Clock::now(), slept_ = spoke_;
  Seconds used_{0};
};

// The status with which it ended; nothing: it hung, and was killed.
std::optional<int> wait_for_worker(pid_t worker, Pulse pulse) {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, worker, 0));
  pollfd end{descriptor, POLLIN, 0};
  std::optional<int> ended;
  while (!ended) {
    int status = 0;
    const pid_t found = waitpid(worker, &status, WNOHANG);
    if (found == worker || (found < 0 && errno != EINTR)) {
      ended = status;
    } else if (pulse.hangs()) {
      kill(worker, SIGKILL);
      waitpid(worker, &status, 0);
      break;
    } else {
      poll(&end, descriptor >= 0 ? 1 : 0, kStepMs);
    }
  }
  if (descriptor >= 0) close(descriptor);
  return ended;
}

void tell_of_end(const std::optional<int>& status, int start, bool has_plugins) {
  const std::string what =
      status ? "was ended by signal " + std::to_string(WTERMSIG(*status)) : "hung";
  const char* const next = start == kStarts ? "no more"
                           : start == kStarts - 1 && has_plugins
                               ? "it begins again, without plug-ins"
                               : "it begins again";
  std::fprintf(stderr, "refrain: the analysis %s: %s\n", what.c_str(), next);
}

std::atomic<uint64_t>* shared_beats() {
  void* const place = mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? nullptr : new (place) std::atomic<uint64_t>(0);
}

}  // namespace

void supervise(const std::string& folder, const AnalyzeOptions& options, int pipe) {
  setsid();  // a launcher that ends the job would kill it else
  close_others(pipe);
  char word = 0;
  ssize_t got = 0;
  while ((got = read(pipe, &word, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) _exit(0);  // no job to analyse, or another rank does it
  WorkerPlace place{folder, pipe, shared_beats(), detach(options.output + "/analyze.log")};
  if (place.beats == nullptr) _exit(1);
  AnalyzeOptions how = options;
  for (int start = 1;; ++start) {
    if (start == kStarts) how.plugins.paths.clear();
    const pid_t child = fork();
    if (child < 0) _exit(1);
    if (child == 0) {
      const int status = analyse_jobs(place, how);
      std::fflush(stdout);
      _exit(status);
    }
    if (place.first_words >= 0) close(std::exchange(place.first_words, -1));
    // It waits for plug-ins when they are loaded, one by one, and at its end.
    const Seconds plugins(static_cast<double>(how.plugins.most_ns) * 1e-9 *
                          static_cast<double>(how.plugins.paths.size()));
    const auto status = wait_for_worker(child, Pulse(child, *place.beats, kMostAsleep + plugins));
    if (status && WIFEXITED(*status)) {
      std::error_code ignored;
      if (WEXITSTATUS(*status) == 0) fs::remove_all(folder, ignored);
      _exit(WEXITSTATUS(*status));
    }
    tell_of_end(status, start, !options.plugins.paths.empty());
    if (start == kStarts) _exit(1);
  }
}

}  // namespace refrain::cli
