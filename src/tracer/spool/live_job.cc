#include "tracer/spool/live_job.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "format/codes/checksum.h"
#include "format/spool/live_job.h"
#include "options/environment.h"
#include "tracer/spool/spool.h"
#include "tracer/state/complain.h"
#include "tracer/state/in_order.h"
#include "tracer/state/keep_errno.h"
#include "tracer/state/live_world.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace spool = format::spool;

namespace {

void register_in(const std::string& where, const Process& p, uint64_t run,
                 const std::string& folder) {
  format::spool::LiveJob job{folder, p.options.output, run, static_cast<uint64_t>(p.size),
                             live_world().name};
  const std::string text = format::spool::write_live_job(job);
  // Ranks that could not agree on a number for their run have their spool in common all the same.
  const uint64_t name = run != 0 ? run : format::hash64(folder.data(), folder.size());
  const std::string path =
      where + "/" + format::spool::run_text(name) + format::spool::kLiveJobEnding;
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == EEXIST) return;
  const bool is_written = fd >= 0 && !text.empty() &&
                          write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) close(fd);
  if (is_written) return;
  if (fd >= 0) unlink(path.c_str());
  if (p.rank != 0) return;
  const std::string what = "cannot tell of the job in " + where + " (" +
                           (text.empty() ? "a path with a newline" : std::strerror(error)) +
                           "): the analysis will not show it";
  complain(p, what.c_str());
}

}  // namespace

void register_job(const Process& p, uint64_t run, const std::string& folder) {
  const std::string service = options::text_of(options::RecordOption::kLiveDir);
  if (!service.empty()) register_in(service, p, run, folder);
  if (live_world().is_on) register_in(live_world().folder, p, run, folder);
}

void Spool::meet_analyser(uint64_t run) {
  register_job(process_, run, file_.folder());
  if (!live_world().is_on) return;
  flow_ = options::parse_live_policy(options::text_of(options::RecordOption::kLivePolicy));
  file_.header()->wants_word = flow_.kind == options::LivePolicy::Kind::kSpool ? 0 : 1;
}

void Spool::last_statistics() {
  // Where nobody was asked to read along, no more than takes no time.
  constexpr uint32_t kMany = 4096;
  const bool is_followed =
      live_world().is_on || *options::text_of(options::RecordOption::kLiveDir) != '\0';
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_ || file_.header() == nullptr) return;
  if (!is_followed && process_.first_ticks.size() > kMany) return;
  keep_rate();
  // One that there is no room for is as it was at the last checkpoint.
  for (const auto& t : threads_)
    if (calls_of(*t->location) > 0) write_stats(*t);
}

void Spool::leave() {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_ || file_.header() == nullptr) return;
  stopped_ = true;
  keep_rate();
  in_order();
  file_.header()->state = spool::State::kLeft;
}

}  // namespace refrain::tracer
