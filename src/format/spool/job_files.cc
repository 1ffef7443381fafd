#include "format/spool/job_files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/process_stat.h"
#include "format/spool/read.h"

namespace refrain::format::spool {

namespace {

namespace fs = std::filesystem;

// Holes in a file take no room on the disk: more memory than this is not spent on what is stored.
constexpr uint64_t kMaxExpansion = 64, kFreeBytes = uint64_t{1} << 24;

void look_at(const fs::path& path, JobFiles& found) {
  const std::string name = path.string();
  if (name.ends_with(".stopped") || name.ends_with(".unfinished"))
    return found.marks.push_back(name);
  const auto bytes = read_file(name, sizeof(Header));
  const auto header = bytes.ok() ? read_header(*bytes) : base::Result<Header>(bytes.error());
  if (header.ok())
    found.runs[header->run].push_back({name, *header});
  else if (name.ends_with(".rank"))
    found.unreadable.push_back({name, header.error()});
}

}  // namespace

base::Result<std::string> read_file(const std::string& path, uint64_t limit) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return base::fail(std::strerror(errno), path);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return base::fail("not a plain file", path);
  }
  const auto stored = static_cast<uint64_t>(info.st_blocks) * 512;
  uint64_t left = std::min(static_cast<uint64_t>(info.st_size), limit);
  if (left > kFreeBytes + stored * kMaxExpansion) {
    close(fd);
    return base::fail("its size is not that of a spool file", path);
  }
  std::string bytes(left, '\0');
  char* at = bytes.data();
  ssize_t n = 1;
  while (left > 0 && (n = ::read(fd, at, left)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    at += n;
    left -= static_cast<uint64_t>(n);
  }
  const int error = errno;
  close(fd);
  if (n < 0) return base::fail(std::strerror(error), path);
  bytes.resize(bytes.size() - left);
  return bytes;
}

base::Result<JobFiles> look_for_files(const std::vector<std::string>& folders) {
  JobFiles found;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::vector<fs::path> paths;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      paths.push_back(it->path());
    if (error) return base::fail("cannot read the folder: " + error.message(), folder);
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) look_at(path, found);
  }
  return found;
}

std::vector<JobFile> newest_run(const JobFiles& found) {
  const std::vector<JobFile>* best = nullptr;
  uint64_t best_time = 0;
  for (const auto& [run, files] : found.runs) {
    uint64_t time = 0;
    for (const JobFile& f : files) time = std::max(time, f.header.opened_realtime_ns);
    if (best != nullptr && time < best_time) continue;
    best = &files;
    best_time = time;
  }
  std::vector<JobFile> files;
  if (best != nullptr) files = *best;
  // Ranks that could not agree on a number for their run may have left files of several runs.
  std::sort(files.begin(), files.end(), [](const JobFile& a, const JobFile& b) {
    return std::pair(a.header.rank, b.header.opened_realtime_ns) <
           std::pair(b.header.rank, a.header.opened_realtime_ns);
  });
  files.erase(std::unique(files.begin(), files.end(),
                          [](const JobFile& a, const JobFile& b) {
                            return a.header.rank == b.header.rank;
                          }),
              files.end());
  return files;
}

bool is_of_this_host(const Header& h) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::strcmp(host, h.host) == 0;
}

bool is_alive(const Header& h) {
  if (!is_of_this_host(h) || (kill(h.pid, 0) != 0 && errno != EPERM)) return false;
  base::ProcessStat stat;
  return !base::read_process_stat(h.pid, &stat) || stat.state != 'Z';
}

int64_t rank_in_name(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  const size_t dash = name.find('-');
  if (dash == std::string::npos || name.size() < dash + 7) return -1;
  int64_t rank = 0;
  for (size_t i = dash + 1; i < dash + 7; ++i) {
    if (name[i] < '0' || name[i] > '9') return -1;
    rank = 10 * rank + (name[i] - '0');
  }
  return rank;
}

}  // namespace refrain::format::spool
