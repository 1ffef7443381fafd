#include "tracer/spool/exit_sign.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/last_words.h"
#include "tracer/spool/spool.h"
#include "tracer/spool/spool_file.h"
#include "tracer/state/file_room.h"
#include "tracer/state/process.h"
#include "tracer/state/shown.h"
#include "tracer/state/slow_path_reasons.h"
#include "tracer/state/survive_sigpipe.h"

namespace refrain::tracer {

namespace {

using format::spool::State;

// Known without making a Process: exit handlers run in programs that never used MPI, too.
Spool* g_spool = nullptr;

struct Unfinished {
  int rank = -1;
  std::string mark, where;
};
const Unfinished* g_unfinished = nullptr;  // never destroyed: threads may call MPI until the end

bool is_recording() {
  return g_spool != nullptr && !has_slow_path_reason(slow_path_reasons::kNotRecording);
}

__attribute__((destructor)) void process_exits() {
  if (is_recording()) g_spool->set_state(State::kExited);
}

void change(State from, State to) {
  if (is_recording() && g_spool->state() == from) g_spool->set_state(to);
}

// The mark of the rank that says it is empty until its line was read.
void note_said(const char* mark) {
  const int fd = open_file(mark, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  (void)!write(fd, "said", 4);
  close(fd);
}

// Programs often call MPI_Abort on all ranks. The launcher would end the job for this one, and drop
// the line of the other.
void wait_until_said(const char* mark) {
  const auto is_said = [&] {
    struct stat info {};
    return stat(mark, &info) != 0 || info.st_size > 0;
  };
  base::wait_until(is_said, base::kPassedOn);
}

}  // namespace

void watch_exit(Spool& spool) { g_spool = &spool; }

void watch_unfinished(const Process& p, const std::string& folder, const std::string& run) {
  if (p.options.quiet) return;
  const std::string shown = printable(shell_word(short_path(folder)));
  g_unfinished = new Unfinished{p.rank, folder + "/" + run + ".unfinished",
                                shown + ": " + printable(called_as()) + " recover " + shown};
}

void say_unfinished(const char* what) {
  if (g_unfinished == nullptr || !is_recording() || g_spool->state() == State::kStopped) return;
  const SurviveSigpipe survive;  // also keeps errno
  const char* const mark = g_unfinished->mark.c_str();
  if (!make_mark(mark) && errno == EEXIST) return wait_until_said(mark);
  // Not STDERR_FILENO: where the program has closed the stream, that may be a file of its own.
  const int out = fileno(stderr);
  if (out >= 0)
    dprintf(out, "refrain: rank %d %s; what was recorded stays in %s\n", g_unfinished->rank, what,
            g_unfinished->where.c_str());
  base::wait_until_read(out, base::kPassedOn);
  note_said(mark);
}

void forget_unfinished() {
  if (g_unfinished != nullptr && g_unfinished->rank == 0) unlink(g_unfinished->mark.c_str());
}

void note_end_by_mpi() { change(State::kRunning, State::kExited); }
void take_back_end_by_mpi() { change(State::kExited, State::kRunning); }

}  // namespace refrain::tracer
