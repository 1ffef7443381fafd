#include "cli/launch/solo_runs.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "base/launcher_words.h"
#include "base/median.h"
#include "cli/launch/own_files.h"
#include "cli/launch/preload.h"
#include "cli/output/common.h"
#include "format/encode/encode.h"
#include "format/messages/decode/log_reader.h"
#include "format/vectors/vector_file.h"
#include "options/record.h"
#include "options/together.h"
#include "reader/internal.h"

namespace refrain::cli {
namespace {

using format::vectors::kMaxNs;
using format::vectors::Vector;
using format::vectors::VectorFile;
using options::Variable;

constexpr char kAnyLetter = 'X';                      // for mkdtemp()
constexpr uint64_t kInterrupted = uint64_t{1} << 63;  // as the library marks a unit

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto found = std::filesystem::absolute(path, error);
  return error ? path : found.string();
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

// What ranks that run at the same time share; empty for one alone. See options/together.h.
class Lanes {
 public:
  base::Status open(const std::string& path, size_t ranks) {
    path_ = path;
    const size_t bytes = options::together_bytes(ranks);
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void* memory = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0)
      memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const int error = errno;
    if (fd >= 0) close(fd);
    if (memory == MAP_FAILED) return base::fail(std::strerror(error), path);
    lanes_ = {static_cast<options::TogetherLane*>(memory), ranks};
    return base::Done{};
  }
  Lanes() = default;
  Lanes(const Lanes&) = delete;
  ~Lanes() {
    if (!lanes_.empty()) munmap(lanes_.data(), options::together_bytes(lanes_.size()));
  }
  // For the environment of rank number `i` of them.
  std::string text(size_t i) const {
    if (lanes_.empty()) return "";
    return std::to_string(i) + "," + std::to_string(lanes_.size()) + "," + path_;
  }
  void leave(size_t i) {
    if (i < lanes_.size()) options::leave_together(lanes_[i]);
  }

 private:
  std::string path_;
  std::span<options::TogetherLane> lanes_;
};

// What the library reads, and what launchers tell a rank, which some programs ask for.
void set_environment(const Trace& trace, const SoloArguments& options, Rank rank,
                     const std::string& library, const std::string& units) {
  set(options::variable_of(Variable::kSoloTrace), absolute(options.trace));
  std::string place = std::to_string(rank);
  if (options.last >= 0)
    place += "," + std::to_string(options.first) + "," + std::to_string(options.last);
  set(options::variable_of(Variable::kSoloRank), place + "@" + std::to_string(getpid()));
  set(options::variable_of(Variable::kSoloFiles), options.write_files ? "1" : "0");
  if (!options.scratch.empty())
    set(options::variable_of(Variable::kSoloScratch), absolute(options.scratch));
  if (!units.empty()) set(options::variable_of(Variable::kSoloUnits), units);
  if (options.last < 0) {  // a group's real MPI needs what its launcher says
    const std::string r = std::to_string(rank), n = std::to_string(trace.rank_count());
    for (const base::LauncherWords& words : base::kLauncherWords) {
      set(words.rank, r);
      set(words.size, n);
    }
    set(base::kPmixRank, r);
    // UCX, which an MPI may load, puts its own functions over those for memory at that time.
    set("UCX_MEM_EVENTS", "no");
  }
  preload(library);
  allow_before_address_sanitizer();
}

// Returns only when it fails.
int become(const SoloArguments& options, const std::string& file) {
  std::vector<char*> argv;
  for (const std::string& word : options.program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(file.c_str(), argv.data());
  return report(base::fail(std::string("cannot run: ") + std::strerror(errno), file));
}

std::vector<int> own_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> out;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) out.push_back(i);
  return out;
}

void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

// The worst exit status.
int wait_for(const std::vector<pid_t>& children, Lanes& lanes) {
  int worst = 0;
  for (size_t left = children.size(); left > 0;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) break;
    const auto place = std::find(children.begin(), children.end(), ended);
    if (place == children.end()) continue;
    lanes.leave(static_cast<size_t>(place - children.begin()));
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    worst = std::max(worst, code);
    --left;
  }
  return worst;
}

// One run of each rank. The output of the first run is the program's; that of others is dropped.
int run_once(const Trace& trace, const SoloArguments& options, const std::vector<Rank>& ranks,
             const std::string& file, const std::string& library, const std::string& folder,
             bool is_first) {
  const std::vector<int> cores = own_cores();
  Lanes lanes;  // new ones for each run
  if (ranks.size() > 1)
    if (auto good = lanes.open(folder + "/together", ranks.size()); !good.ok())
      return report(good.error());
  std::fflush(nullptr);
  std::vector<pid_t> children;
  int failed = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const pid_t child = fork();
    if (child < 0) {
      failed = report(base::fail(std::string("cannot fork: ") + std::strerror(errno)));
      for (; i < ranks.size(); ++i) lanes.leave(i);
      break;
    }
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    if (!cores.empty()) pin(cores[i % cores.size()]);
    if (!is_first) {
      const int nothing = open("/dev/null", O_WRONLY);
      if (nothing >= 0) dup2(nothing, STDOUT_FILENO);
    }
    set_environment(trace, options, ranks[i], library, folder + "/" + std::to_string(ranks[i]));
    set(options::variable_of(Variable::kSoloTogether), lanes.text(i));
    _exit(become(options, file));
  }
  return std::max(failed, wait_for(children, lanes));
}

base::Result<std::vector<uint64_t>> read_units(const std::string& path) {
  std::FILE* const in = std::fopen(path.c_str(), "rb");
  if (in == nullptr) return base::fail(std::strerror(errno), path);
  std::vector<uint64_t> out;
  uint64_t piece[4096];
  for (size_t n = 0; (n = std::fread(piece, sizeof(uint64_t), 4096, in)) > 0;)
    out.insert(out.end(), piece, piece + n);
  std::fclose(in);
  return out;
}

// Of one thread, the units of all runs. Runs in which a unit was interrupted do not count, unless
// all were.
Vector vector_of(Rank rank, uint32_t thread, const std::vector<std::vector<uint64_t>>& runs) {
  Vector v;
  v.rank = static_cast<uint32_t>(rank);
  v.thread = thread;
  v.runs = static_cast<uint32_t>(runs.size());
  size_t units = runs.front().size();
  for (const auto& run : runs) units = std::min(units, run.size());
  v.totals_ns.assign(runs.size(), 0);
  std::vector<uint64_t> times;
  for (size_t k = 0; k < units; ++k) {
    times.clear();
    for (const auto& run : runs)
      if ((run[k] & kInterrupted) == 0) times.push_back(run[k]);
    if (times.empty()) {
      ++v.doubtful;
      for (const auto& run : runs) times.push_back(run[k] & ~kInterrupted);
    }
    for (uint64_t& t : times) t = std::min(t, kMaxNs);
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    v.least_ns.push_back(*least);
    v.spread_ns.push_back(*most - *least);
    v.median_ns.push_back(base::median(std::span(times)));
    // A run lasts as long as any in a unit in which it was interrupted.
    for (size_t i = 0; i < runs.size(); ++i) {
      const uint64_t own = (runs[i][k] & kInterrupted) == 0 ? runs[i][k] : v.median_ns.back();
      v.totals_ns[i] = std::min(v.totals_ns[i] + std::min(own, kMaxNs), kMaxNs);
    }
  }
  return v;
}

// The runs of all threads of a rank, by thread.
using RunsOfRank = std::vector<std::vector<std::vector<uint64_t>>>;

base::Status collect(const Trace& trace, Rank rank, const std::string& folder, RunsOfRank& runs) {
  const size_t threads = trace.locations(rank).size();
  runs.resize(threads);
  for (size_t t = 0; t < threads; ++t) {
    const std::string path = folder + "/" + std::to_string(rank) + "." + std::to_string(t);
    auto units = read_units(path);
    if (!units.ok()) return units.error();
    runs[t].push_back(std::move(*units));
    unlink(path.c_str());
  }
  return base::Done{};
}

// Whether the last run of the rank has all units. The program's own exit status may be any.
bool is_whole(const Trace& trace, Rank rank, const RunsOfRank& runs) {
  const auto locations = trace.locations(rank);
  for (size_t t = 0; t < locations.size(); ++t)
    if (runs[t].back().size() + 1 < locations[t].calls) return false;
  return true;
}

// Whether a unit was interrupted in every run.
bool has_doubtful(const std::vector<RunsOfRank>& all) {
  for (const RunsOfRank& rank : all)
    for (const auto& runs : rank)
      for (size_t k = 0; !runs.empty() && k < runs.front().size(); ++k)
        if (std::all_of(runs.begin(), runs.end(), [&](const auto& run) {
              return k >= run.size() || (run[k] & kInterrupted) != 0;
            }))
          return true;
  return false;
}

base::Result<VectorFile> file_to_extend(const Trace& trace, const SoloArguments& options,
                                        Rank rank) {
  VectorFile out;
  out.ranks = static_cast<uint32_t>(trace.rank_count());
  const auto log = format::messages::LogReader::open_file(options.trace + ".messages/rank-" +
                                                          std::to_string(rank) + ".rfm");
  if (log.ok()) out.run = log->header().run;
  if (access(options.times.c_str(), F_OK) != 0) {
    // Before the runs, whose times would be lost.
    const std::string folder = std::filesystem::path(options.times).parent_path().string();
    if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
      return base::fail(std::string("cannot write the times: ") + std::strerror(errno),
                        options.times);
    return out;
  }
  auto before = format::vectors::read_file(options.times);
  if (!before.ok()) return before.error();
  if (before->run != out.run || before->ranks != out.ranks)
    return base::fail("has times of another run: name another file", options.times);
  return before;
}

base::Status write_times(const Trace& trace, const SoloArguments& options,
                         const std::vector<Rank>& ranks, const std::vector<RunsOfRank>& all) {
  auto file = file_to_extend(trace, options, ranks.front());
  if (!file.ok()) return file.error();
  for (size_t i = 0; i < ranks.size(); ++i)
    for (uint32_t t = 0; t < all[i].size(); ++t) {
      Vector v = vector_of(ranks[i], t, all[i][t]);
      if (all[i].size() > 1) v.clock = format::vectors::Clock::kWall;
      put(*file, std::move(v));
    }
  return format::write_file_atomically(options.times, encode(*file), "the times");
}

// A folder of our own that goes when it is done.
class Scratch {
 public:
  Scratch() {
    const char* const folder = std::getenv("TMPDIR");
    path_ = std::string(folder == nullptr ? "/tmp" : folder) + "/refrain-solo-" +
            std::string(6, kAnyLetter);
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

base::Result<std::string> find_solo_library(const std::string& mpi) {
  const std::string file = "librefrain-solo-" + mpi + ".so";
  std::string looked;
  for (const std::string& folder : own_folders()) {
    const std::string path = folder + "/" + file;
    if (access(path.c_str(), R_OK) == 0) return absolute(path);
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return base::unsupported("no " + file + " in " + looked +
                           ": build Refrain where that MPI is installed");
}

std::vector<Rank> ranks_of_node(const Trace& trace, Rank rank) {
  const auto& meta = reader::data_of(trace).meta;
  const auto host = [&](Rank r) {
    const auto i = static_cast<uint64_t>(r);
    return i < meta.host_of_rank.size() ? meta.host_of_rank.at(i) : -1;
  };
  std::vector<Rank> out;
  for (Rank r = 0; r < trace.rank_count(); ++r)
    if (host(r) == host(rank)) out.push_back(r);
  return out;
}

int run_solo(const Trace& trace, const SoloArguments& options, const std::vector<Rank>& ranks,
             const std::string& file, const std::string& library) {
  if (options.repeats == 1 && options.times.empty() && ranks.size() == 1) {
    set_environment(trace, options, ranks.front(), library, "");
    return become(options, file);
  }
  if (!options.times.empty())
    if (const auto before = file_to_extend(trace, options, ranks.front()); !before.ok())
      return report(before.error());
  const Scratch scratch;
  if (scratch.path().empty())
    return report(base::fail(std::string("cannot make a scratch folder: ") + std::strerror(errno)));
  std::vector<RunsOfRank> all(ranks.size());
  // Units that were interrupted in every run are measured again, in as many runs at most.
  int status = 0;
  for (uint64_t run = 0; run < 2 * options.repeats; ++run) {
    if (run >= options.repeats && (options.times.empty() || !has_doubtful(all))) break;
    status = run_once(trace, options, ranks, file, library, scratch.path(), run == 0);
    for (size_t i = 0; i < ranks.size(); ++i) {
      const auto good = collect(trace, ranks[i], scratch.path(), all[i]);
      if (status != 0 && (!good.ok() || !is_whole(trace, ranks[i], all[i]))) return status;
      if (!good.ok()) return report(good.error());
    }
  }
  if (options.times.empty()) return status;
  const auto written = write_times(trace, options, ranks, all);
  return written.ok() ? status : report(written.error());
}

}  // namespace refrain::cli
