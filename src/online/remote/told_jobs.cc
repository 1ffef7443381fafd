#include "online/remote/told_jobs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "online/own_files.h"

namespace refrain::online {

namespace fs = std::filesystem;
namespace spool = format::spool;

base::Result<int> lock_job_folder(const std::string& folder) {
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return base::usage("no such folder; `mkdir -m 700` makes it", folder);
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0)
    return base::usage("others may write there; `chmod 700` it", folder);
  const int lock =
      ::open((folder + "/serve.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return base::usage(std::string("cannot be used: ") + std::strerror(errno), folder);
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  close(lock);
  return base::usage("another `refrain live serve` or `feed` has this folder", folder);
}

std::optional<ToldJob> read_told_job(const std::string& path) {
  ToldJob job;
  job.path = path;
  job.file = fs::path(path).filename().string();
  job.run = fs::path(path).stem().string();
  const auto text = read_own_file(path, spool::kMaxLiveJobBytes, &job.told);
  if (text.ok()) job.what = spool::read_live_job(*text);
  if (job.what) return job;
  if (job.told > time(nullptr) - kPatienceSeconds) return std::nullopt;
  job.why = text.ok() ? path + ": tells of no job: left alone" : text.error().to_string();
  return job;
}

base::Result<std::vector<std::string>> told_job_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == spool::kLiveJobEnding)
      files.push_back(it->path().filename().string());
  if (error) return base::fail("cannot be read: " + error.message(), folder);
  return files;
}

}  // namespace refrain::online
