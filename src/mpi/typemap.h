// TypeMap: where the data of a datatype lie in memory, without any MPI.
//
// Made from what MPI_Type_get_contents says of a derived type (a trace has that of every type), it
// gives the pieces of memory in the order of the type map, which is the order in which MPI packs
// and sends them (MPI 4.1, sections 5.1.1 and 5.2). Extents are not worked out: an MPI may round
// them up for alignment, so they are what the MPI said.
//
// Units: bytes. A TypeMap is cheap to copy and to share between threads: it never changes. What it
// is made from may be hostile: lengths are checked against overflow and against the recorded size,
// and memory follows the number of integers given, not what they say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"

namespace refrain::mpi {

namespace typemap {
struct Node;
}

class TypeMap {
 public:
  // A type's size, lower bound and extent as MPI says them.
  struct Shape {
    int64_t size = 0, lower_bound = 0, extent = 0;
  };
  // A derived type: what made it.
  struct Recipe {
    uint32_t combiner = 0;             // constant_id("MPI_COMBINER_VECTOR"), ...
    std::span<const int64_t> numbers;  // integers, then large counts, then addresses
    std::span<const TypeMap> types;
    Shape shape;
  };
  // Memory that data lie in, relative to the address that a call is given.
  struct Piece {
    int64_t offset = 0;
    uint64_t bytes = 0;
    bool operator==(const Piece&) const = default;
  };

  TypeMap() = default;  // no data
  // `name`: of a predefined type; pairs (MPI_DOUBLE_INT, ...) have a gap where C would put one.
  static base::Result<TypeMap> predefined(std::string_view name, const Shape& shape);
  // Fails where the numbers do not fit the combiner, or do not give the size of the shape.
  static base::Result<TypeMap> derived(const Recipe& recipe);

  int64_t size() const { return shape_.size; }
  int64_t lower_bound() const { return shape_.lower_bound; }
  int64_t extent() const { return shape_.extent; }
  // Whether elements are size() bytes each, without gaps, from the address that a call is given.
  bool is_flat() const;
  // The memory that `count` elements touch lies within; {0, 0} when there is none. Fails beyond
  // 2^62 bytes.
  base::Result<Piece> span_of(uint64_t count) const;

  // Calls visit(Piece) for `count` elements in the order of the type map; neighbours that follow
  // each other are one piece. Stops when it returns false. Time in proportion to the pieces.
  template <typename Visit>
  void for_each_piece(uint64_t count, Visit&& visit) const;

  // Copies up to `packed.size()` bytes between `count` elements at `memory` and packed bytes, and
  // returns how many: a truncated message fills a part only. `memory` is what a call is given;
  // everything within span_of(count) must be there.
  uint64_t pack(const std::byte* memory, uint64_t count, std::span<std::byte> packed) const;
  uint64_t unpack(std::span<const std::byte> packed, uint64_t count, std::byte* memory) const;

 private:
  using NodePtr = std::shared_ptr<const typemap::Node>;
  TypeMap(NodePtr node, const Shape& shape) : node_(std::move(node)), shape_(shape) {}

  // A function without std::function's allocation: for_each_piece() is in inner loops.
  using Sink = bool (*)(void* state, const Piece& piece);
  void walk(uint64_t count, Sink sink, void* state) const;

  NodePtr node_;  // nullptr: no data
  Shape shape_;
};

template <typename Visit>
void TypeMap::for_each_piece(uint64_t count, Visit&& visit) const {
  walk(
      count,
      [](void* state, const Piece& piece) {
        return static_cast<bool>((*static_cast<std::remove_reference_t<Visit>*>(state))(piece));
      },
      &visit);
}

}  // namespace refrain::mpi
