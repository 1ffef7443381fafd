#include "stream/block_memory.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace refrain::stream {
namespace {

constexpr size_t kLine = 64, kPage = 4096;
// The C library keeps smaller ones by itself.
constexpr size_t kLeastKept = size_t{64} << 10;

struct Kept {
  size_t bytes;
  char* memory;
};

// Never destroyed: a stream may be closed while the process ends.
struct Store {
  std::mutex mutex;
  std::vector<Kept> blocks;  // the last one is the warmest
  size_t bytes = 0;
};

Store& store() {
  static Store* const it = new Store;
  return *it;
}

char* take_kept(size_t bytes) {
  Store& s = store();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const auto found = std::find_if(s.blocks.rbegin(), s.blocks.rend(),
                                  [&](const Kept& kept) { return kept.bytes == bytes; });
  if (found == s.blocks.rend()) return nullptr;
  char* const memory = found->memory;
  s.blocks.erase(std::next(found).base());
  s.bytes -= bytes;
  return memory;
}

bool keep(char* memory, size_t bytes) {
  if (bytes < kLeastKept) return false;
  Store& s = store();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (bytes > kMostKeptBytes - s.bytes) return false;
  s.blocks.push_back({bytes, memory});
  s.bytes += bytes;
  return true;
}

}  // namespace

char* new_block(size_t bytes) {
  if (bytes >= kLeastKept)
    if (char* const kept = take_kept(bytes); kept != nullptr) return kept;
  const size_t alignment = bytes < kPage ? kLine : kPage;
  return static_cast<char*>(
      std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
}

void free_block(char* memory, size_t bytes) noexcept {
  if (memory != nullptr && !keep(memory, bytes)) std::free(memory);
}

size_t kept_bytes() {
  Store& s = store();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.bytes;
}

}  // namespace refrain::stream
