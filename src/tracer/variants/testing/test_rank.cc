#include "tracer/variants/testing/test_rank.h"

#include <atomic>

#include "tracer/calls/forwarded_functions.h"
#include "tracer/state/current.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"
#include "tracer/state/slow_path_reasons.h"

// What src/tracer/variants, peer_comms.cc, memory.cc and the generated tables define in a recorder.
namespace refrain::mpi_runtime {

struct RankComm {};
struct WorldGroup {};

}  // namespace refrain::mpi_runtime

namespace refrain::tracer {

namespace {
Process* g_process = nullptr;
RankComm g_recorders;
WorldGroup g_world_group;
}  // namespace

__thread Location* g_location = nullptr;
constinit std::atomic<uint32_t> g_slow_path_reasons{0};
const char* const kForwardedNames[] = {"MPIX_Unknown"};
const uint32_t kForwardedCount = 1;
const char* const kLeftAloneNames[] = {"MPI_Left_alone"};
const uint32_t kLeftAloneCount = 1;

Process& process() { return *g_process; }
void forget_memos() {
  if (g_process != nullptr) g_process->handle_changes.fetch_add(1);
}
Location* find_location() { return g_location; }
StackBounds StackBounds::of_this_thread() {
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  constexpr uintptr_t kNear = 1 << 16;
  return {here - kNear, here + kNear};
}
RankComm& recorders() { return g_recorders; }
WorldGroup& world_group() { return g_world_group; }
bool has_peers() { return false; }

size_t held_memory() { return 0; }
size_t most_memory() { return 0; }
bool memory_for(size_t) { return true; }

namespace testing {

TestRank::TestRank(int rank, int size) : process_(new Process) {
  g_slow_path_reasons.store(0);
  mpi_runtime::fake::start(rank, size);
  g_process = process_;
  process_->rank = rank;
  process_->size = size;
  process_->initialized = true;
  process_->options.quiet = true;
  process_->clock.start();
  location_ = add_location([](Process& p, uint32_t thread) { return new Location(p, thread); });
  g_location = location_;
}

TestRank::~TestRank() { g_location = nullptr; }

}  // namespace testing

}  // namespace refrain::tracer
