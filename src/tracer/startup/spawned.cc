#include "tracer/startup/spawned.h"

#include <time.h>

#include <utility>
#include <vector>

#include "format/merge/programs.h"
#include "tracer/startup/trace_path.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

constexpr const char* kLoss = "spawned_not_recorded";
constexpr size_t kMostJobs = 1024;

struct State {
  bool has_parent = false;
  int count = 0;  // spawns that this process was the root of
  std::vector<StartedJob> jobs;
};

State& state() {
  static auto* const one = new State;
  return *one;
}

std::string described(const StartedJob& job) {
  return std::to_string(job.job.processes) + " process" + (job.job.processes == 1 ? "" : "es") +
         " of " + job.job.command;
}

void lose(Process& p, StartedJob& job) {
  job.is_known = true;
  job.job.trace.clear();
  p.lose(kLoss, described(job).c_str());
}

}  // namespace

int spawned_count() { return state().count; }

void spawn_started(Process& p, StartedJob job) {
  State& s = state();
  ++s.count;
  job.job.rank = p.rank;
  if (!job.is_wrapped && job.job.trace.empty() && !job.is_known) lose(p, job);
  if (s.jobs.size() >= kMostJobs) return;
  s.jobs.push_back(job);
  if (p.sink != nullptr)
    p.sink->text(std::string(format::kSpawnedPrefix) + std::to_string(s.jobs.size() - 1),
                 spawned_text(job.job));
}

void note_parent(bool has_parent) { state().has_parent = has_parent; }

bool is_spawned_world() { return state().has_parent; }

// MPI_Comm_spawn returns when the children are in MPI_Init: their recorder may not be ready yet.
void check_spawned(Process& p) {
  constexpr int kTries = 200;
  constexpr long kPauseNs = 10'000'000;
  for (StartedJob& job : state().jobs) {
    if (!job.is_wrapped || job.is_known) continue;
    const auto is_seen = [&job] {
      return is_there(job.job.trace) || is_there(job.job.trace + ".spool");
    };
    for (int i = 0; i < kTries && !is_seen(); ++i) {
      const timespec pause{0, kPauseNs};
      nanosleep(&pause, nullptr);
    }
    if (!is_seen()) lose(p, job);
  }
}

void add_spawned(std::map<std::string, std::string>& text) {
  const State& s = state();
  for (size_t i = 0; i < s.jobs.size(); ++i)
    text[std::string(format::kSpawnedPrefix) + std::to_string(i)] = spawned_text(s.jobs[i].job);
}

}  // namespace refrain::tracer
