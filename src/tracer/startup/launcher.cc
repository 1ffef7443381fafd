#include "tracer/startup/launcher.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/launcher_words.h"
#include "base/process_stat.h"

namespace refrain::tracer {

namespace {

// What tells apart the jobs that one process of a launcher has started: MPI_Comm_spawn makes such.
constexpr const char* kJobWords[] = {"PMIX_NAMESPACE", "PMI_JOBID",    "PMI_KVSNAME",
                                     "PMI_ID_SPACE",   "SLURM_JOB_ID", "SLURM_STEP_ID"};

// As the kernel cuts them off. A rank never is one of these.
constexpr const char* kLaunchers[] = {"hydra_pmi_proxy", "hydra_bstrap_pr", "orted",     "prted",
                                      "prterun",         "orterun",         "slurmstepd"};

constexpr int kMostSteps = 32;

bool number_of(const char* name, int* number) {
  const char* at = std::getenv(name);
  unsigned long value = 0;
  if (at == nullptr || !take_number(&at, &value) || *at != '\0' || value > INT32_MAX) return false;
  *number = static_cast<int>(value);
  return true;
}

std::string of_process(int pid, const char* what) {
  return "/proc/" + std::to_string(pid) + "/" + what;
}

bool read_all(const std::string& path, std::string* bytes) {
  constexpr size_t kPiece = 8192, kMost = size_t{4} << 20;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = 0;
  do {
    const size_t have = bytes->size();
    bytes->resize(have + kPiece);
    got = read(fd, bytes->data() + have, kPiece);
    bytes->resize(have + (got > 0 ? static_cast<size_t>(got) : 0));
  } while (got > 0 && bytes->size() < kMost);
  close(fd);
  return got == 0;
}

std::string link_of(int pid, const char* what) {
  char text[64];
  const ssize_t n = readlink(of_process(pid, what).c_str(), text, sizeof text);
  return n > 0 ? std::string(text, static_cast<size_t>(n)) : std::string();
}

bool is_launcher(const std::string& name) {
  for (const char* known : kLaunchers)
    if (name == known) return true;
  return false;
}

// A variable of ours as it stands among those of a process.
std::string told(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string()
                          : '\0' + std::string(name) + "=" + value + std::string(1, '\0');
}

// The first process above us that is no rank: it was not told the number that we were, in the same
// job (a launcher that a rank of another one has started was told that one's). Between them may be
// shells and other programs that start the rank.
bool find_process(const base::LauncherWords& words, Launcher* launcher) {
  const std::string rank = told(words.rank), job = told("PMIX_NAMESPACE");
  int pid = static_cast<int>(getppid());
  for (int steps = 0; steps < kMostSteps && pid > 1; ++steps) {
    base::ProcessStat stat;
    std::string environment("\0", 1);
    if (!base::read_process_stat(pid, &stat)) return false;
    if (!is_launcher(stat.name)) {
      if (!read_all(of_process(pid, "environ"), &environment)) return false;
      if (environment.find(rank) != std::string::npos &&
          environment.find(job) != std::string::npos) {
        pid = stat.parent;
        continue;
      }
    }
    // Who sees other files than the launcher may not see those of the other ranks.
    const std::string files = link_of(pid, "ns/mnt");
    char own[64];
    const ssize_t n = readlink("/proc/self/ns/mnt", own, sizeof own);
    if (files.empty() || n <= 0 || files != std::string(own, static_cast<size_t>(n))) return false;
    launcher->pid = pid;
    launcher->born = stat.born;
    return true;
  }
  return false;
}

uint64_t hash_of_job() {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char* name : kJobWords) {
    const char* const text = std::getenv(name);
    for (const char* c = text == nullptr ? "" : text; *c != '\0'; ++c)
      hash = (hash ^ static_cast<unsigned char>(*c)) * 0x100000001b3u;
    hash = (hash ^ 0xff) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

bool take_number(const char** at, unsigned long* number) {
  // Not strtol() or sscanf(): newer C libraries give them other names, which older ones lack.
  const char* const begin = *at;
  *number = 0;
  for (; **at >= '0' && **at <= '9' && *at - begin < 19; ++*at)
    *number = 10 * *number + static_cast<unsigned long>(**at - '0');
  return *at != begin;
}

bool find_launcher(const char* mpi, Launcher* launcher) {
  const base::LauncherWords* found = nullptr;
  for (const base::LauncherWords& words : base::kLauncherWords) {
    int rank = 0, local = 0;
    if (!number_of(words.rank, &rank) || !number_of(words.local, &local)) continue;
    if (found != nullptr && std::strcmp(found->mpi, mpi) == 0) continue;
    const bool is_ours = std::strcmp(words.mpi, mpi) == 0;
    // Of two that may both be meant neither is known to be.
    if (found != nullptr && !is_ours) return false;
    found = &words;
    launcher->rank = rank;
    launcher->local = local;
    if (!number_of(words.size, &launcher->size)) launcher->size = 0;
  }
  if (found == nullptr || !find_process(*found, launcher)) return false;
  launcher->job = hash_of_job();
  return true;
}

bool is_first_to_ask(const char* mpi) {
  Launcher launcher;
  if (!find_launcher(mpi, &launcher)) return true;
  // A name that has no file: it is free again when the process ends, however it does.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                                   "refrain-first.%lx.%d.%lx.%llx", process_space(), launcher.pid,
                                   launcher.born, static_cast<unsigned long long>(launcher.job));
  const int kept = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (kept < 0) return true;
  const auto bytes = offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length);
  if (bind(kept, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(bytes)) == 0)
    return true;
  const bool is_taken = errno == EADDRINUSE;
  close(kept);
  return !is_taken;
}

unsigned long birth_of(int pid) {
  base::ProcessStat stat;
  return base::read_process_stat(pid, &stat) ? stat.born : 0;
}

std::vector<int> children_of(int pid) {
  std::vector<int> children;
  DIR* const all = opendir("/proc");
  if (all == nullptr) return children;
  while (const dirent* const entry = readdir(all)) {
    const char* at = entry->d_name;
    unsigned long number = 0;
    base::ProcessStat stat;
    if (take_number(&at, &number) && *at == '\0' &&
        base::read_process_stat(static_cast<int>(number), &stat) && stat.parent == pid &&
        stat.state != 'Z')
      children.push_back(static_cast<int>(number));
  }
  closedir(all);
  return children;
}

bool was_told(int pid, const char* name) {
  std::string environment("\0", 1);
  if (!read_all(of_process(pid, "environ"), &environment)) return false;
  const std::string begin = '\0' + std::string(name) + '=';
  const size_t at = environment.find(begin);
  return at != std::string::npos && at + begin.size() < environment.size() &&
         environment[at + begin.size()] != '\0';
}

unsigned long process_space() {
  static const unsigned long number = [] {
    char text[64] = "";
    unsigned long n = 0;
    const ssize_t length = readlink("/proc/self/ns/pid", text, sizeof text - 1);
    const char* at = length > 0 ? std::strchr(text, '[') : nullptr;
    return at != nullptr && take_number(&++at, &n) ? n : 0;
  }();
  return number;
}

}  // namespace refrain::tracer
