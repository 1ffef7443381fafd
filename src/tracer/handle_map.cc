#include "tracer/handle_map.h"

namespace refrain::tracer {

void HandleMap::put(format::DefinitionKind kind, uint64_t key, uint32_t value) {
  if ((used_ + 1) * 2 > slots_.size()) {
    std::vector<Slot> old = std::move(slots_);
    slots_.assign(old.empty() ? 64 : old.size() * 2, Slot{});
    used_ = 0;
    for (const Slot& s : old)
      if (s.value != kMissing) put(s.kind, s.key, s.value);
  }
  size_t i = home(kind, key);
  while (slots_[i].value != kMissing && !(slots_[i].key == key && slots_[i].kind == kind))
    i = (i + 1) & (slots_.size() - 1);
  if (slots_[i].value == kMissing) ++used_;
  slots_[i] = Slot{key, value, kind};
}

void HandleMap::erase(format::DefinitionKind kind, uint64_t key) {
  if (slots_.empty()) return;
  const size_t mask = slots_.size() - 1;
  size_t i = home(kind, key);
  while (!(slots_[i].key == key && slots_[i].kind == kind)) {
    if (slots_[i].value == kMissing) return;
    i = (i + 1) & mask;
  }
  if (slots_[i].value == kMissing) return;
  --used_;
  // Close the gap: move back every later entry of the cluster that may stand at or before it.
  for (size_t j = i;;) {
    slots_[i] = Slot{};
    for (;;) {
      j = (j + 1) & mask;
      if (slots_[j].value == kMissing) return;
      const size_t h = home(slots_[j].kind, slots_[j].key);
      if (((j - h) & mask) >= ((j - i) & mask)) break;
    }
    slots_[i] = slots_[j];
    i = j;
  }
}

uint32_t IdPool::next() {
  while (lowest_ < used_.size() && used_[lowest_]) ++lowest_;
  return lowest_;
}

uint32_t IdPool::take() {
  next();
  if (lowest_ == used_.size()) used_.push_back(false);
  used_[lowest_] = true;
  return lowest_;
}

bool IdPool::any() const {
  for (const bool used : used_)
    if (used) return true;
  return false;
}

void IdPool::give_back(uint32_t id) {
  if (id >= used_.size()) return;
  used_[id] = false;
  if (id < lowest_) lowest_ = id;
}

}  // namespace refrain::tracer
