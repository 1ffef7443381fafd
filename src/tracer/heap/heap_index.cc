#include "tracer/heap/heap_index.h"

#include <sched.h>

#include "tracer/heap/raw_memory.h"

namespace refrain::tracer {

void SpinLock::pause() { sched_yield(); }

HeapIndex::Node* HeapIndex::make_node(uintptr_t address) {
  std::atomic<Node*>& place = nodes_[node_number(address)];
  Node* node = place.load(std::memory_order_acquire);
  if (node != nullptr) return node;
  const SpinLock::Holder hold(lock_);
  node = place.load(std::memory_order_acquire);
  if (node != nullptr) return node;
  node = static_cast<Node*>(raw_pages(sizeof(Node)));
  if (node == nullptr) return nullptr;
  used_.store(true, std::memory_order_relaxed);
  place.store(node, std::memory_order_release);
  return node;
}

HeapIndex::Leaf* HeapIndex::make_leaf(uintptr_t address) {
  constexpr size_t kSlab = 64 * sizeof(Leaf);
  Node* node = make_node(address);
  if (node == nullptr) return nullptr;
  std::atomic<Leaf*>& place = node->regions[region_number(address)].leaf;
  const SpinLock::Holder hold(lock_);
  Leaf* leaf = place.load(std::memory_order_acquire);
  if (leaf != nullptr) return leaf;
  if (slab_left_ < sizeof(Leaf)) {
    slab_ = static_cast<char*>(raw_pages(kSlab));
    slab_left_ = slab_ == nullptr ? 0 : kSlab;
    if (slab_ == nullptr) return nullptr;
  }
  leaf = reinterpret_cast<Leaf*>(slab_);  // zeroed pages are an empty leaf
  slab_ += sizeof(Leaf);
  slab_left_ -= sizeof(Leaf);
  place.store(leaf, std::memory_order_release);
  return leaf;
}

// -- large blocks --

bool HeapIndex::cover(uintptr_t begin, uintptr_t last, uintptr_t owner) {
  uintptr_t at = (begin | (kRegionBytes - 1)) + 1;
  while (at <= last) {
    if ((at & (kNodeBytes - 1)) == 0 && last - at >= kNodeBytes - 1) {
      node_owners_[node_number(at)].store(owner, std::memory_order_relaxed);
      at += kNodeBytes;
      continue;
    }
    Node* node = make_node(at);
    if (node == nullptr) return false;
    node->owners[region_number(at)].store(owner, std::memory_order_relaxed);
    at += kRegionBytes;
  }
  return true;
}

void HeapIndex::insert_large(uintptr_t begin, uintptr_t last) {
  if (make_node(begin) == nullptr) return refuse();
  Region& region = *region_of(begin);
  if (!cover(begin, last, begin)) {
    cover(begin, last, 0);
    return refuse();
  }
  region.large_end.store(last + 1, std::memory_order_relaxed);
  region.large_begin.store(begin, std::memory_order_release);
}

HeapIndex::Found HeapIndex::remove_large(uintptr_t begin, Region& region) {
  const bool marked = (region.large_begin.load(std::memory_order_relaxed) & kMark) != 0;
  const uintptr_t end = region.large_end.load(std::memory_order_relaxed);
  region.large_begin.store(0, std::memory_order_relaxed);
  region.large_end.store(0, std::memory_order_relaxed);
  cover(begin, end - 1, 0);
  return marked ? Found::kMarked : Found::kBlock;
}

uintptr_t HeapIndex::large_around(uintptr_t address) const {
  const Node* node = nodes_[node_number(address)].load(std::memory_order_acquire);
  uintptr_t owner = node_owners_[node_number(address)].load(std::memory_order_relaxed);
  if (owner == 0 && node != nullptr) {
    const size_t r = region_number(address);
    const uintptr_t own = node->regions[r].large_begin.load(std::memory_order_acquire) & ~kMark;
    if (own != 0 && own <= address) return own;  // it is longer than a region
    owner = node->owners[r].load(std::memory_order_relaxed);
  }
  if (owner == 0) return 0;
  const Region* from = region_of(owner);
  const uintptr_t end = from == nullptr ? 0 : from->large_end.load(std::memory_order_relaxed);
  return address < end ? owner : 0;
}

// -- small blocks --

// At most one region further. No end: a begin stands before any, and the next end is not ours.
HeapIndex::End HeapIndex::end_behind(uintptr_t begin, Leaf& leaf, size_t word) {
  constexpr size_t kWords = kGranules * 2 / 64;
  const uintptr_t here = begin & ~(kRegionBytes - 1);
  for (size_t i = word; i < 2 * kWords; ++i) {
    Leaf* at = i < kWords ? &leaf : leaf_of(begin + kRegionBytes, false);
    if (at == nullptr) return {};
    std::atomic<uint64_t>& place = at->words[i % kWords];
    const uint64_t bits = place.load(std::memory_order_relaxed);
    if (bits == 0) continue;
    const uint64_t first = bits & (~bits + 1);
    if ((first & kEnds) == 0) return {};
    const size_t granule = (i * 64 + static_cast<size_t>(std::countr_zero(bits))) / 2;
    return {&place, first, here + ((granule + 1) << kGranuleBits)};
  }
  return {};
}

size_t HeapIndex::bytes_of(uintptr_t begin) {
  Region* region = region_of(begin);
  if (region == nullptr) return 0;
  if ((region->large_begin.load(std::memory_order_relaxed) & ~kMark) == begin)
    return region->large_end.load(std::memory_order_relaxed) - begin;
  Leaf* leaf = region->leaf.load(std::memory_order_acquire);
  if (leaf == nullptr) return 0;
  const size_t at = bit_of(begin);
  const uint64_t bits = leaf->words[at / 64].load(std::memory_order_relaxed);
  if ((bits & bit(at)) == 0) return 0;
  const uint64_t ends = bits & kEnds & ~(bit(at) - 1);
  if (ends != 0) {
    const auto end = static_cast<size_t>(std::countr_zero(ends));
    return ((end - at % 64) / 2 + 1) << kGranuleBits;
  }
  const End end = end_behind(begin, *leaf, at / 64 + 1);
  return end.word == nullptr ? size_t{1} << kGranuleBits : end.behind - begin;
}

// What the last bit up to `last_bit` says. decided: there is one; then 0 for an end, else the
// begin.
uintptr_t HeapIndex::last_begin(const Leaf& leaf, uintptr_t region_begin, size_t last_bit,
                                bool* decided) {
  uint64_t mask = bit(last_bit) | (bit(last_bit) - 1);
  for (size_t i = last_bit / 64;; --i, mask = ~uint64_t{0}) {
    const uint64_t bits = leaf.words[i].load(std::memory_order_relaxed) & mask;
    if (bits != 0) {
      *decided = true;
      const auto top = static_cast<size_t>(63 - std::countl_zero(bits));
      return top % 2 != 0 ? 0 : region_begin + ((i * 64 + top) / 2 << kGranuleBits);
    }
    if (i == 0) break;
  }
  *decided = false;
  return 0;
}

uintptr_t HeapIndex::find(uintptr_t address) const {
  if ((address >> kAddressBits) != 0) return 0;
  if (const uintptr_t large = large_around(address); large != 0) return large;
  const uintptr_t here = address & ~(kRegionBytes - 1);
  const Region* region = region_of(address);
  const Leaf* leaf = region == nullptr ? nullptr : region->leaf.load(std::memory_order_acquire);
  bool decided = false;
  // A block that ends in the address' own 16 bytes still holds it: its end bit stands behind.
  if (leaf != nullptr) {
    const uintptr_t begin = last_begin(*leaf, here, bit_of(address), &decided);
    if (decided) return begin;
  }
  // Begun in the region before and not ended: only a small block, so no further back.
  if (leaf == nullptr || here < kRegionBytes) return 0;
  region = region_of(here - kRegionBytes);
  leaf = region == nullptr ? nullptr : region->leaf.load(std::memory_order_acquire);
  if (leaf == nullptr) return 0;
  return last_begin(*leaf, here - kRegionBytes, kGranules * 2 - 1, &decided);
}

void HeapIndex::mark(uintptr_t begin) {
  Region* region = region_of(begin);
  if (region == nullptr) return;
  uintptr_t large = region->large_begin.load(std::memory_order_relaxed);
  if ((large & ~kMark) == begin)
    return region->large_begin.store(begin | kMark, std::memory_order_relaxed);
  Leaf* leaf = region->leaf.load(std::memory_order_acquire);
  if (leaf != nullptr) set(leaf->marks[bit_of(begin) / 128], bit(bit_of(begin) / 2));
}

}  // namespace refrain::tracer
