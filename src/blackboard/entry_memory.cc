#include "blackboard/entry_memory.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace refrain::blackboard {
namespace {

constexpr size_t kStep = 64;    // from one size to the next
constexpr size_t kSizes = 4;    // what is larger comes from the heap: filling it takes longer
constexpr size_t kPlaces = 64;  // of a magazine
constexpr size_t kMostKept = 4 << 20;  // bytes of a size in magazines that no thread has

// Addresses stand in an array and not in the memory itself: so taking one touches no line of the
// cache that another core wrote.
struct Magazine {
  size_t count = 0;
  std::array<void*, kPlaces> places;

  ~Magazine() {
    while (count > 0) std::free(places[--count]);
  }
};
using MagazinePtr = std::unique_ptr<Magazine>;

struct alignas(64) Depot {
  std::mutex lock;
  std::vector<MagazinePtr> full;
};

// Left to the system at the end: entries may be released behind destructors.
std::array<Depot, kSizes>& depots() {
  static auto* const all = new std::array<Depot, kSizes>;
  return *all;
}

// Takes one that is full for an empty one. False: there is none.
bool fill(size_t size, MagazinePtr& magazine) {
  Depot& depot = depots()[size];
  const std::lock_guard lock(depot.lock);
  if (depot.full.empty()) return false;
  magazine = std::move(depot.full.back());
  depot.full.pop_back();
  return true;
}

// Of a thread, for one size: two, so that one that takes and gives in turn at the end of a magazine
// does not go to the depot each time.
struct Pair {
  MagazinePtr now, other;
};

class Magazines {
 public:
  ~Magazines();

  void* take(size_t size) {
    Pair& pair = pairs_[size];
    if (is_empty(pair.now)) {
      if (!is_empty(pair.other))
        pair.now.swap(pair.other);
      else if (!fill(size, pair.now))
        return nullptr;
    }
    return pair.now->places[--pair.now->count];
  }

  // False: it was not kept.
  bool give(size_t size, void* memory) {
    Pair& pair = pairs_[size];
    if (!has_room(pair.now)) {
      if (has_room(pair.other))
        pair.now.swap(pair.other);
      else if (!replace(size, pair.now))
        return false;
    }
    pair.now->places[pair.now->count++] = memory;
    return true;
  }

 private:
  static bool is_empty(const MagazinePtr& one) { return one == nullptr || one->count == 0; }
  static bool has_room(const MagazinePtr& one) { return one != nullptr && one->count < kPlaces; }

  // Gives a full one away for a new one.
  static bool replace(size_t size, MagazinePtr& magazine) try {
    auto fresh = std::make_unique<Magazine>();
    if (magazine != nullptr) {
      Depot& depot = depots()[size];
      const std::lock_guard lock(depot.lock);
      if (depot.full.size() * kPlaces * (size + 1) * kStep >= kMostKept) return false;
      depot.full.push_back(std::move(magazine));
    }
    magazine = std::move(fresh);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::array<Pair, kSizes> pairs_;
};

// Which entries outlive; null before the first entry of the thread and behind its destructors.
thread_local Magazines* g_magazines = nullptr;
thread_local bool g_has_ended = false;

Magazines::~Magazines() {
  g_magazines = nullptr;
  g_has_ended = true;
}

Magazines* magazines() {
  if (g_magazines == nullptr && !g_has_ended && keeps_memory()) {
    thread_local Magazines of_thread;
    g_magazines = &of_thread;
  }
  return g_magazines;
}

size_t size_of(size_t bytes) { return (bytes - 1) / kStep; }

}  // namespace

bool keeps_memory() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#elif defined(__has_feature)
  return !__has_feature(address_sanitizer);
#else
  return true;
#endif
}

void* take_memory(size_t bytes) {
  const size_t size = size_of(bytes);
  if (size >= kSizes) return std::malloc(bytes);
  Magazines* const own = magazines();
  void* const kept = own == nullptr ? nullptr : own->take(size);
  return kept != nullptr ? kept : std::malloc((size + 1) * kStep);
}

void give_memory(void* memory, size_t bytes) {
  const size_t size = size_of(bytes);
  Magazines* const own = size < kSizes ? magazines() : nullptr;
  if (own == nullptr || !own->give(size, memory)) std::free(memory);
}

}  // namespace refrain::blackboard
