// The functions of refrain/shared_blackboard.h. No exception leaves them.
#include <mpi.h>

#include <cstring>
#include <memory>
#include <new>

#include "blackboard/mpi/rings.h"
#include "blackboard/shared_board.h"
#include "refrain/shared_blackboard.h"

struct refrain_shared_board {
  refrain::blackboard::Rings rings;
  std::unique_ptr<refrain::blackboard::SharedBoard> board;
};

using refrain::EntryRef;
using refrain::blackboard::SharedBoard;

namespace {

template <class Call>
int guarded(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return REFRAIN_BOARD_ENOMEM;
  }
}

// Null: no memory, or no threads.
std::unique_ptr<SharedBoard> board_on(refrain::blackboard::Rings& rings, int workers,
                                      size_t most_bytes) {
  refrain_blackboard* const local = refrain_blackboard_new(workers, 0);
  if (local == nullptr) return nullptr;
  try {
    return std::make_unique<SharedBoard>(rings, local, workers, most_bytes);
  } catch (const std::bad_alloc&) {
    refrain_blackboard_free(local);
    return nullptr;
  }
}

}  // namespace

refrain_shared_board* refrain_shared_board_new(int comm, int workers, size_t most_bytes) {
  std::unique_ptr<refrain_shared_board> made(new (std::nothrow) refrain_shared_board);
  if (made == nullptr) return nullptr;
  const MPI_Comm world = PMPI_Comm_f2c(static_cast<MPI_Fint>(comm));
  bool is_good = made->rings.open(world);
  if (is_good) made->board = board_on(made->rings, workers, most_bytes);
  int mine = made->board != nullptr ? 1 : 0, all = 0;
  is_good = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, world) == MPI_SUCCESS && all != 0;
  if (is_good) return made.release();
  made->rings.close();
  return nullptr;
}

void refrain_shared_board_free(refrain_shared_board* board) {
  if (board == nullptr) return;
  static_cast<void>(refrain_shared_board_wait(board));
  board->board.reset();
  board->rings.close();
  delete board;
}

int refrain_shared_board_add(refrain_shared_board* board, const char* name,
                             const refrain_type* sensitivities, int count,
                             refrain_operation operation, void* context) {
  return guarded([&] { return board->board->add(name, sensitivities, count, operation, context); });
}

int refrain_shared_board_owner(const refrain_shared_board* board, refrain_type type) {
  return board->board->owner(type);
}

int refrain_shared_board_give(refrain_shared_board* board, refrain_type type, int rank) {
  return guarded([&] { return board->board->give(type, rank); });
}

int refrain_shared_board_submit(refrain_shared_board* board, refrain_entry* entry) {
  if (entry == nullptr) return REFRAIN_BOARD_EINVALID;
  return guarded([&] { return board->board->submit(EntryRef(entry)); });
}

int refrain_shared_board_submit_copy(refrain_shared_board* board, refrain_type type,
                                     const void* data, size_t bytes) {
  refrain_entry* const entry = refrain_entry_new(type, bytes);
  if (entry == nullptr) return REFRAIN_BOARD_ENOMEM;
  if (bytes > 0) std::memcpy(refrain_entry_write(entry), data, bytes);
  return refrain_shared_board_submit(board, entry);
}

int refrain_shared_board_progress(refrain_shared_board* board) {
  return guarded([&] { return board->board->progress(); });
}

int refrain_shared_board_wait(refrain_shared_board* board) {
  return guarded([&] { return board->board->wait(); });
}

refrain_blackboard* refrain_shared_board_local(refrain_shared_board* board) {
  return board->board->local();
}
