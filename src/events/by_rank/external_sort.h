// ExternalSort: sorts more records than fit in memory.
//
//   ExternalSort<Record> sort(folder_of_output);
//   sort.add(record) ...; sort.finish();
//   while (const Record* next = sort.next()) ...
//
// Runs are sorted in memory, written to a temporary file beside the output, and merged from there.
// The file has no name, so the system removes it when the process ends. Record: plain data with
// operator<; equal ones come in any order.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <queue>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace refrain::events {

template <class Record>
class ExternalSort {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  static constexpr size_t kMostBytes = size_t{32} << 20;

  explicit ExternalSort(std::string folder, size_t most_bytes = kMostBytes)
      : folder_(folder.empty() ? "." : std::move(folder)),
        most_(std::max<size_t>(16, most_bytes / sizeof(Record))) {}
  ~ExternalSort() {
    if (fd_ >= 0) ::close(fd_);
  }
  ExternalSort(const ExternalSort&) = delete;

  base::Status add(const Record& record) {
    if (memory_.capacity() < most_ && memory_.size() == memory_.capacity())
      memory_.reserve(std::min(most_, std::max<size_t>(16, 2 * memory_.size())));
    memory_.push_back(record);
    return memory_.size() < most_ ? base::Status(base::Done{}) : spill();
  }

  // Nothing is added any more.
  base::Status finish() {
    if (runs_.empty()) {
      std::sort(memory_.begin(), memory_.end());
      return base::Done{};
    }
    if (const base::Status done = spill(); !done.ok()) return done;
    memory_ = {};
    const size_t share = std::max<size_t>(16, most_ / runs_.size());
    for (Run& run : runs_) run.most = share;
    return rewind();
  }

  // After finish(): the first record is the next one again.
  base::Status rewind() {
    at_ = 0;
    heads_ = {};
    for (size_t i = 0; i < runs_.size(); ++i) {
      runs_[i].offset = runs_[i].begin;
      runs_[i].left = runs_[i].records;
      if (refill(runs_[i])) heads_.push({runs_[i].buffer[0], i});
    }
    return status_;
  }

  // nullptr after the last one, or when it cannot be read back: see status().
  const Record* next() {
    if (runs_.empty()) return at_ < memory_.size() ? &memory_[at_++] : nullptr;
    if (heads_.empty() || !status_.ok()) return nullptr;
    const auto [record, run] = heads_.top();
    heads_.pop();
    current_ = record;
    Run& from = runs_[run];
    if (++from.at < from.buffer.size() || refill(from)) heads_.push({from.buffer[from.at], run});
    return &current_;
  }
  const base::Status& status() const { return status_; }

 private:
  struct Run {
    uint64_t begin = 0, records = 0;  // where it is in the file, in bytes, and how many
    uint64_t offset = 0, left = 0;    // of what is not read yet
    size_t most = 0, at = 0;
    std::vector<Record> buffer;
  };
  struct Head {
    Record record;
    size_t run;
    bool operator<(const Head& o) const { return o.record < record; }  // the least on top
  };

  base::Status failed() {
    status_ = base::fail("cannot use a temporary file (" + std::string(std::strerror(errno)) + ")",
                         folder_);
    return status_;
  }

  bool open() {
    fd_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd_ >= 0) return true;
    std::string name = folder_ + "/.refrain-sort-";  // a file system without such files
    name.append(6, 'X');                             // what mkostemp() fills in
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ >= 0) ::unlink(name.c_str());
    return fd_ >= 0;
  }

  base::Status spill() {
    if (memory_.empty()) return base::Done{};
    if (fd_ < 0 && !open()) return failed();
    std::sort(memory_.begin(), memory_.end());
    Run run;
    run.begin = bytes_;
    run.records = memory_.size();
    const char* at = reinterpret_cast<const char*>(memory_.data());
    size_t left = memory_.size() * sizeof(Record);
    while (left > 0) {
      const ssize_t n = ::pwrite(fd_, at, left, static_cast<off_t>(bytes_));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed();
      at += n, bytes_ += static_cast<uint64_t>(n), left -= static_cast<size_t>(n);
    }
    runs_.push_back(std::move(run));
    memory_.clear();
    return base::Done{};
  }

  bool refill(Run& run) {
    run.at = 0;
    run.buffer.resize(static_cast<size_t>(std::min<uint64_t>(run.left, run.most)));
    char* at = reinterpret_cast<char*>(run.buffer.data());
    size_t left = run.buffer.size() * sizeof(Record);
    while (left > 0) {
      const ssize_t n = ::pread(fd_, at, left, static_cast<off_t>(run.offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed().ok();
      at += n, run.offset += static_cast<uint64_t>(n), left -= static_cast<size_t>(n);
    }
    run.left -= run.buffer.size();
    return !run.buffer.empty();
  }

  std::string folder_;
  size_t most_;
  std::vector<Record> memory_;
  size_t at_ = 0;
  int fd_ = -1;
  uint64_t bytes_ = 0;
  std::vector<Run> runs_;
  std::priority_queue<Head> heads_;
  Record current_{};
  base::Status status_ = base::Done{};
};

}  // namespace refrain::events
