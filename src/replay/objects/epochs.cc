// Epochs of windows in several threads. A process has one of a kind at a time, and of MPI_Win_lock
// one for each target; so threads that open some took turns. In which order does not matter, and a
// trace without times does not tell: a fixed one would be another one on each rank, and ranks whose
// epochs hold collectives would wait for each other for ever.
#include "mpi/call_ids.h"
#include "mpi/epoch_turns.h"
#include "replay/engine.h"

namespace refrain::replay {
namespace {

// As a target's number has 31 bits, the others lie above.
constexpr int64_t kAboveTargets = int64_t{1} << 32;

}  // namespace

// Before the call: waits until no other thread has it open. After the call: others may open it.
void Engine::take_turn_in_epoch(const Frame& frame, bool is_before) {
  if (!state_.has_threads || frame.info.group != mpi::CallGroup::kRma) return;
  const auto epoch = mpi::epoch_turn(frame.info.id);
  if (!epoch || epoch->opens != is_before || frame.signature.failed()) return;
  if (frame.info.id == mpi::kMPI_Win_test && frame.arguments->slot(1).read() == 0) return;
  std::pair<uint64_t, int64_t> key{0, kAboveTargets + static_cast<int64_t>(epoch->of)};
  for (size_t i = 0; i < frame.info.params.size(); ++i) {
    const int64_t number = frame.arguments->slot(i).number;
    if (frame.info.params[i].kind == mpi::ParamKind::kWin)
      key.first = static_cast<uint64_t>(number);
    if (frame.info.params[i].kind == mpi::ParamKind::kRank) key.second = number;
  }
  if (epoch->opens) {
    std::unique_lock lock(state_.mutex, std::adopt_lock);
    state_.changed.wait(lock, [&] { return state_.failure || state_.open_epochs.count(key) == 0; });
    lock.release();
    state_.open_epochs.insert(key);
  } else {
    state_.open_epochs.erase(key);
    state_.changed.notify_all();
  }
}

}  // namespace refrain::replay
