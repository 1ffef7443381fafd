#include "replay/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

namespace refrain::replay {

void Arena::Free::operator()(std::byte* p) const { std::free(p); }

Arena::Block& Arena::Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  arena_ = std::exchange(other.arena_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  size_class_ = other.size_class_;
  mapped_bytes_ = other.mapped_bytes_;
  return *this;
}

void Arena::Block::give_back() {
  if (data_ != nullptr && mapped_bytes_ > 0)
    munmap(data_, mapped_bytes_);
  else if (data_ != nullptr)
    arena_->free_[size_class_].push_back(data_);
  data_ = nullptr;
}

// Every second byte is 0x3f: a half, float or double with such bytes at its end lies between 2^-16
// and 2.
void Arena::fill(std::byte* data, uint64_t bytes) const {
  uint64_t state = seed_ * 0x9e3779b97f4a7c15u + 1;
  for (uint64_t i = 0; i + sizeof(state) <= bytes; i += sizeof(state)) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const uint64_t word = (state & 0x00ff00ff00ff00ffu) | 0x3f003f003f003f00u;
    std::memcpy(data + i, &word, sizeof(word));
  }
}

Arena::Block Arena::take_sparse(uint64_t bytes) {
  Block block;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return block;
  block.arena_ = this;
  block.data_ = static_cast<std::byte*>(data);
  block.mapped_bytes_ = bytes;
  return block;
}

Arena::Block Arena::take(uint64_t bytes, bool fresh) {
  Block block;
  if (bytes > limit_bytes_) return block;
  const int size_class =
      std::max(0, static_cast<int>(std::bit_width(std::max<uint64_t>(bytes, 1) - 1)) - kSmallest);
  if (size_class >= kClasses) return block;
  const uint64_t room = uint64_t{1} << (size_class + kSmallest);
  auto& free = free_[size_class];
  if (!free.empty()) {
    block.data_ = free.back();
    free.pop_back();
    if (fresh) fill(block.data_, room);
  } else {
    if (room > limit_bytes_ || taken_bytes_ > limit_bytes_ - room) return block;
    auto* const data = static_cast<std::byte*>(std::aligned_alloc(64, room));
    if (data == nullptr) return block;
    owned_.emplace_back(data);
    taken_bytes_ += room;
    fill(data, room);
    block.data_ = data;
  }
  block.arena_ = this;
  block.size_class_ = size_class;
  return block;
}

bool FixedPages::map(uintptr_t begin, uintptr_t end, uint64_t limit_bytes) {
  constexpr uintptr_t kPage = 65536;  // no system has larger ones
  if (begin > end || end > UINTPTR_MAX - kPage) return false;
  begin = begin / kPage * kPage;
  end = (end + kPage - 1) / kPage * kPage;
  while (begin < end) {
    const auto next = mapped_.upper_bound(begin);
    if (next != mapped_.begin() && std::prev(next)->second > begin) {
      begin = std::prev(next)->second;
      continue;
    }
    const uintptr_t to = next == mapped_.end() ? end : std::min(end, next->first);
    if (bytes_ + (to - begin) > limit_bytes) return false;
    void* const wanted = reinterpret_cast<void*>(begin);  // NOLINT: a place of address space
    void* const got =
        mmap(wanted, to - begin, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    if (got != wanted) {  // a system that does not know the last flag
      munmap(got, to - begin);
      return false;
    }
    bytes_ += to - begin;
    mapped_[begin] = to;
    begin = to;
  }
  return true;
}

}  // namespace refrain::replay
