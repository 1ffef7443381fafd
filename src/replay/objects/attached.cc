// Dynamic windows: memory is attached at addresses that follow from the recorded ones, so that the
// ranks that access it know them without being told (events/buffers/attached.h).

#include <algorithm>
#include <cstdint>

#include "events/buffers/attached.h"
#include "events/payload.h"
#include "mpi/call_ids.h"
#include "replay/engine.h"

namespace refrain::replay {

// Of MPI_Win_attach: what `value` stood for.
base::Status Engine::attach_memory(Frame& frame, Slot& slot, const Value& value) {
  if (value.kind == ValueKind::kConstant) return base::Done{};  // MPI_BOTTOM, of no bytes
  if (!addresses_)
    addresses_ =
        std::make_unique<std::map<uint64_t, int64_t>>(events::attached_addresses(reader_, thread_));
  const auto known = addresses_->find(frame.staged.seq);
  if (known == addresses_->end())
    return wrong(frame, "the trace does not tell the address of this memory");
  const int64_t bytes =
      std::max<int64_t>(events::argument(frame.signature, "size").integer_or(0), 1);
  const auto begin = static_cast<uintptr_t>(events::replayed_address(known->second));
  const uintptr_t end = begin + static_cast<uint64_t>(bytes);
  if (static_cast<uint64_t>(bytes) > options_.limit_bytes ||
      !state_.pages->map(begin, end, options_.limit_bytes))
    return wrong(frame, "no room for " + std::to_string(bytes) + " bytes at their address");
  slot.address = reinterpret_cast<void*>(begin);  // NOLINT: as above
  state_.attached_blocks.push_back(
      {object_key(mpi::ParamKind::kWin, events::argument(frame.signature, "win")), value.id,
       value.number, value.offset, slot.address});
  return base::Done{};
}

// Of MPI_Win_detach: of several blocks that look alike, the one that was attached first.
base::Status Engine::detach_memory(Frame& frame, Slot& slot, const Value& value) {
  if (value.kind == ValueKind::kConstant) return base::Done{};
  const auto window = object_key(mpi::ParamKind::kWin, events::argument(frame.signature, "win"));
  auto& all = state_.attached_blocks;
  const auto found = std::find_if(all.begin(), all.end(), [&](const RankState::AttachedBlock& one) {
    return one.window == window && one.place == value.id && one.number == value.number &&
           one.offset == value.offset;
  });
  if (found == all.end()) return wrong(frame, "this memory was not attached before");
  slot.address = found->address;
  all.erase(found);
  return base::Done{};
}

// Of an access to a dynamic window: where the target has what the call is about.
void Engine::move_target(Frame& frame) {
  if (state_.dynamic_windows.empty()) return;
  const auto window = object_key(mpi::ParamKind::kWin, events::argument(frame.signature, "win"));
  if (state_.dynamic_windows.count(window) == 0) return;
  for (size_t i = 0; i < frame.info.params.size(); ++i)
    if (frame.info.params[i].name == "target_disp") {
      int64_t& at = frame.arguments->slot(i).number;
      at = events::replayed_address(at);
    }
}

// A window was made or freed.
void Engine::note_window(const Frame& frame, const RankState::ObjectKey& window, bool is_freed) {
  if (!is_freed && frame.info.id == mpi::kMPI_Win_create_dynamic) {
    state_.dynamic_windows.insert(window);
    return;
  }
  state_.dynamic_windows.erase(window);
  auto& all = state_.attached_blocks;
  all.erase(
      std::remove_if(all.begin(), all.end(), [&](const auto& one) { return one.window == window; }),
      all.end());
}

}  // namespace refrain::replay
