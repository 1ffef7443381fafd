// SMPI's ranks are actors of a simulation, in simulated time.
#include "replay/pace/run_time.h"

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace refrain::replay {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr const char* kShared = "refrain_replay_trace";

class SimulatedClock : public PaceClock {
 public:
  uint64_t now_ns() override {
    return static_cast<uint64_t>(simgrid_get_clock() * kNsPerSecond + 0.5) + 1;
  }
  // To spin is to compute for as long as it takes on a host that does nothing else.
  void pass_until(uint64_t ns, Compute how) override {
    const uint64_t now = now_ns();
    if (ns <= now) return;
    const double seconds = static_cast<double>(ns - now) / kNsPerSecond;
    if (how == Compute::kSpin)
      sg_actor_execute(seconds * sg_host_get_speed(sg_host_self()));
    else
      sg_actor_sleep_for(seconds);
  }
};

}  // namespace

PaceClock& run_clock() {
  static SimulatedClock clock;
  return clock;
}

// Time must go on, or the others never run.
void give_way() {
  constexpr double kStep = 1e-7;
  sg_actor_sleep_for(kStep);
}

Rank rank_in_job() {
  const char* const rank = sg_actor_get_property_value(sg_actor_self(), "rank");
  return rank == nullptr ? -1 : std::strtoll(rank, nullptr, 10);
}

void leave_job(int status) {
  std::fflush(nullptr);
  _exit(status);
}

bool can_watch() { return false; }

bool ranks_are_one_process() { return true; }

// Variables of the program are each rank's own; those of the environment are the process's.
const void* shared_by_ranks() {
  const char* const text = std::getenv(kShared);
  long pid = 0;
  void* place = nullptr;
  if (text == nullptr || std::sscanf(text, "%ld %p", &pid, &place) != 2 || pid != getpid())
    return nullptr;
  return place;
}

void share_by_ranks(const void* place) {
  char text[64];
  std::snprintf(text, sizeof(text), "%ld %p", static_cast<long>(getpid()), place);
  setenv(kShared, text, 1);
}

}  // namespace refrain::replay
