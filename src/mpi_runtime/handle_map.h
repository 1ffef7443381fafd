// HandleMap: maps MPI handle values to the recorder's data, per kind of object.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "format/signatures/signature.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// Handles are ints in one MPI and pointers in another; both fit.
template <class H>
uint64_t handle_key(H h) {
  constexpr size_t kBytes = sizeof(H);  // NOLINT(bugprone-sizeof-expression): of the handle itself
  static_assert(kBytes <= sizeof(uint64_t));
  uint64_t key = 0;
  std::memcpy(&key, &h, kBytes);
  return key;
}

// The handle that such a key stands for.
template <class H>
H handle_of(uint64_t key) {
  constexpr size_t kBytes = sizeof(H);  // NOLINT(bugprone-sizeof-expression): as above
  H h;
  std::memcpy(&h, &key, kBytes);
  return h;
}

// Open addressing with tombstone-free deletion (backward shift). Values are 32-bit indices below
// UINT32_MAX.
//
// Laws: one writer at a time (the owner locks), who may find() as well. After share() others may
// try_find() beside it without a lock: they see by its version whether the table changed meanwhile,
// and arrays of slots that became too small stay until the end.
class HandleMap {
 public:
  static constexpr uint32_t kMissing = UINT32_MAX;

  uint32_t find(format::DefinitionKind kind, uint64_t key) const {
    const Table* const table = table_.load(std::memory_order_acquire);
    return table == nullptr ? kMissing : table->find(kind, key);
  }
  // False: a writer came in between, and nothing is known.
  bool try_find(format::DefinitionKind kind, uint64_t key, uint32_t* value) const {
    const uint64_t version = version_.load(std::memory_order_acquire);
    if ((version & kWriting) != 0) return false;
    *value = find(kind, key);
    // What was read before this was read with `acquire`.
    return version_.load(std::memory_order_relaxed) == version;
  }
  void put(format::DefinitionKind kind, uint64_t key, uint32_t value);
  void erase(format::DefinitionKind kind, uint64_t key);
  // From now on there may be readers beside a writer.
  void share() { shared_ = true; }

 private:
  static constexpr uint64_t kWriting = 1;

  // Words that a reader may see while they change, each as a whole.
  struct Slot {
    std::atomic<uint64_t> key{0};
    std::atomic<uint64_t> kind_and_value{kFree};
  };
  static constexpr uint64_t kFree = kMissing;  // of kind_and_value
  static uint64_t pack(format::DefinitionKind kind, uint32_t value) {
    return uint64_t{static_cast<uint8_t>(kind)} << 32 | value;
  }
  struct Table {
    explicit Table(size_t size) : mask(size - 1), slots(new Slot[size]) {}
    size_t home(format::DefinitionKind kind, uint64_t key) const {
      const uint64_t h =
          (key + static_cast<uint64_t>(kind) * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
      return static_cast<size_t>(h >> 32) & mask;
    }
    // Ends also when a writer moves slots about.
    uint32_t find(format::DefinitionKind kind, uint64_t key) const {
      size_t i = home(kind, key);
      for (size_t n = 0; n <= mask; ++n, i = (i + 1) & mask) {
        const uint64_t v = slots[i].kind_and_value.load(std::memory_order_acquire);
        if (v == kFree) return kMissing;
        if (v >> 32 == static_cast<uint8_t>(kind) &&
            slots[i].key.load(std::memory_order_acquire) == key)
          return static_cast<uint32_t>(v);
      }
      return kMissing;
    }
    bool is(size_t i, format::DefinitionKind kind, uint64_t key) const {
      return at(i) >> 32 == static_cast<uint8_t>(kind) &&
             slots[i].key.load(std::memory_order_relaxed) == key;
    }
    uint64_t at(size_t i) const { return slots[i].kind_and_value.load(std::memory_order_relaxed); }
    void set(size_t i, uint64_t key, uint64_t kind_and_value) const {
      slots[i].key.store(key, std::memory_order_release);
      slots[i].kind_and_value.store(kind_and_value, std::memory_order_release);
    }

    const size_t mask;
    const std::unique_ptr<Slot[]> slots;
  };
  // While it lives, readers know that their look-up does not count.
  class Writing {
   public:
    explicit Writing(HandleMap& map) : version_(map.version_) {
      add_one(std::memory_order_relaxed);
    }
    ~Writing() { add_one(std::memory_order_release); }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;

   private:
    void add_one(std::memory_order order) {
      version_.store(version_.load(std::memory_order_relaxed) + 1, order);
    }
    std::atomic<uint64_t>& version_;
  };
  void grow();
  static void put_in(const Table& table, uint64_t key, uint64_t kind_and_value);

  std::atomic<const Table*> table_{nullptr};
  std::atomic<uint64_t> version_{0};
  std::vector<std::unique_ptr<const Table>> tables_;  // the last one is in use
  size_t used_ = 0;
  bool shared_ = false;
};

}  // namespace refrain::mpi_runtime
