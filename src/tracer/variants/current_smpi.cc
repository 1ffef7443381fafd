// Ranks are actors of one simulation: user-level threads, all in one process and mostly in one
// thread of the system, so that globals and thread-local storage belong to all of them.
//
// SimGrid runs one actor at a time and changes over inside of MPI calls only. Nothing here calls
// MPI, so nothing here needs a lock.
#include "tracer/startup/start_process.h"
#include "tracer/state/current.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <simgrid/actor.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

struct Rank {
  Process* process = nullptr;
  Location* location = nullptr;
  uint32_t slow_path_reasons = 0;
  std::vector<std::pair<const void*, void*>> slots;  // of_this_process(): type, object
};

// By number of the actor; never destroyed, and they stay where they are. Number 0 is the
// simulation itself, which is no rank.
struct Ranks {
  std::vector<std::unique_ptr<Rank>> by_actor;
};

Ranks& ranks() {
  static Ranks* const all = [] {
    pthread_atfork(nullptr, nullptr,
                   [] { g_slow_path_reasons.fetch_or(slow_path_reasons::kNotRecording); });
    return new Ranks;
  }();
  return *all;
}

Rank& this_rank() {
  Ranks& all = ranks();
  const auto actor = sg_actor_self() == nullptr
                         ? size_t{0}
                         : static_cast<size_t>(std::max<aid_t>(sg_actor_self_get_pid(), 0));
  if (actor >= all.by_actor.size()) all.by_actor.resize(actor + 1);
  auto& rank = all.by_actor[actor];
  if (rank == nullptr) {
    rank = std::make_unique<Rank>();
    if (actor == 0) rank->slow_path_reasons = slow_path_reasons::kNotRecording;
  }
  return *rank;
}

// The program's stacks, as the system sees them: read again when one is missing.
class StackList {
 public:
  StackBounds find(uintptr_t address) {
    StackBounds found = known(address);
    if (found.end != 0) return found;
    read();
    return known(address);
  }

 private:
  StackBounds known(uintptr_t address) const {
    const auto after =
        std::upper_bound(stacks_.begin(), stacks_.end(), address,
                         [](uintptr_t a, const StackBounds& stack) { return a < stack.begin; });
    if (after == stacks_.begin() || !(after - 1)->holds(address)) return {};
    return *(after - 1);
  }
  void read() {
    stacks_.clear();
    std::FILE* const maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) return;
    char line[512];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
      // 7f00-7fff rw-p ...
      StackBounds area;
      const char* const end = line + std::strlen(line);
      const auto begins = std::from_chars(line, end, area.begin, 16);
      if (begins.ec != std::errc() || *begins.ptr != '-') continue;
      const auto ends = std::from_chars(begins.ptr + 1, end, area.end, 16);
      if (ends.ec == std::errc() && std::strncmp(ends.ptr, " rw", 3) == 0) stacks_.push_back(area);
    }
    std::fclose(maps);
  }

  std::vector<StackBounds> stacks_;  // by begin, as the system lists them
};

struct Area {
  uintptr_t begin = 0, end = 0;
};

// Where the code lies that holds `inside`.
Area code_around(const void* inside) {
  struct Search {
    uintptr_t inside;
    Area found;
  } search{reinterpret_cast<uintptr_t>(inside), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* context) {
        auto& s = *static_cast<Search*>(context);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& ph = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + ph.p_vaddr;
          if (ph.p_type != PT_LOAD || s.inside < begin || s.inside >= begin + ph.p_memsz) continue;
          s.found = {begin, begin + ph.p_memsz};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

}  // namespace

// Its last act may be the call, which then returns to ours.
bool is_mpi_itself(const void* address) {
  static const Area simgrid = code_around(dlsym(RTLD_NEXT, "PMPI_Send"));
  static const Area own = code_around(reinterpret_cast<const void*>(&current_location));
  const auto a = reinterpret_cast<uintptr_t>(address);
  return (a >= simgrid.begin && a < simgrid.end) || (a >= own.begin && a < own.end);
}

bool has_slow_path_reason(uint32_t what) {
  return ((g_slow_path_reasons.load(std::memory_order_relaxed) | this_rank().slow_path_reasons) &
          what) != 0;
}

void set_slow_path_reason(uint32_t what, bool on) {
  uint32_t& word = this_rank().slow_path_reasons;
  word = on ? word | what : word & ~what;
}

void forget_memos() {
  for (const auto& rank : ranks().by_actor)
    if (rank != nullptr && rank->process != nullptr) rank->process->handle_changes.fetch_add(1);
}

Location* known_location() { return this_rank().location; }

Location* current_location() {
  if (has_slow_path_reason(slow_path_reasons::kNotRecording)) return nullptr;
  Rank& rank = this_rank();
  if (rank.location == nullptr) rank.location = make_location();
  return has_slow_path_reason(slow_path_reasons::kNotRecording) ? nullptr : rank.location;
}

void*& slot_of_this_process(const void* type) {
  auto& slots = this_rank().slots;
  for (auto& [known, object] : slots)
    if (known == type) return object;
  return slots.emplace_back(type, nullptr).second;
}

Process& process() {
  Rank& rank = this_rank();
  if (rank.process == nullptr) {
    rank.process = new Process;
    start_process(*rank.process);
  }
  return *rank.process;
}

StackBounds StackBounds::of_this_thread() {
  static StackList* const stacks = new StackList;
  return stacks->find(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
}

}  // namespace refrain::tracer
