#include "tracer/state/gap_log.h"

#include <algorithm>

#include "tracer/state/memory.h"

namespace refrain::tracer {

namespace {

// What is less is in reserve: memory.h.
constexpr size_t kSmall = 64 * 1024;

bool has_room(size_t growth) { return growth <= kSmall || memory_for(growth); }

}  // namespace

bool GapLog::no_memory() {
  const bool was_known = !is_whole_;
  is_whole_ = false;
  return was_known;
}

bool GapLog::count_new(uint32_t terminal, uint64_t ticks) {
  if (terminal >= first_.size()) {
    const size_t room = std::max<size_t>(2 * first_.capacity(), size_t{terminal} + 1);
    if (terminal >= first_.capacity()) {
      if (!has_room(room * sizeof(uint64_t))) return no_memory();
      first_.reserve(room);
    }
    first_.resize(size_t{terminal} + 1, kNotCalled);
  }
  if (first_[terminal] == kNotCalled) {
    first_[terminal] = ticks;
    return true;
  }
  CallMemo* const memo = has_room(others_.next_growth()) ? others_.make(terminal) : nullptr;
  if (memo == nullptr) return no_memory();
  memo->count_one(ticks);
  return true;
}

void GapLog::clear() {
  std::vector<uint64_t>().swap(first_);
  others_.clear([](RequestEntry&) {});
}

}  // namespace refrain::tracer
