#include "tracer/startup/join.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "base/last_words.h"
#include "mpi_runtime/rank_exchange.h"
#include "mpi_runtime/recorder_comm.h"
#include "options/environment.h"
#include "tracer/startup/launch.h"
#include "tracer/startup/launcher.h"
#include "tracer/state/complain.h"
#include "tracer/state/live_world.h"
#include "tracer/state/peers.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/state/survive_sigpipe.h"

namespace refrain::tracer {

namespace {

#ifndef REFRAIN_SMPI

constexpr unsigned long kDefaultLimit = 120;
constexpr const char* kNotAllRanks = "not_all_ranks";

Conflict g_conflict = Conflict::kNone;  // as this process began with a session

// ---- the limit ----

// While it lives, a signal comes to this thread when the time is over. No thread that watches: the
// C library is slower for good in a process that ever had two.
class JoinLimit {
 public:
  explicit JoinLimit(const Process& p);
  ~JoinLimit();
  JoinLimit(const JoinLimit&) = delete;
  JoinLimit& operator=(const JoinLimit&) = delete;

 private:
  static constexpr int kAgainS = 10;  // and then without MPI, if it does not end by MPI_Abort
  static int the_signal() { return SIGRTMAX - 1; }
  static void time_is_over(int, siginfo_t*, void*);
  static char line_[400];
  static size_t length_;
  static bool has_said_;

  bool is_on_ = false;
  timer_t timer_{};
  struct sigaction before_ {};
  sigset_t mask_before_{};
};

char JoinLimit::line_[400];
size_t JoinLimit::length_ = 0;
bool JoinLimit::has_said_ = false;

// The thread is inside of MPI, which waits: it has nothing that MPI_Abort could spoil.
void JoinLimit::time_is_over(int, siginfo_t*, void*) {
  if (has_said_) _exit(1);
  has_said_ = true;
  const SurviveSigpipe survive;
  if (write(STDERR_FILENO, line_, length_) < 0) _exit(1);
  timespec passed_on{};
  passed_on.tv_sec = base::kPassedOn.count();
  nanosleep(&passed_on, nullptr);
  abort_world();
}

unsigned long limit_s() {
  const char* at = options::text_of(options::Variable::kJoinLimit);
  unsigned long value = 0;
  return take_number(&at, &value) && *at == '\0' ? value : kDefaultLimit;
}

JoinLimit::JoinLimit(const Process& p) {
  const unsigned long seconds = limit_s();
  if (seconds == 0) return;
  const int n = std::snprintf(
      line_, sizeof line_,
      "refrain: rank %d waited %lu s for the recorders of other ranks, behind MPI_Init: some ranks "
      "of the job seem to have none. Start all %d ranks with `refrain record`, or none; "
      "REFRAIN_JOIN_LIMIT=SECONDS waits longer (0: for ever). The job ends.\n",
      p.rank, seconds, p.size);
  length_ = n < 0 ? 0 : std::min(static_cast<size_t>(n), sizeof line_ - 1);
  be_ready_to_abort();
  struct sigaction action {};
  action.sa_sigaction = time_is_over;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(the_signal(), &action, &before_) != 0) return;
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, the_signal());
  pthread_sigmask(SIG_UNBLOCK, &ours, &mask_before_);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = the_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  is_on_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(seconds);
  when.it_interval.tv_sec = kAgainS;
  if (is_on_) timer_settime(timer_, 0, &when, nullptr);
  if (is_on_) return;
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  sigaction(the_signal(), &before_, nullptr);
}

JoinLimit::~JoinLimit() {
  if (!is_on_) return;
  timer_delete(timer_);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  sigaction(the_signal(), &before_, nullptr);
}

// ---- the communicator ----

bool of_all(Process& p, uint64_t* words, int count, bool is_sure) {
  if (is_sure || p.size == 1) return make_comm_of_all(&recorders(), words, count);
  const JoinLimit limit(p);
  return make_comm_of_all(&recorders(), words, count);
}

// Only these take part: the others know nothing of it.
bool of_recorded(Process& p, uint64_t* words, int count) {
  const bool is_alone = peers().recorded.size() == 1;
  std::optional<JoinLimit> limit;
  if (!is_alone) limit.emplace(p);
  return make_comm_of(peers().recorded, &recorders(), words, count);
}

// "0-3, 7", at most about 200 letters.
std::string unrecorded_text(const Process& p) {
  constexpr size_t kMostText = 200;
  std::string text;
  for (int rank = 0; rank < p.size;) {
    int end = rank;
    while (end < p.size && !peers().has(end)) ++end;
    if (end == rank) {
      ++rank;
      continue;
    }
    if (text.size() > kMostText) return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
    if (end - rank > 1) text.append("-").append(std::to_string(end - 1));
    rank = end;
  }
  return text;
}

#endif

}  // namespace

#ifndef REFRAIN_SMPI

void about_to_join() {
  announce_rank();
  if (options::is_given(options::RecordOption::kLive)) announce_rank(LaunchBoard::kLive);
}

void about_to_begin_session() {
  if (!options::is_given(options::RecordOption::kLive)) return;
  announce_rank(LaunchBoard::kLive, Begins::kWithSession);
  g_conflict = find_sessions_beside_analyser();
}

bool is_session_beside_analyser() {
  if (g_conflict == Conflict::kNone) return false;
  if (g_conflict == Conflict::kSayIt) say("%s", kSessionsBesideAnalyser);
  wait_to_abort(g_conflict == Conflict::kSayIt);
  return true;
}

bool join_peers(Process& p, uint64_t* words, int count) {
  using Are = RecordedRanks::Are;
  RecordedRanks found;
  if (live_world().is_on) {  // in which every rank is recorded, and the launcher counts others too
    found.are = Are::kAll;
    found.is_whole_job = true;
    forget_launch();
  } else {
    found = look_for_recorded(p.rank, p.size);
  }
  peers().recorded.clear();
  bool is_good = false;
  const char* why = "cannot set up a communicator of its own: nothing will be recorded";
  if (found.are == Are::kWithoutUs) {
    why = "came when other ranks had begun to record without it: it is not recorded";
  } else if (found.are == Are::kSome) {
    peers().recorded = std::move(found.ranks);
    is_good = of_recorded(p, words, count);
  } else {
    is_good = of_all(p, words, count, found.are == Are::kAll && found.is_whole_job);
  }
  if (is_good) {
    peers().mine = rank_in(recorders());
    peers().count = size_of(recorders());
    return true;
  }
  set_null(&recorders());
  set_slow_path_reason(slow_path_reasons::kNotRecording, true);
  return complain(p, why), false;
}

void note_unrecorded(Process& p) {
  if (!peers().is_partial() || peers().mine != 0) return;
  const std::string who = "rank " + unrecorded_text(p);
  p.losses.push_back({kNotAllRanks, 0, -1, who});
  if (p.sink != nullptr) p.sink->loss(kNotAllRanks, 0, who.c_str());
}

void leave_peers() { forget_launch(); }

#else

void about_to_join() {}

void about_to_begin_session() {}

bool is_session_beside_analyser() { return false; }

bool join_peers(Process& p, uint64_t*, int) {
  peers().mine = p.rank;
  peers().count = p.size;
  if (make_comm_of_all(&recorders(), nullptr, 0)) return true;
  set_null(&recorders());
  return complain(p, "cannot set up a communicator of its own: nothing will be recorded"), false;
}

void note_unrecorded(Process&) {}
void leave_peers() {}

#endif

}  // namespace refrain::tracer
