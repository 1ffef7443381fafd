#include "tracer/heap/heap_names.h"

#include <bit>

namespace refrain::tracer {

using format::BufferClass;

// -- ids --

int64_t RawIdPool::take() {
  size_t word = lowest_;
  while (word < words_.size() && words_[word] == ~uint64_t{0}) ++word;
  lowest_ = word;
  if (word == words_.size() && !words_.resize(word + 1)) return -1;
  const int bit = std::countr_one(words_[word]);
  words_[word] |= uint64_t{1} << bit;
  return static_cast<int64_t>(word * 64 + static_cast<size_t>(bit));
}

void RawIdPool::give_back(int64_t id) {
  if (id < 0) return;
  const auto word = static_cast<size_t>(id) / 64;
  words_[word] &= ~(uint64_t{1} << (static_cast<size_t>(id) % 64));
  if (word < lowest_) lowest_ = word;
}

RawIdPool& HeapNames::pool(BufferClass where, int32_t device) {
  if (where == BufferClass::kManaged) return managed_ids_;
  if (where == BufferClass::kPinned) return pinned_ids_;
  if (where != BufferClass::kDevice) return heap_ids_;
  return device_ids_[device >= 0 && device < kDevices ? device : kDevices - 1];
}

void HeapNames::changed() {
  std::atomic<uint64_t>* changes = changes_.load(std::memory_order_acquire);
  if (changes != nullptr) changes->fetch_add(1, std::memory_order_relaxed);
}

void HeapNames::watch(std::atomic<uint64_t>* changes) {
  changes_.store(changes, std::memory_order_release);
}

// -- blocks of malloc --

size_t HeapNames::slot_of(uintptr_t begin) const {
  const size_t mask = named_.size() - 1;
  size_t i = ((begin >> 4) * 0x9e3779b97f4a7c15u >> 32) & mask;
  while (named_[i].begin != 0 && named_[i].begin != begin) i = (i + 1) & mask;
  return i;
}

bool HeapNames::grow() {
  const size_t before = named_.size();
  RawArray<Named> old;
  if (!old.resize(before)) return false;
  for (size_t i = 0; i < before; ++i) old[i] = named_[i];
  const bool grown = named_.resize(before == 0 ? 1024 : before * 2);
  if (grown) {
    for (size_t i = 0; i < named_.size(); ++i) named_[i] = Named{};
    for (size_t i = 0; i < before; ++i)
      if (old[i].begin != 0) named_[slot_of(old[i].begin)] = old[i];
  }
  old.free();
  return grown;
}

bool HeapNames::put(uintptr_t begin, int64_t id) {
  if ((named_count_ + 1) * 2 > named_.size() && !grow()) return false;
  Named& slot = named_[slot_of(begin)];
  if (slot.begin == 0) ++named_count_;
  slot = Named{begin, id};
  return true;
}

// Takes the entry out, and moves up those that stand behind it for want of their own place.
int64_t HeapNames::pull(uintptr_t begin) {
  if (named_.size() == 0) return -1;
  size_t hole = slot_of(begin);
  if (named_[hole].begin == 0) return -1;
  const int64_t id = named_[hole].id;
  const size_t mask = named_.size() - 1;
  for (size_t i = (hole + 1) & mask; named_[i].begin != 0; i = (i + 1) & mask) {
    const size_t home = ((named_[i].begin >> 4) * 0x9e3779b97f4a7c15u >> 32) & mask;
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    named_[hole] = named_[i];
    hole = i;
  }
  named_[hole] = Named{};
  --named_count_;
  return id;
}

void HeapNames::drop(uintptr_t begin) {
  const SpinLock::Holder hold(lock_);
  heap_ids_.give_back(pull(begin));
  changed();
}

HeapNames::Taken HeapNames::taken(uintptr_t begin) {
  begin &= kGranule;
  Taken out;
  out.bytes = index_.bytes_of(begin);
  if (index_.remove(begin) != HeapIndex::Found::kMarked) return out;
  const SpinLock::Holder hold(lock_);
  out.id = pull(begin);
  changed();
  return out;
}

void HeapNames::moved(const Taken& taken, uintptr_t begin, size_t bytes) {
  begin &= kGranule;
  index_.insert(begin, bytes);
  if (taken.id < 0) return;
  const SpinLock::Holder hold(lock_);
  if (put(begin, taken.id))
    index_.mark(begin);
  else
    heap_ids_.give_back(taken.id);
}

void HeapNames::ended(const Taken& taken) {
  const SpinLock::Holder hold(lock_);
  heap_ids_.give_back(taken.id);
}

// -- areas --

size_t HeapNames::first_area_behind(uintptr_t address) const {
  size_t low = 0, high = areas_.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (areas_[middle].begin <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void HeapNames::erase_areas(size_t from, size_t to) {
  if (from == to) return;
  for (size_t i = from; i < to; ++i)
    pool(areas_[i].where, areas_[i].device).give_back(areas_[i].id);
  for (size_t i = to; i < areas_.size(); ++i) areas_[from + i - to] = areas_[i];
  areas_.resize(areas_.size() - (to - from));
  changed();
}

void HeapNames::add_area(uintptr_t begin, size_t bytes, BufferClass where, int32_t device) {
  const uintptr_t end = begin + (bytes == 0 ? 1 : bytes);
  if (begin == 0 || end <= begin) return;
  const SpinLock::Holder hold(lock_);
  // What overlaps was freed in a way that nobody told us of.
  size_t from = first_area_behind(begin), to = from;
  if (from > 0 && areas_[from - 1].end > begin) --from;
  while (to < areas_.size() && areas_[to].begin < end) ++to;
  erase_areas(from, to);
  const size_t n = areas_.size();
  if (!areas_.resize(n + 1)) return;
  for (size_t i = n; i > from; --i) areas_[i] = areas_[i - 1];
  areas_[from] = Area{begin, end, -1, device, where};
  area_count_.store(n + 1, std::memory_order_release);
  changed();  // part of a block of malloc may have had a name as such
}

void HeapNames::remove_area(uintptr_t begin) {
  const SpinLock::Holder hold(lock_);
  const size_t i = first_area_behind(begin);
  if (i == 0 || areas_[i - 1].begin != begin) return;
  erase_areas(i - 1, i);
  area_count_.store(areas_.size(), std::memory_order_release);
}

bool HeapNames::name_area(uintptr_t address, BufferName* out) {
  const size_t i = first_area_behind(address);
  if (i == 0 || address >= areas_[i - 1].end) return false;
  Area& area = areas_[i - 1];
  if (area.id < 0) area.id = pool(area.where, area.device).take();
  *out = BufferName{area.where, area.device, area.id,
                    area.id < 0 ? 0 : static_cast<int64_t>(address - area.begin)};
  return true;
}

bool HeapNames::name(uintptr_t address, BufferName* out) {
  if (area_count_.load(std::memory_order_acquire) != 0) {
    const SpinLock::Holder hold(lock_);
    if (name_area(address, out)) return true;
  }
  const uintptr_t begin = index_.find(address);
  if (begin == 0) return false;
  const SpinLock::Holder hold(lock_);
  *out = BufferName{BufferClass::kHeap, 0, -1, 0};
  if (named_.size() != 0) {
    const Named& known = named_[slot_of(begin)];
    if (known.begin == begin) out->id = known.id;
  }
  if (out->id < 0) {
    const int64_t id = heap_ids_.take();
    if (id >= 0 && put(begin, id)) {
      index_.mark(begin);
      out->id = id;
    } else {
      heap_ids_.give_back(id);
    }
  }
  if (out->id >= 0) out->offset = static_cast<int64_t>(address - begin);
  return true;
}

}  // namespace refrain::tracer
