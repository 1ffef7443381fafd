#include "format/vectors/vector_file.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace refrain::format::vectors {
namespace {

Vector vector_of(uint32_t rank, uint64_t units, uint32_t seed) {
  std::mt19937_64 random(seed);
  Vector v;
  v.rank = rank;
  v.runs = 3;
  for (uint64_t i = 0; i < units; ++i) {
    v.least_ns.push_back(random() % 1000000);
    v.median_ns.push_back(v.least_ns.back() + random() % 1000);
    v.spread_ns.push_back(random() % 5000);
  }
  for (uint32_t i = 0; i < v.runs && rank % 2 == 1; ++i)  // of others they are not known
    v.totals_ns.push_back(random() % 1000000000);
  return v;
}

VectorFile file_of() {
  VectorFile file;
  file.run = 0x0123456789abcdef;
  file.ranks = 8;
  put(file, vector_of(5, 70000, 1));  // more than a block
  put(file, vector_of(2, 10, 2));
  put(file, vector_of(3, 0, 3));
  return file;
}

TEST(VectorFile, IsReadAsItWasWritten) {
  const VectorFile file = file_of();
  ASSERT_EQ(file.vectors.size(), 3u);
  EXPECT_EQ(file.vectors[0].rank, 2u);
  const auto read = decode(encode(file), "x.rfv");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(*read, file);
}

TEST(VectorFile, AVectorTakesThePlaceOfTheOneBefore) {
  VectorFile file = file_of();
  const Vector other = vector_of(2, 4, 9);
  put(file, other);
  ASSERT_EQ(file.vectors.size(), 3u);
  EXPECT_EQ(file.vectors[0], other);
}

TEST(VectorFile, EveryCutAndEveryChangedByteIsFound) {
  VectorFile file;
  file.ranks = 4;
  put(file, vector_of(1, 20, 4));
  const std::string bytes = encode(file);
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_FALSE(decode(bytes.substr(0, n), "x.rfv").ok()) << n;
    std::string changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 0x41);
    const auto read = decode(changed, "x.rfv");
    if (read.ok()) {
      EXPECT_NE(*read, file) << n;
      EXPECT_EQ(read->vectors[0].totals_ns, file.vectors[0].totals_ns);
    }
  }
  EXPECT_FALSE(decode(bytes + "x", "x.rfv").ok());
}

TEST(VectorFile, WhatIsNoneIsNotReadToItsEnd) {
  const auto endless = read_file("/dev/zero");
  ASSERT_FALSE(endless.ok());
  EXPECT_EQ(endless.error().place, "/dev/zero");
}

// Files of version 1.0 have none, and readers of that version read files without them.
TEST(VectorFile, WithoutTotalsThereIsNoFeature) {
  VectorFile file;
  file.ranks = 4;
  put(file, vector_of(2, 20, 4));
  const std::string without = encode(file);
  EXPECT_EQ(without[10], 0);
  ASSERT_TRUE(decode(without, "x.rfv").ok());
  EXPECT_TRUE(decode(without, "x.rfv")->vectors[0].totals_ns.empty());
  file.vectors[0].totals_ns = {1, 2, 3};
  const std::string with = encode(file);
  EXPECT_EQ(with[10], 1);
  EXPECT_EQ(with.size(), without.size() + 4 + 4);
  file.vectors[0].totals_ns = {1, 2};  // of three runs
  EXPECT_FALSE(decode(encode(file), "x.rfv").ok());
}

TEST(VectorFile, ACountOfTheFileAllocatesNothing) {
  VectorFile file;
  file.ranks = 4;
  std::string bytes = encode(file);
  bytes[24] = '\xff', bytes[25] = '\xff', bytes[26] = '\xff', bytes[27] = '\x7f';  // vectors
  EXPECT_FALSE(decode(bytes, "x.rfv").ok());
}

}  // namespace
}  // namespace refrain::format::vectors
