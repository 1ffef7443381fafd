#include "mpi/typemap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "mpi/call_table.h"

namespace refrain::mpi {
namespace {

using Pieces = std::vector<TypeMap::Piece>;

Pieces pieces_of(const TypeMap& type, uint64_t count = 1) {
  Pieces out;
  type.for_each_piece(count, [&](const TypeMap::Piece& piece) {
    out.push_back(piece);
    return true;
  });
  return out;
}

TypeMap plain(int64_t bytes) { return *TypeMap::predefined("MPI_BYTE", {bytes, 0, bytes}); }

base::Result<TypeMap> make(std::string_view combiner, std::vector<int64_t> numbers,
                           std::vector<TypeMap> types, TypeMap::Shape shape) {
  return TypeMap::derived({constant_id(combiner), numbers, types, shape});
}

TEST(TypeMap, APredefinedTypeIsOnePiece) {
  EXPECT_EQ(pieces_of(plain(8), 3), (Pieces{{0, 24}}));
  EXPECT_TRUE(pieces_of(TypeMap()).empty());
}

TEST(TypeMap, PairsHaveTheGapsOfC) {
  EXPECT_EQ(pieces_of(*TypeMap::predefined("MPI_SHORT_INT", {6, 0, 8})), (Pieces{{0, 2}, {4, 4}}));
  EXPECT_EQ(pieces_of(*TypeMap::predefined("MPI_DOUBLE_INT", {12, 0, 16}), 2),
            (Pieces{{0, 12}, {16, 12}}));
}

TEST(TypeMap, AVectorIsItsBlocks) {
  const auto type = make("MPI_COMBINER_VECTOR", {3, 2, 5}, {plain(4)}, {24, 0, 48});
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(pieces_of(*type), (Pieces{{0, 8}, {20, 8}, {40, 8}}));
  // The second element begins where the first one's last block ends.
  EXPECT_EQ(pieces_of(*type, 2), (Pieces{{0, 8}, {20, 8}, {40, 16}, {68, 8}, {88, 8}}));
}

TEST(TypeMap, BlocksFollowTheOrderOfTheirLists) {
  const auto type =
      make("MPI_COMBINER_HINDEXED", {3, 1, 2, 0, 16, 0, 100}, {plain(4)}, {12, 0, 20});
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(pieces_of(*type), (Pieces{{16, 4}, {0, 8}}));
}

TEST(TypeMap, AStructureHasTypesOfItsOwn) {
  const auto pair = make("MPI_COMBINER_CONTIGUOUS", {2}, {plain(2)}, {4, 0, 4});
  const auto type = make("MPI_COMBINER_STRUCT", {2, 1, 3, 0, 8}, {plain(4), *pair}, {16, 0, 20});
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(pieces_of(*type), (Pieces{{0, 4}, {8, 12}}));
}

TEST(TypeMap, ASubarrayInBothOrdersAndBothNotations) {
  // Rows 1 and 2, columns 1 to 3 of 4 rows of 5.
  const Pieces expected{{24, 12}, {44, 12}};
  const TypeMap::Shape shape{24, 0, 80};
  for (const int64_t order : {0, 12, 56}) {
    const auto small =
        make("MPI_COMBINER_SUBARRAY", {2, 4, 5, 2, 3, 1, 1, order}, {plain(4)}, shape);
    const auto large =
        make("MPI_COMBINER_SUBARRAY", {2, order, 4, 5, 2, 3, 1, 1}, {plain(4)}, shape);
    ASSERT_TRUE(small.ok() && large.ok()) << order;
    EXPECT_EQ(pieces_of(*small), expected);
    EXPECT_EQ(pieces_of(*large), expected);
  }
  const auto fortran = make("MPI_COMBINER_SUBARRAY", {2, 5, 4, 3, 2, 1, 1, 57}, {plain(4)}, shape);
  ASSERT_TRUE(fortran.ok());
  EXPECT_EQ(pieces_of(*fortran), expected);
}

// All processes of a distributed array together have each element once.
void expect_a_partition(std::vector<int64_t> sizes, std::vector<int64_t> distributions,
                        std::vector<int64_t> arguments, std::vector<int64_t> processes) {
  const auto product = [](const std::vector<int64_t>& of) {
    return std::accumulate(of.begin(), of.end(), int64_t{1}, std::multiplies<>());
  };
  const int64_t all = product(sizes), ranks = product(processes);
  std::vector<int> times(all);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<int64_t> numbers{ranks, rank, static_cast<int64_t>(sizes.size())};
    for (const auto* list : {&sizes, &distributions, &arguments, &processes})
      numbers.insert(numbers.end(), list->begin(), list->end());
    numbers.push_back(56);
    bool is_found = false;
    for (int64_t size = 0; size <= all && !is_found; ++size) {
      const auto type = make("MPI_COMBINER_DARRAY", numbers, {plain(1)}, {size, 0, all});
      if (!type.ok()) continue;
      is_found = true;
      for (const auto& piece : pieces_of(*type))
        for (uint64_t i = 0; i < piece.bytes; ++i) ++times.at(piece.offset + i);
    }
    EXPECT_TRUE(is_found) << "rank " << rank;
  }
  for (const int n : times) EXPECT_EQ(n, 1);
}

TEST(TypeMap, DistributedArraysArePartitions) {
  constexpr int64_t kBlock = 121, kCyclic = 122, kNone = 123, kDefault = -49767;
  expect_a_partition({10}, {kBlock}, {kDefault}, {4});
  expect_a_partition({10}, {kCyclic}, {kDefault}, {4});
  expect_a_partition({11, 7}, {kCyclic, kBlock}, {3, kDefault}, {2, 3});
  expect_a_partition({5, 9, 4}, {kNone, kCyclic, kBlock}, {kDefault, 2, 2}, {1, 3, 2});
}

TEST(TypeMap, CyclicBlocksOfARow) {
  // Blocks of 2 of 7 elements for 2 processes: 0 has 0 1 4 5, 1 has 2 3 6.
  const std::vector<int64_t> numbers{2, 1, 1, 7, 122, 2, 2, 56};
  const auto type = make("MPI_COMBINER_DARRAY", numbers, {plain(1)}, {3, 0, 7});
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(pieces_of(*type), (Pieces{{2, 2}, {6, 1}}));
}

TEST(TypeMap, PackAndUnpackAreOpposites) {
  const auto type = make("MPI_COMBINER_VECTOR", {4, 1, 3}, {plain(2)}, {8, 0, 20});
  ASSERT_TRUE(type.ok());
  const auto span = type->span_of(5);
  ASSERT_TRUE(span.ok());
  std::vector<std::byte> memory(span->bytes), packed(40), again(span->bytes);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i + 1);
  EXPECT_EQ(type->pack(memory.data(), 5, packed), 40u);
  EXPECT_EQ(type->unpack(packed, 5, again.data()), 40u);
  type->for_each_piece(5, [&](const TypeMap::Piece& piece) {
    EXPECT_EQ(std::memcmp(&memory[piece.offset], &again[piece.offset], piece.bytes), 0);
    return true;
  });
  // A message that was cut off fills the beginning.
  EXPECT_EQ(type->unpack(std::span(packed).first(3), 5, again.data()), 3u);
}

TEST(TypeMap, WhatDoesNotFitIsRefused) {
  EXPECT_FALSE(make("MPI_COMBINER_VECTOR", {3, 2}, {plain(4)}, {24, 0, 48}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_VECTOR", {3, -2, 5}, {plain(4)}, {24, 0, 48}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_VECTOR", {3, 2, 5}, {plain(4)}, {25, 0, 48}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_VECTOR", {3, 2, 5}, {}, {24, 0, 48}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_CONTIGUOUS", {INT64_MAX}, {plain(8)}, {8, 0, 8}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_HINDEXED", {INT64_MAX, 1, 1}, {plain(4)}, {8, 0, 8}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_SUBARRAY", {1, 4, 3, 2, 56}, {plain(4)}, {12, 0, 16}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_SUBARRAY", {1, 4, 3, 1, 99}, {plain(4)}, {12, 0, 16}).ok());
  EXPECT_FALSE(make("MPI_COMBINER_NAMED", {}, {}, {4, 0, 4}).ok());
  EXPECT_FALSE(plain(8).span_of(UINT64_MAX).ok());
}

TEST(TypeMap, NestingHasAnEnd) {
  auto type = make("MPI_COMBINER_VECTOR", {2, 1, 2}, {plain(1)}, {2, 0, 3});
  const auto nest = [&](int levels) {
    for (int i = 0; i < levels && type.ok(); ++i)
      type = make("MPI_COMBINER_HINDEXED", {1, 1, 1}, {*type}, {2, 0, 3});
  };
  nest(100);
  ASSERT_TRUE(type.ok());
  EXPECT_EQ(pieces_of(*type), (Pieces{{100, 1}, {102, 1}}));
  nest(1000);
  EXPECT_FALSE(type.ok());
}

}  // namespace
}  // namespace refrain::mpi
