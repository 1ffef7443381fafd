#include "tracer/tables/key_index.h"

#include <utility>

namespace refrain::tracer {

void KeyIndex::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  mask_ = slots_.size() - 1;
  room_ = slots_.size() / 2 - old.size() / 2;
  for (const Slot& s : old)
    if (s.value != kMissing) slots_[place(s.key)] = s;
}

// Moves back every later entry of the cluster that may stand at or before the gap.
void KeyIndex::close_gap(size_t i) {
  for (size_t j = i;;) {
    slots_[i] = Slot{};
    for (;;) {
      j = (j + 1) & mask_;
      if (slots_[j].value == kMissing) return;
      const size_t h = home(slots_[j].key);
      if (((j - h) & mask_) >= ((j - i) & mask_)) break;
    }
    slots_[i] = slots_[j];
    i = j;
  }
}

}  // namespace refrain::tracer
