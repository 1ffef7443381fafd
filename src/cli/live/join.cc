#include "cli/live/join.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "cli/output/common.h"
#include "format/spool/live_job.h"
#include "online/job_folder.h"
#include "online/show/state_text.h"

namespace refrain::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kStarts = 3;  // of an analysis that crashes
constexpr auto kPatience = std::chrono::seconds(60);
// Between two looks. Each takes a core from ranks that wait for each other, which costs them many
// times what the look takes; so as seldom as the page shows anything new.
constexpr std::chrono::seconds kBetweenLooks(1);
constexpr uint64_t kStepNs = 100'000'000;  // so soon the end of the launch is seen

bool has_jobs(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == format::spool::kLiveJobEnding) return true;
  return false;
}

// Whether the rank that holds the other end is gone: in MPI_Finalize, or killed.
bool is_over(int pipe) {
  pollfd end{pipe, POLLIN, 0};
  return poll(&end, 1, 0) > 0 && (end.revents & POLLHUP) != 0;
}

void wait_between(online::JobFolder& jobs, int pipe) {
  const Clock::time_point end = Clock::now() + kBetweenLooks;
  while (Clock::now() < end && !is_over(pipe)) jobs.wait(kStepNs);
}

// Looks at the jobs until they have ended, and writes what they leave. A job that does not end with
// the rank (one that cannot be seen from here) is given up after a while.
int watch_jobs(const std::string& folder, const AnalyzeOptions& options, int pipe) {
  online::WatchOptions how;
  how.is_analyser = true;
  auto jobs = online::JobFolder::open(folder, options.output, how, {});
  if (!jobs.ok()) return report(jobs.error());
  // The programs need the cores more.
  (void)!nice(10);
  int status = 0;
  Clock::time_point end{};
  while (true) {
    const bool was_over = is_over(pipe);
    for (const base::Error& error : (*jobs)->look()) status = report(error);
    if (was_over && !has_jobs(folder)) break;
    if (was_over && end == Clock::time_point()) end = Clock::now() + kPatience;
    if (was_over && Clock::now() > end)
      return report(base::fail("a job is still there after its launch has ended", folder));
    if (was_over)
      (*jobs)->wait(kStepNs);
    else
      wait_between(**jobs, pipe);
  }
  for (const online::JobNow& job : (*jobs)->now())
    if (const int written = print(online::summary_text(job) + "\n"); written != 0) return written;
  return status;
}

// No files of the launcher, which else would wait for it.
void detach(const std::string& log) {
  const int nothing = open("/dev/null", O_RDWR);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  dup2(nothing, STDIN_FILENO);
  dup2(file >= 0 ? file : nothing, STDOUT_FILENO);
  dup2(file >= 0 ? file : nothing, STDERR_FILENO);
  for (const int fd : {nothing, file})
    if (fd > STDERR_FILENO) close(fd);
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

// Waits for the word of the rank, and then keeps an analysis running: spools are read again from
// their beginning, so one that has crashed can be started again.
[[noreturn]] void supervise(const std::string& folder, const AnalyzeOptions& options, int pipe) {
  setsid();  // a launcher that ends the job would kill it else
  close_others(pipe);
  char word = 0;
  ssize_t got = 0;
  while ((got = read(pipe, &word, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) _exit(0);  // no job to analyse, or another rank does it
  detach(options.output + "/analyze.log");
  for (int start = 1;; ++start) {
    const pid_t child = fork();
    if (child == 0) {
      const int status = watch_jobs(folder, options, pipe);
      std::fflush(stdout);
      _exit(status);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFEXITED(status)) {
      std::error_code ignored;
      if (WEXITSTATUS(status) == 0) fs::remove_all(folder, ignored);
      _exit(WEXITSTATUS(status));
    }
    std::fprintf(stderr, "refrain: the analysis was ended by signal %d%s\n", WTERMSIG(status),
                 start < kStarts ? ": it begins again" : ": no more");
    if (child < 0 || start == kStarts) _exit(1);
  }
}

// Absolute, as programs may work in other folders.
Result<std::string> make_folder(const std::string& output) {
  std::error_code error;
  fs::create_directories(output, error);
  const std::string folder = fs::absolute(output + "/jobs", error).lexically_normal().string();
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return folder;
  return base::fail(std::string("cannot make the folder (") + std::strerror(errno) + ")", folder);
}

}  // namespace

int live_join(const AnalyzeOptions& options, const MpiChoice& choice, const std::string& mpi) {
  const auto folder = make_folder(options.output);
  if (!folder.ok()) return report(folder.error());
  int ends[2];
  if (pipe(ends) != 0)
    return report(base::fail(std::string("cannot make a pipe: ") + std::strerror(errno)));
  const pid_t worker = fork();
  if (worker < 0)
    return report(base::fail(std::string("cannot start a process: ") + std::strerror(errno)));
  if (worker == 0) {
    close(ends[1]);
    supervise(*folder, options, ends[0]);
  }
  close(ends[0]);
  return report(become_companion("refrain-relay", mpi, choice,
                                 {*folder, std::to_string(ends[1]), std::to_string(worker)}));
}

}  // namespace refrain::cli
