// Fill: memory that an operation fills, as it was described when the operation began. The program
// may free its datatypes and arrays while it is under way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "mpi/typemap.h"

namespace refrain::tracer {

struct FillBlock {
  const std::byte* memory = nullptr;  // what MPI was given
  uint64_t count = 0;                 // elements
  mpi::TypeMap type;
  uint64_t bytes() const {
    uint64_t n = 0;
    const bool is_absurd = __builtin_mul_overflow(count, static_cast<uint64_t>(type.size()), &n);
    return is_absurd ? 0 : n;
  }
};

// Blocks in their order, which is that of their ranks. Bytes in a row, which most calls fill, need
// no block and no type: such a Fill allocates nothing.
class Fill {
 public:
  Fill() = default;
  Fill(const void* memory, uint64_t bytes)
      : memory_(static_cast<const std::byte*>(memory)), flat_bytes_(bytes) {}
  Fill(const void* memory, uint64_t count, mpi::TypeMap type) {
    add(memory, count, std::move(type));
  }

  void add(const void* memory, uint64_t count, mpi::TypeMap type) {
    if (count == 0) return;
    blocks_.push_back({static_cast<const std::byte*>(memory), count, std::move(type)});
  }
  uint64_t bytes() const {
    uint64_t sum = flat_bytes_;
    for (const FillBlock& b : blocks_) sum += b.bytes();
    return sum;
  }
  // Hands put(std::span<const std::byte>) the bytes from `skip` on, `limit` of them at most.
  template <class Put>
  void pack(uint64_t skip, uint64_t limit, Put&& put) const {
    if (skip < flat_bytes_) {
      const uint64_t n = std::min(flat_bytes_ - skip, limit);
      put(std::span(memory_ + skip, static_cast<size_t>(n)));
    }
    for (const FillBlock& b : blocks_) pack_block(b, skip, limit, put);
  }

  bool known = true;  // false: a layout is not, and what is here is void

 private:
  template <class Put>
  static void pack_block(const FillBlock& b, uint64_t& skip, uint64_t& limit, Put& put) {
    if (limit == 0 || b.count == 0) return;
    if (const uint64_t all = b.bytes(); skip >= all) {
      skip -= all;
      return;
    }
    b.type.for_each_piece(b.count, [&](const mpi::TypeMap::Piece& piece) {
      if (skip >= piece.bytes) {
        skip -= piece.bytes;
        return true;
      }
      const uint64_t n = std::min(piece.bytes - skip, limit);
      put(std::span(b.memory + piece.offset + skip, static_cast<size_t>(n)));
      skip = 0;
      limit -= n;
      return limit > 0;
    });
  }

  const std::byte* memory_ = nullptr;  // where there are no blocks
  uint64_t flat_bytes_ = 0;
  std::vector<FillBlock> blocks_;
};

}  // namespace refrain::tracer
