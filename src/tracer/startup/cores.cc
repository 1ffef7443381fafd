#include "tracer/startup/cores.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "tracer/calls/posix_calls.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

#ifndef REFRAIN_SMPI

namespace {

// Larger than any machine that is known; the system refuses a mask that is shorter than its own.
constexpr int kFirstCpus = 1024, kMostCpus = 1 << 16;

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

std::vector<format::CpuRun> runs_of(const cpu_set_t* set, size_t bytes, int cpus) {
  std::vector<format::CpuRun> runs;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    if (CPU_ISSET_S(cpu, bytes, set) == 0) continue;
    const auto number = static_cast<uint64_t>(cpu);
    if (runs.empty() || runs.back().first + runs.back().count != number)
      runs.push_back({number, 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

format::RankPlace own_place() {
  format::RankPlace place;
  for (int cpus = kFirstCpus; cpus <= kMostCpus && place.cpus.empty(); cpus *= 2) {
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(cpus));
    if (set == nullptr) return {};
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) == 0)
      place.cpus = runs_of(set.get(), bytes, cpus);
    else if (errno != EINVAL)
      return {};
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  if (place.cpus.empty() || online < 1) return {};
  place.cores = static_cast<uint64_t>(online);
  return place;
}

uint64_t involuntary_switches() {
  rusage used{};
  return getrusage(RUSAGE_SELF, &used) == 0 ? static_cast<uint64_t>(used.ru_nivcsw) : 0;
}

void begin_run(Process& p) {
  if (p.place.cores > 0) return;
  p.place = own_place();
  p.switches = involuntary_switches();
  know_posix_callers();
}

void end_run(Process& p) {
  if (p.end_ticks != 0) return;
  p.end_ticks = p.clock.ticks();
  p.switches = involuntary_switches() - p.switches;
}

#else

format::RankPlace own_place() { return {}; }
uint64_t involuntary_switches() { return 0; }
void begin_run(Process&) {}
void end_run(Process& p) {
  if (p.end_ticks == 0) p.end_ticks = p.clock.ticks();
}

#endif

}  // namespace refrain::tracer
