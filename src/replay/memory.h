// The memory that replayed calls read and write: one arena a rank.
//
// Blocks in use never overlap. What is read has contents from a seed; taken as integers or as
// floating point numbers of any width they are finite, and sums of few of them are. One thread at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace refrain::replay {

class Arena {
 public:
  // Memory is taken from the system up to `limit_bytes`; `seed` decides the contents.
  explicit Arena(uint64_t limit_bytes, uint64_t seed) : limit_bytes_(limit_bytes), seed_(seed) {}

  // A block of its own, aligned for everything; back in the arena at its end.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { *this = std::move(other); }
    Block& operator=(Block&& other) noexcept;
    ~Block() { give_back(); }
    std::byte* data() const { return data_; }
    explicit operator bool() const { return data_ != nullptr; }

   private:
    friend class Arena;
    void give_back();
    Arena* arena_ = nullptr;
    std::byte* data_ = nullptr;
    int size_class_ = 0;
    uint64_t mapped_bytes_ = 0;  // of one that is sparse
  };

  // An empty block: more than the limit, or the system has no more. `fresh`: with new contents also
  // where the block was in use before.
  Block take(uint64_t bytes, bool fresh);
  // The same of address space that is hardly touched: pages are there when they are. Its contents
  // are zeroes.
  Block take_sparse(uint64_t bytes);
  // The contents that blocks begin with; a multiple of eight bytes.
  void fill(std::byte* data, uint64_t bytes) const;
  uint64_t taken_bytes() const { return taken_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  static constexpr int kSmallest = 6;  // 64 bytes
  static constexpr int kClasses = 48;

  uint64_t limit_bytes_, seed_, taken_bytes_ = 0;
  std::vector<std::byte*> free_[kClasses];
  std::vector<std::unique_ptr<std::byte, Free>> owned_;
};

// Pages at addresses that the caller chooses. One for a process; they stay until it ends.
class FixedPages {
 public:
  // Memory that can be read and written from `begin` to `end`: what is not there yet is zeroes.
  // False: it would be more than `limit_bytes` in all, or something else is there.
  bool map(uintptr_t begin, uintptr_t end, uint64_t limit_bytes);

 private:
  std::map<uintptr_t, uintptr_t> mapped_;  // begin and end
  uint64_t bytes_ = 0;
};

}  // namespace refrain::replay
