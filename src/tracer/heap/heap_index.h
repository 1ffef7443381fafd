// HeapIndex: which addresses lie in which live block of the heap.
//
//   address: | 17 bits root | 15 bits region | 16 bits in the region |
//
//   root --> node (2 GiB) --> region (64 KiB) --> leaf: two bits for each 16 bytes, "a block
//                                                 begins here" and "a block ends here"
//
// A small block (below 64 KiB) is a begin bit and an end bit: entering one is a single OR of one
// word in most cases, and the block around an address begins where the last bit before it is,
// if that is a begin and not an end. Of a large block, at most one begins in a region: the region
// says where, and each region (or whole node) that it covers says who covers it.
//
// Laws: runs inside of malloc and free: no lock on the path of a block, no allocation (a leaf comes
// straight from the kernel), no system call but for that, errno stays. Any number of threads; the
// calls for one block are ordered by the program itself, as malloc and free are.
// Budget: 5 ns for a block's life in a program with one thread, 15 ns with several.
//
// A block that begins off a multiple of 16, as some allocators have it, counts from the multiple.
// A block that was freed behind our back leaves its bits until its place is used again.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define REFRAIN_SINGLE_THREADED (__libc_single_threaded != 0)
#else
#define REFRAIN_SINGLE_THREADED false
#endif

namespace refrain::tracer {

// A lock that needs no constructor and no memory. Held for a few instructions.
class SpinLock {
 public:
  void lock() {
    while (busy_.test_and_set(std::memory_order_acquire)) pause();
  }
  void unlock() { busy_.clear(std::memory_order_release); }

  class Holder {
   public:
    explicit Holder(SpinLock& lock) : lock_(lock) { lock_.lock(); }
    ~Holder() { lock_.unlock(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

   private:
    SpinLock& lock_;
  };

 private:
  static void pause();
  std::atomic_flag busy_{};
};

class HeapIndex {
 public:
  // All zero is an empty index: a static one works before any constructor has run.
  constexpr HeapIndex() = default;

  enum class Found : uint8_t { kNothing, kBlock, kMarked };

  // A new block. 0 bytes count as one.
  void insert(uintptr_t begin, size_t bytes) {
    const uintptr_t last = begin + (bytes == 0 ? 0 : bytes - 1);
    if ((last >> kAddressBits) != 0 || last < begin) return refuse();
    if (bytes >= kRegionBytes) return insert_large(begin, last | 15);
    Leaf* leaf = leaf_of(begin, true);
    if (leaf == nullptr) return refuse();
    const size_t at = bit_of(begin), end = bit_of(last) + 1;
    if ((begin ^ last) / kWordBytes == 0) {
      std::atomic<uint64_t>& word = leaf->words[at / 64];
      const uint64_t inside = ((bit(end) << 1) - 1) & ~(bit(at) - 1);
      if ((word.load(std::memory_order_relaxed) & inside) != 0) [[unlikely]]
        clear(word, inside);  // of a block that was freed behind our back
      return set(word, bit(at) | bit(end));
    }
    Leaf* behind = (begin ^ last) / kRegionBytes == 0 ? leaf : leaf_of(last, true);
    if (behind == nullptr) return refuse();
    set(leaf->words[at / 64], bit(at));
    set(behind->words[end / 64], bit(end));
  }

  // The block that begins there is gone. kMarked: it had been marked.
  Found remove(uintptr_t begin) {
    Region* region = region_of(begin);
    if (region == nullptr) return Found::kNothing;
    if ((region->large_begin.load(std::memory_order_relaxed) & ~kMark) == begin)
      return remove_large(begin, *region);
    Leaf* leaf = region->leaf.load(std::memory_order_acquire);
    if (leaf == nullptr) return Found::kNothing;
    const size_t at = bit_of(begin);
    std::atomic<uint64_t>& word = leaf->words[at / 64];
    const uint64_t bits = word.load(std::memory_order_relaxed);
    if ((bits & bit(at)) == 0) return Found::kNothing;
    const uint64_t ends = bits & kEnds & ~(bit(at) - 1);
    if (ends != 0) {
      clear(word, bit(at) | (ends & (~ends + 1)));
    } else {
      clear(word, bit(at));
      const End end = end_behind(begin, *leaf, at / 64 + 1);
      if (end.word != nullptr) clear(*end.word, end.bit);
    }
    std::atomic<uint64_t>& marks = leaf->marks[at / 128];
    if ((marks.load(std::memory_order_relaxed) & bit(at / 2)) == 0) return Found::kBlock;
    clear(marks, bit(at / 2));
    return Found::kMarked;
  }

  // Size of the block that begins there, rounded up to a multiple of 16; 0: none begins there.
  size_t bytes_of(uintptr_t begin);
  // Begin of the live block around an address, 0: there is none.
  uintptr_t find(uintptr_t address) const;
  // Marks the block that begins there; see remove().
  void mark(uintptr_t begin);
  // Blocks that are not in the index for want of memory, or that lie outside of 48 bits.
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // Whether any block has ever been entered.
  bool used() const { return used_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kGranuleBits = 4, kRegionBits = 16, kNodeBits = 15, kAddressBits = 48;
  static constexpr size_t kRegionBytes = size_t{1} << kRegionBits;
  static constexpr size_t kRegions = size_t{1} << kNodeBits;
  static constexpr size_t kNodeBytes = kRegionBytes * kRegions;
  static constexpr size_t kNodes = size_t{1} << (kAddressBits - kRegionBits - kNodeBits);
  static constexpr size_t kGranules = kRegionBytes >> kGranuleBits;
  static constexpr size_t kWordBytes = size_t{32} << kGranuleBits;  // what one word stands for
  static constexpr uint64_t kEnds = 0xaaaaaaaaaaaaaaaau;
  static constexpr uintptr_t kMark = 1;  // in Region::large_begin

  struct Leaf {
    std::atomic<uint64_t> words[kGranules * 2 / 64];
    std::atomic<uint64_t> marks[kGranules / 64];
  };
  struct Region {
    std::atomic<Leaf*> leaf;
    std::atomic<uintptr_t> large_begin, large_end;  // of the large block that begins here
  };
  struct Node {
    Region regions[kRegions];
    std::atomic<uintptr_t> owners[kRegions];  // begin of the large block over a region's begin
  };

  static constexpr uint64_t bit(size_t i) { return uint64_t{1} << (i % 64); }
  static constexpr size_t bit_of(uintptr_t a) {
    return (a & (kRegionBytes - 1)) >> kGranuleBits << 1;
  }
  static constexpr size_t node_number(uintptr_t a) { return a >> (kRegionBits + kNodeBits); }
  static constexpr size_t region_number(uintptr_t a) { return (a >> kRegionBits) & (kRegions - 1); }

  // An atomic read-modify-write costs as much as all the rest.
  static void set(std::atomic<uint64_t>& word, uint64_t bits) {
    if (REFRAIN_SINGLE_THREADED)
      word.store(word.load(std::memory_order_relaxed) | bits, std::memory_order_relaxed);
    else
      word.fetch_or(bits, std::memory_order_relaxed);
  }
  static void clear(std::atomic<uint64_t>& word, uint64_t bits) {
    if (REFRAIN_SINGLE_THREADED)
      word.store(word.load(std::memory_order_relaxed) & ~bits, std::memory_order_relaxed);
    else
      word.fetch_and(~bits, std::memory_order_relaxed);
  }

  Region* region_of(uintptr_t address) const {
    if ((address >> kAddressBits) != 0) return nullptr;
    Node* node = nodes_[node_number(address)].load(std::memory_order_acquire);
    return node == nullptr ? nullptr : &node->regions[region_number(address)];
  }
  Leaf* leaf_of(uintptr_t address, bool make) {
    Region* region = region_of(address);
    if (region != nullptr) {
      Leaf* leaf = region->leaf.load(std::memory_order_acquire);
      if (leaf != nullptr || !make) return leaf;
    }
    return make ? make_leaf(address) : nullptr;
  }

  Node* make_node(uintptr_t address);
  Leaf* make_leaf(uintptr_t address);
  void insert_large(uintptr_t begin, uintptr_t last);
  Found remove_large(uintptr_t begin, Region& region);
  // Says for all regions that begin inside of (begin, last] who covers them.
  bool cover(uintptr_t begin, uintptr_t last, uintptr_t owner);
  // An end bit, and the first address behind its block.
  struct End {
    std::atomic<uint64_t>* word = nullptr;
    uint64_t bit = 0;
    uintptr_t behind = 0;
  };
  // The end of the block at `begin`, looked for from `word` on.
  End end_behind(uintptr_t begin, Leaf& leaf, size_t word);
  static uintptr_t last_begin(const Leaf& leaf, uintptr_t region_begin, size_t last_bit,
                              bool* decided);
  uintptr_t large_around(uintptr_t address) const;
  void refuse() { refused_.fetch_add(1, std::memory_order_relaxed); }

  std::atomic<Node*> nodes_[kNodes] = {};
  std::atomic<uintptr_t> node_owners_[kNodes] = {};
  std::atomic<uint64_t> refused_{0};
  std::atomic<bool> used_{false};
  SpinLock lock_;  // making nodes and leaves
  char* slab_ = nullptr;
  size_t slab_left_ = 0;
};

}  // namespace refrain::tracer
