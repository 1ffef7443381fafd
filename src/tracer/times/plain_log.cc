#include "tracer/times/plain_log.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/byte_size.h"
#include "base/no_cancel.h"
#include "format/limits.h"
#include "mpi_runtime/clocks/clock.h"
#include "mpi_runtime/rank_exchange.h"
#include "options/environment.h"
#include "tracer/state/complain.h"
#include "tracer/state/file_room.h"
#include "tracer/state/keep_errno.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

PlainSpec PlainSpec::from_environment(const std::string& output) {
  PlainSpec spec;
  using options::RecordOption;
  spec.on = options::is_given(RecordOption::kNoCompress);
  spec.write = !options::is_given(RecordOption::kNoWrite);
  const auto bytes = base::parse_bytes(options::text_of(RecordOption::kBuffer));
  const auto otherwise = base::parse_bytes(options::default_of(RecordOption::kBuffer));
  spec.buffer_bytes = std::max(bytes.value_or(*otherwise), uint64_t{1});
  spec.folder = output + ".plain";
  return spec;
}

std::string PlainSpec::to_string() const {
  return on ? (write ? " plain" : " plain, not written") : "";
}

PlainLog::PlainLog(const Process& process, uint32_t thread)
    : process_(process), spec_(process.times->plain()), thread_(thread) {}

bool PlainLog::put(const Call& call, std::string_view signature) {
  if (has_ended_) return false;
  // With the first call: threads that make none need no buffer.
  if (buffer_ == nullptr) {
    if (memory_for(spec_.buffer_bytes)) buffer_.reset(new char[spec_.buffer_bytes]);
    if (buffer_ == nullptr) {
      has_ended_ = true;
      return complain(process_, "no memory for --buffer: no times of its calls"), false;
    }
  }
  Head head;
  head.call = call;
  head.bytes = static_cast<uint32_t>(signature.size());
  const uint64_t need = sizeof head + signature.size();
  // A record is never in two buffers, so that what is written ends between records.
  if (spec_.buffer_bytes - used_ < need && !flush()) return false;
  counts_.bytes += need;
  ++calls_;
  if (need <= spec_.buffer_bytes) {
    append(&head, sizeof head);
    append(signature.data(), signature.size());
    return true;
  }
  // Larger than a whole buffer.
  // It goes out by itself, behind what was in the buffer.
  std::string record(reinterpret_cast<const char*>(&head), sizeof head);
  record += signature;
  return flush_timed(record.data(), record.size());
}

void PlainLog::append(const void* bytes, uint64_t count) {
  std::memcpy(buffer_.get() + used_, bytes, count);
  used_ += count;
}

bool PlainLog::flush() {
  if (has_ended_) return false;
  if (used_ == 0) return true;
  const bool good = flush_timed(buffer_.get(), used_);
  used_ = 0;
  return good;
}

bool PlainLog::flush_timed(const void* bytes, uint64_t count) {
  // The program may look at errno behind an MPI call.
  const KeepErrno keep;
  // What this mode is for: it shows what writing calls as they are costs, beside the compressed
  // trace.
  const uint64_t begin = Clock::monotonic_ns();
  const bool good = !spec_.write || write_out(static_cast<const char*>(bytes), count);
  counts_.write_ns += Clock::monotonic_ns() - begin;
  ++counts_.flushes;
  if (good) {
    // Only whole buffers count: each() reads so many records and believes nothing behind them.
    written_ += calls_;
    calls_ = 0;
    return true;
  }
  has_ended_ = true;
  const std::string why = path_.empty() ? spec_.folder : path_;
  complain(process_, ("cannot write to " + why + " (" + std::strerror(errno) +
                      "): its further calls have no times")
                         .c_str());
  return false;
}

// A rank that is done removes the folder when it is empty, which it may be until our file is in it.
bool PlainLog::create() {
  const base::NoCancel no_cancel;
  // The folder may be on a file system that all hosts share, and process ids are unique on one host
  // only.
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  for (char* c = host; *c != '\0'; ++c)
    if (*c == '/') *c = '_';
  char name[400];
  std::snprintf(name, sizeof name, "/%06d-%s-%d.%u", process_.rank, host,
                static_cast<int>(getpid()), thread_);
  // Another rank may remove the folder between mkdir and open (ENOENT), or a file of that name may
  // be left of an earlier run (EEXIST).
  constexpr int kMaxTries = 1000;
  int number = 0;
  for (int i = 0; i < kMaxTries; ++i) {
    if (mkdir(spec_.folder.c_str(), 0700) != 0 && errno != EEXIST) return false;
    std::string path = spec_.folder + name;
    if (number > 0) path.append(".").append(std::to_string(number));
    const int fd = open_file(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
      close(fd);
      path_ = path;
      return true;
    }
    if (errno == EEXIST) ++number;
    if (errno != EEXIST && errno != ENOENT) return false;
  }
  return false;
}

// Beyond a limit on file sizes the system would send SIGXFSZ, so it is not asked.
bool PlainLog::write_out(const char* bytes, uint64_t count) {
  const base::NoCancel no_cancel;
  if (path_.empty() && !create()) return false;
  // Opened for each buffer: the program may close descriptors that it has not opened, or count on
  // their numbers.
  const int fd = open_file(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return false;
  rlimit limit{};
  struct stat info {};
  bool good = fstat(fd, &info) == 0;
  if (good && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < static_cast<uint64_t>(info.st_size) + count) {
    errno = EFBIG;
    good = false;
  }
  // A signal of the program may interrupt it anywhere.
  while (good && count > 0) {
    const ssize_t n = write(fd, bytes, count);
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (!good) break;
    bytes += n;
    count -= static_cast<uint64_t>(n);
  }
  const int error = errno;
  close(fd);
  errno = error;
  return good;
}

bool PlainLog::each(const Visit& visit) {
  const base::NoCancel no_cancel;
  if (written_ == 0) return true;
  // With --no-write nothing can be read again.
  if (path_.empty()) return false;
  const int fd = open_file(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  // Of the stdio of the C library, which is ours to use: it buffers.
  FILE* const file = fdopen(fd, "rb");
  if (file == nullptr) return close(fd), false;
  std::string signature;
  uint64_t n = 0;
  for (Head head; n < written_ && std::fread(&head, sizeof head, 1, file) == 1; ++n) {
    // The file was in reach of others meanwhile.
    if (head.bytes > format::kMaxSignatureBytes || !memory_for(head.bytes)) break;
    signature.resize(head.bytes);
    if (head.bytes > 0 && std::fread(signature.data(), head.bytes, 1, file) != 1) break;
    if (!visit(head.call, signature)) break;
  }
  std::fclose(file);
  return n == written_;
}

void PlainLog::remove() {
  // Its calls are blocks by now: two copies of all times would stay otherwise.
  if (!path_.empty()) unlink(path_.c_str());
  path_.clear();
  rmdir(spec_.folder.c_str());  // fails while there are others
}

std::string plain_text(Process& p) {
  PlainCounts mine;
  for (const Location* l : p.locations) {
    if (l->times == nullptr) continue;
    const PlainCounts c = l->times->plain_counts();
    mine.bytes += c.bytes, mine.flushes += c.flushes, mine.write_ns += c.write_ns;
  }
  constexpr int kWords = 3;
  const uint64_t words[kWords] = {mine.bytes, mine.flushes, mine.write_ns};
  // On one rank only: with many thousand ranks the list is long.
  std::vector<uint64_t> all(peers().mine == 0 ? static_cast<size_t>(peers().count) * kWords : 0);
  // All ranks come here, as it is a collective; the lowest one alone has the sums.
  if (!gather_words(recorders(), words, kWords, all.data()) || peers().mine != 0) return {};
  uint64_t sum[kWords] = {};
  std::string ranks;
  for (size_t i = 0; i < all.size(); ++i) {
    sum[i % kWords] += all[i];
    if (i > 0) ranks += i % kWords == 0 ? ' ' : ':';
    ranks += std::to_string(all[i]);
  }
  const PlainSpec& spec = p.times->plain();
  const std::string text =
      "buffer=" + std::to_string(spec.buffer_bytes) + " write=" + (spec.write ? "1" : "0") +
      " bytes=" + std::to_string(sum[0]) + " flushes=" + std::to_string(sum[1]) +
      " write_ns=" + std::to_string(sum[2]);
  // A text has its limit, which many thousand ranks pass.
  return text.size() + ranks.size() + 8 < format::kMaxTextBytes ? text + " ranks=" + ranks : text;
}

}  // namespace refrain::tracer
