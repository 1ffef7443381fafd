#include "replay/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "mpi/call_ids.h"
#include "replay/plan/needs.h"
#include "replay/plan/started.h"

namespace refrain::replay {
namespace {

base::Error failed(const char* what, const std::string& path) {
  return base::fail(std::string("cannot ") + what + " (" + std::strerror(errno) + ")", path);
}

}  // namespace

// FNV-1a.
std::string hash_name(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char out[20];
  std::snprintf(out, sizeof(out), "%016llx", static_cast<unsigned long long>(hash));
  return out;
}

std::string scratch_path(const std::string& folder, const std::string& recorded) {
  return folder + "/refrain-replay-" + hash_name(recorded);
}

std::string port_path(const std::string& folder, const std::string& recorded) {
  return folder + "/refrain-port-" + hash_name(recorded);
}

base::Status extend_file(const std::string& path, uint64_t bytes) {
  const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return failed("make a file that stands for one of the program's", path);
  struct stat found {};
  base::Status out = base::Done{};
  if (bytes > INT64_MAX)
    errno = EFBIG, out = failed("make the file as long as the program's reads reach", path);
  else if (fstat(file, &found) == 0 && static_cast<uint64_t>(found.st_size) < bytes &&
           ftruncate(file, static_cast<off_t>(bytes)) != 0)
    out = failed("make the file as long as the program's reads reach", path);
  close(file);
  return out;
}

void remove_scratch(const Trace& trace, const std::string& folder) {
  if (folder.empty()) return;
  for (const plan::FileNeed& file : plan::file_needs(trace))
    unlink(scratch_path(folder, file.path).c_str());
  for (const std::string& port : plan::ports_of(trace)) unlink(port_path(folder, port).c_str());
}

namespace {

base::Status check_one(const Trace& trace, bool has_compute, const std::string& folder,
                       const std::vector<CallId>& skipped) {
  if (has_compute && !trace.has_times() && !trace.has_gaps())
    return base::unsupported(
        "the trace does not tell what lay between calls: replay with --compute none, or record "
        "with --timing exact or --gaps",
        trace.name());
  if (!folder.empty()) {
    struct stat found {};
    if (stat(folder.c_str(), &found) != 0)
      return base::usage(std::string("--scratch: ") + std::strerror(errno), folder);
    if (!S_ISDIR(found.st_mode)) return base::usage("--scratch: this is no folder", folder);
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      return base::usage(std::string("--scratch: ") + std::strerror(errno), folder);
    return base::Done{};
  }
  const bool has_files =
      std::find(skipped.begin(), skipped.end(), mpi::kMPI_File_open) == skipped.end() &&
      !plan::file_needs(trace).empty();
  if (!has_files) return base::Done{};
  return base::usage(
      "the program opened files, and they are replayed in a folder of their own: say --scratch DIR",
      trace.name());
}

}  // namespace

base::Status check_words(const Trace& trace, bool has_compute, const std::string& folder,
                         const std::vector<CallId>& skipped) {
  if (auto good = check_one(trace, has_compute, folder, skipped); !good.ok()) return good;
  for (const plan::StartedJob& job : plan::started_jobs(trace)) {
    if (job.trace.empty()) continue;
    const auto started = Trace::open(job.trace);
    if (!started.ok()) continue;  // plan::look() says so where it matters
    if (auto good = check_words(*started, has_compute, folder, skipped); !good.ok()) return good;
  }
  return base::Done{};
}

FailureMark::FailureMark(const std::string& folder) : path_(folder + "/refrain-replay-failed") {
  if (folder.empty()) return;
  const int file = open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  is_made_ = file >= 0;
  is_first_ = is_made_ || errno != EEXIST;
  if (file >= 0) close(file);
}

FailureMark::~FailureMark() {
  if (is_made_) unlink(path_.c_str());
}

}  // namespace refrain::replay
