#include "tracer/startup/launch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/last_words.h"
#include "mpi_runtime/built_with.h"
#include "tracer/startup/launcher.h"

namespace refrain::tracer {

namespace {

constexpr uint64_t kMarkPatienceNs = 250'000'000;
constexpr long kMarkPauseNs = 5'000'000;
constexpr int kMostLocal = 65536;
constexpr const char* kPrefix = "refrain-launch-";

// What the file holds; as long as it is, the marks follow.
struct Board {
  static constexpr uint32_t kClosed = uint32_t{1} << 31;
  std::atomic<uint32_t> state;     // how many marks there are; kClosed: there will be no others
  std::atomic<uint32_t> marks[1];  // of the ranks in the order in which they came; 0: not yet
  // A mark: rank + 1, and how the rank begins.
  static constexpr uint32_t kSession = uint32_t{1} << 30, kAnalyser = uint32_t{1} << 31,
                            kRank = kSession - 1;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

struct Launch {
  std::string path;
  Board* board = nullptr;  // null: nothing is known
  size_t bytes = 0;
  int rank = -1;  // as the launcher says
  int launcher = 0;
  bool is_whole_job = false;  // as far as the launcher says
  uint32_t local = 0;
  bool is_in = false;  // our mark is there
  uint32_t place = 0;  // which it is
};

uint32_t word_of(Begins begins) {
  return begins == Begins::kWithSession  ? Board::kSession
         : begins == Begins::kAsAnalyser ? Board::kAnalyser
                                         : 0;
}

Launch& launch(LaunchBoard board) {
  static auto* const all = new Launch[2];
  return all[static_cast<size_t>(board)];
}

const char* folder() { return access("/dev/shm", R_OK | W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp"; }

// Of launchers that are not there any more. Only of our own processes' view: others may live where
// we cannot see them.
void sweep(const std::string& mine) {
  DIR* const dir = opendir(folder());
  if (dir == nullptr) return;
  while (const dirent* const entry = readdir(dir)) {
    if (std::strncmp(entry->d_name, kPrefix, std::strlen(kPrefix)) != 0 || mine == entry->d_name)
      continue;
    const char* at = entry->d_name + std::strlen(kPrefix);
    unsigned long numbers[4];  // user, process namespace, process, its begin
    bool is_good = true;
    for (unsigned long& number : numbers)
      is_good = is_good && take_number(&at, &number) && *at++ == '-';
    if (!is_good || numbers[0] != geteuid() || numbers[1] != process_space() ||
        birth_of(static_cast<int>(numbers[2])) == numbers[3])
      continue;
    unlink((std::string(folder()) + "/" + entry->d_name).c_str());
  }
  closedir(dir);
}

std::string name_of(const Launcher& launcher, LaunchBoard board) {
  char text[160];
  std::snprintf(text, sizeof text, "%s%u-%lu-%d-%lu-%016lx", kPrefix,
                static_cast<unsigned>(geteuid()), process_space(), launcher.pid, launcher.born,
                static_cast<unsigned long>(launcher.job));
  return board == LaunchBoard::kLive ? std::string(text) + "-live" : text;
}

int open_file(const std::string& name, const std::string& path, size_t bytes) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  int fd = open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
  const bool is_first = fd >= 0;
  if (fd < 0) fd = open(path.c_str(), kFlags | O_CREAT, 0600);
  struct stat info {};
  // All make it as long as the first. Writing where there is no room would be a signal.
  if (fd < 0 || fstat(fd, &info) != 0 || info.st_uid != geteuid() || !S_ISREG(info.st_mode) ||
      posix_fallocate(fd, 0, static_cast<off_t>(bytes)) != 0) {
    if (fd >= 0) close(fd);
    return -1;
  }
  if (is_first) sweep(name);
  return fd;
}

bool join(Launch& l, Begins begins) {
  uint32_t state = l.board->state.load();
  // A program that a rank has started, and which takes itself for that rank, is none.
  for (uint32_t i = 0; i < std::min(state & ~Board::kClosed, l.local); ++i)
    if ((l.board->marks[i].load() & Board::kRank) == static_cast<uint32_t>(l.rank) + 1)
      return false;
  do {
    if ((state & Board::kClosed) != 0 || state >= l.local) return false;
  } while (!l.board->state.compare_exchange_weak(state, state + 1));
  l.board->marks[state].store((static_cast<uint32_t>(l.rank) + 1) | word_of(begins));
  l.place = state;
  return true;
}

void pause_a_little() {
  timespec t{};
  t.tv_nsec = kMarkPauseNs;
  nanosleep(&t, nullptr);
}

uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// The state when all are there, or when it is closed: by whoever has no patience any more.
uint32_t final_state(Launch& l) {
  const uint64_t begin = now_ns();
  uint32_t state = l.board->state.load();
  for (; state != l.local && (state & Board::kClosed) == 0; state = l.board->state.load()) {
    if (now_ns() - begin < kMarkPatienceNs)
      pause_a_little();
    else
      l.board->state.compare_exchange_strong(state, state | Board::kClosed);
  }
  return state;
}

// A mark follows its number at once, unless its process is dead: 0.
uint32_t mark_at(const Board& board, uint32_t place) {
  const uint64_t begin = now_ns();
  while (board.marks[place].load() == 0 && now_ns() - begin < kMarkPatienceNs) pause_a_little();
  return board.marks[place].load();
}

std::vector<int> ranks_of(const Board& board, uint32_t count) {
  std::vector<int> ranks;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t mark = mark_at(board, i);
    if (mark == 0) return {};
    ranks.push_back(static_cast<int>(mark & Board::kRank) - 1);
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void let_go(Launch& l) {
  if (l.board != nullptr) munmap(l.board, l.bytes);
  l.board = nullptr;
}

RecordedRanks look(Launch& l, int rank, int size) {
  RecordedRanks found;
  if (l.rank != rank || static_cast<int>(l.local) > size) return found;
  if (!l.is_in) {
    found.are = RecordedRanks::Are::kWithoutUs;
    return found;
  }
  const uint32_t state = final_state(l);
  if (state == l.local) {
    unlink(l.path.c_str());
    l.path.clear();
    found.are = RecordedRanks::Are::kAll;
    found.is_whole_job = static_cast<int>(l.local) == size;
    return found;
  }
  found.ranks = ranks_of(*l.board, state & ~Board::kClosed);
  const bool is_good =
      std::binary_search(found.ranks.begin(), found.ranks.end(), rank) &&
      std::adjacent_find(found.ranks.begin(), found.ranks.end()) == found.ranks.end() &&
      found.ranks.back() < size;
  found.are = is_good ? RecordedRanks::Are::kSome : RecordedRanks::Are::kWithoutUs;
  return found;
}

}  // namespace

void wait_to_abort(bool has_said) {
  timespec t{};
  t.tv_sec = (has_said ? base::kPassedOn : base::kBeforeSilentAbort).count();
  nanosleep(&t, nullptr);
}

void announce_rank(LaunchBoard board, Begins begins) {
  const int error = errno;
  Launch& l = launch(board);
  Launcher launcher;
  if (l.board == nullptr && find_launcher(own_word(), &launcher) && launcher.local > 1 &&
      launcher.local <= kMostLocal) {
    const std::string name = name_of(launcher, board);
    l.path = std::string(folder()) + "/" + name;
    l.rank = launcher.rank;
    l.launcher = launcher.pid;
    l.is_whole_job = launcher.size == launcher.local;
    l.local = static_cast<uint32_t>(launcher.local);
    l.bytes = sizeof(Board) + sizeof(Board::marks) * (l.local - 1);
    const int fd = open_file(name, l.path, l.bytes);
    if (fd >= 0) {
      void* const at = mmap(nullptr, l.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      close(fd);
      if (at != MAP_FAILED) l.board = static_cast<Board*>(at);
    }
    if (l.board != nullptr) l.is_in = join(l, begins);
  }
  errno = error;
}

Conflict find_sessions_beside_analyser() {
  Launch& l = launch(LaunchBoard::kLive);
  if (l.board == nullptr || !l.is_in) return Conflict::kNone;
  const auto is_conflict = [](uint32_t seen) {
    return (seen & Board::kSession) != 0 && (seen & Board::kAnalyser) != 0;
  };
  uint32_t seen = 0, place = 0;
  while (!is_conflict(seen) && place <= l.place) seen |= mark_at(*l.board, place++);
  // An analyser that comes when this rank has ended must see its mark. Whoever is last removes the
  // file, or else the next launch.
  if ((seen & Board::kSession) != 0) {
    if (l.board->state.load() == l.local) unlink(l.path.c_str());
    l.path.clear();
  }
  if (!is_conflict(seen)) return Conflict::kNone;
  return place == l.place + 1 ? Conflict::kSayIt : Conflict::kIsSaid;
}

Arrivals who_has_come() {
  Arrivals out;
  const Launch& l = launch(LaunchBoard::kLive);
  if (l.board == nullptr || !l.is_in || !l.is_whole_job) return out;
  out.launcher = l.launcher;
  out.local = l.local;
  const uint32_t state = l.board->state.load() & ~Board::kClosed;
  for (uint32_t place = 0; place < std::min(state, l.local); ++place) {
    const uint32_t mark = l.board->marks[place].load();
    if (mark != 0) ++((mark & Board::kAnalyser) != 0 ? out.analysers : out.programs);
  }
  return out;
}

RecordedRanks look_for_recorded(int rank, int size, LaunchBoard board) {
  Launch& l = launch(board);
  if (l.board == nullptr || size < 2) return let_go(l), RecordedRanks();
  RecordedRanks found = look(l, rank, size);
  let_go(l);
  return found;
}

void forget_launch() {
  for (const LaunchBoard board : {LaunchBoard::kRecorded, LaunchBoard::kLive}) {
    Launch& l = launch(board);
    if (!l.path.empty() && l.is_in) unlink(l.path.c_str());
    l.path.clear();
  }
}

}  // namespace refrain::tracer
