// The functions of refrain/blackboard.h that have a board. No exception leaves them.
#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>

#include "blackboard/board.h"

int refrain_blackboard_version() { return REFRAIN_BLACKBOARD_VERSION; }

refrain_blackboard* refrain_blackboard_new(int workers, size_t most_bytes) {
  if (workers < 0) workers = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  try {
    return new refrain_blackboard(workers, most_bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  } catch (const std::system_error&) {
    return nullptr;
  }
}

void refrain_blackboard_free(refrain_blackboard* board) { delete board; }

int refrain_blackboard_wait(refrain_blackboard* board) { return board->wait(); }

int refrain_blackboard_is_idle(const refrain_blackboard* board) { return board->is_idle() ? 1 : 0; }

int refrain_blackboard_submit(refrain_blackboard* board, refrain_entry* entry) {
  if (entry == nullptr) return REFRAIN_BOARD_EINVALID;
  try {
    return board->submit(refrain::EntryRef(entry));
  } catch (const std::bad_alloc&) {
    return REFRAIN_BOARD_ENOMEM;
  }
}

int refrain_blackboard_submit_copy(refrain_blackboard* board, refrain_type type, const void* data,
                                   size_t bytes) {
  refrain_entry* const entry = refrain_entry_new(type, bytes);
  if (entry == nullptr) return REFRAIN_BOARD_ENOMEM;
  if (bytes > 0) std::memcpy(refrain_entry_write(entry), data, bytes);
  return refrain_blackboard_submit(board, entry);
}

refrain_source refrain_source_add(refrain_blackboard* board, const char* name,
                                  const refrain_type* sensitivities, int count,
                                  refrain_operation operation, void* context) {
  return refrain_source_add_owning(board, name, sensitivities, count, operation, context, nullptr);
}

refrain_source refrain_source_add_owning(refrain_blackboard* board, const char* name,
                                         const refrain_type* sensitivities, int count,
                                         refrain_operation operation, void* context,
                                         void (*done)(void* context)) {
  if (name == nullptr || operation == nullptr || count < 1 ||
      count > static_cast<int>(refrain::blackboard::kMostSensitivities))
    return REFRAIN_BOARD_EINVALID;
  try {
    return board->add({name, {sensitivities, sensitivities + count}, operation, context, done});
  } catch (const std::bad_alloc&) {
    return REFRAIN_BOARD_ENOMEM;
  }
}

int refrain_source_remove(refrain_blackboard* board, refrain_source source) {
  try {
    return board->remove(source);
  } catch (const std::bad_alloc&) {
    return REFRAIN_BOARD_ENOMEM;
  }
}

void refrain_blackboard_count(const refrain_blackboard* board, refrain_blackboard_counts* counts) {
  board->count(counts);
}

size_t refrain_blackboard_failures(const refrain_blackboard* board, char* text, size_t capacity) {
  const std::string all = board->failures();
  if (capacity > 0) {
    const size_t copied = std::min(capacity - 1, all.size());
    std::memcpy(text, all.data(), copied);
    text[copied] = '\0';
  }
  return all.size();
}
