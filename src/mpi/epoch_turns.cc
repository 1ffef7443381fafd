#include "mpi/epoch_turns.h"

#include "mpi/call_ids.h"

namespace refrain::mpi {

std::optional<EpochTurn> epoch_turn(CallId call) {
  using Of = EpochTurn::Of;
  switch (call) {
    case kMPI_Win_lock: return EpochTurn{Of::kTarget, true};
    case kMPI_Win_unlock: return EpochTurn{Of::kTarget, false};
    case kMPI_Win_lock_all: return EpochTurn{Of::kAll, true};
    case kMPI_Win_unlock_all: return EpochTurn{Of::kAll, false};
    case kMPI_Win_start: return EpochTurn{Of::kStart, true};
    case kMPI_Win_complete: return EpochTurn{Of::kStart, false};
    case kMPI_Win_post: return EpochTurn{Of::kPost, true};
    case kMPI_Win_wait:
    case kMPI_Win_test: return EpochTurn{Of::kPost, false};
    default: return std::nullopt;
  }
}

}  // namespace refrain::mpi
