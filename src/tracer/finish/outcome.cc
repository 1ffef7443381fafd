#include "tracer/finish/outcome.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/text.h"
#include "grammar/fold.h"
#include "tracer/spool/spool.h"
#include "tracer/startup/spawned.h"
#include "tracer/startup/trace_path.h"
#include "tracer/state/complain.h"
#include "tracer/state/shown.h"

namespace refrain::tracer {

namespace {

using base::count_text;
using base::counted_text;

// Whether there is a file of another job that ended while this one ran.
bool is_taken(const std::string& path, const timespec& began) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return false;
  return info.st_mtim.tv_sec != began.tv_sec ? info.st_mtim.tv_sec > began.tv_sec
                                             : info.st_mtim.tv_nsec > began.tv_nsec;
}

uint64_t calls_of(const format::TraceData& trace) {
  uint64_t all = 0;
  for (const format::Group& group : trace.groups)
    for (const format::ThreadGrammar& location : group.locations) {
      uint64_t length = 0;
      if (grammar::checked_length(trace.grammars[location.grammar], &length))
        all += length * group.ranks.size();
    }
  return all;
}

uint64_t ranks_of(const format::TraceData& trace) {
  uint64_t all = 0;
  for (const format::Group& group : trace.groups) all += group.ranks.size();
  return all;
}

bool is_nothing(const format::LossRecord& loss) {
  return format::stands_for_nobody(loss.reason, loss.calls);
}

// "no losses", or the first few reasons with how many calls they are about in all: a filter has a
// loss for each function.
std::string losses_text(const format::TraceData& trace) {
  constexpr size_t kShown = 3;
  std::vector<std::pair<std::string, uint64_t>> reasons;
  for (const format::LossRecord& loss : trace.losses) {
    if (is_nothing(loss)) continue;
    size_t i = 0;
    while (i < reasons.size() && reasons[i].first != loss.reason) ++i;
    if (i == reasons.size()) reasons.emplace_back(loss.reason, 0);
    reasons[i].second += loss.calls;
  }
  if (reasons.empty()) return "no losses";
  std::string text;
  for (size_t i = 0; i < reasons.size() && i < kShown; ++i) {
    text += (i == 0 ? "losses: " : ", ") + reasons[i].first;
    if (reasons[i].second > 0) text += " (" + counted_text(reasons[i].second, "call") + ")";
  }
  if (reasons.size() > kShown) text += " and " + count_text(reasons.size() - kShown) + " more";
  return text;
}

// What shows most of this trace. With losses, what they are.
const char* next_verb(const Process& p, const format::TraceData& trace) {
  if (!std::all_of(trace.losses.begin(), trace.losses.end(), is_nothing) || !trace.meta.complete)
    return "info";
  return p.times != nullptr ? "waits" : "profile";
}

}  // namespace

FolderLock::FolderLock(const std::string& path)
    : fd_(open(path.substr(0, path.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr int kTries = 100;
  constexpr useconds_t kPause = 20000;
  for (int i = 0; i < kTries && fd_ >= 0 && flock(fd_, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    usleep(kPause);
  }
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

// Two jobs may be given one name. Who ends first has it; the next one writes run.1.rfn instead of
// run.rfn, or run.spawn1.rfn if it is one that MPI_Comm_spawn has started.
std::string free_output(const Process& p) {
  constexpr int kMaxNumber = 10000;
  const std::string& wanted = p.options.output;
  timespec began{};
  clock_gettime(CLOCK_REALTIME, &began);
  const uint64_t ran_ns = p.clock.ran_ns(p.init_ticks);
  const int64_t began_ns =
      int64_t{1000000000} * began.tv_sec + began.tv_nsec - static_cast<int64_t>(ran_ns);
  began.tv_sec = began_ns / 1000000000;
  began.tv_nsec = began_ns % 1000000000;
  std::string path = wanted;
  for (int n = 1; n < kMaxNumber && is_taken(path, began); ++n)
    path = marked_path(wanted, (is_spawned_world() ? ".spawn" : ".") + std::to_string(n));
  return path;
}

std::string where_it_stays(const Process& p) {
  struct stat info {};
  if (p.spool == nullptr || stat(p.spool->folder().c_str(), &info) != 0) return {};
  const std::string folder = printable(shell_word(short_path(p.spool->folder())));
  return "; the record stays in " + folder + ": " + printable(called_as()) + " recover " + folder +
         " -o NEW.rfn";
}

void say_written(const Process& p, const std::string& path, const format::TraceData& trace,
                 bool was_there) {
  if (p.options.quiet) return;
  struct stat info {};
  const uint64_t bytes = stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
  const std::string name = short_path(path);
  const std::string next = called_as() + " " + next_verb(p, trace) + " " + shell_word(name);
  say("%s %s: %s of %s in %s, %s; next: %s", was_there ? "replaced" : "wrote",
      printable(name).c_str(), counted_text(calls_of(trace), "call").c_str(),
      counted_text(ranks_of(trace), "rank").c_str(), counted_text(bytes, "byte").c_str(),
      losses_text(trace).c_str(), printable(next).c_str());
}

}  // namespace refrain::tracer
