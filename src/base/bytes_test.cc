#include "base/bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace refrain::base {
namespace {

const std::vector<uint64_t> kEdges = {
    0,          1,         127,        128,        16383,
    16384,      1u << 21,  UINT32_MAX, 1ull << 32, (1ull << 63) - 1,
    1ull << 63, UINT64_MAX};

TEST(Bytes, VarintRoundTrip) {
  for (const uint64_t v : kEdges) {
    ByteWriter out;
    out.put_varint(v);
    ByteReader in(out.view());
    EXPECT_EQ(in.varint(), v);
    EXPECT_TRUE(in.ok() && in.at_end());
    EXPECT_LE(out.size(), 10u);
  }
}

TEST(Bytes, ZigzagRoundTrip) {
  for (const uint64_t u : kEdges) {
    for (const int64_t v : {static_cast<int64_t>(u), static_cast<int64_t>(~u)}) {
      EXPECT_EQ(unzigzag(zigzag(v)), v);
      ByteWriter out;
      out.put_zigzag(v);
      ByteReader in(out.view());
      EXPECT_EQ(in.zigzag(), v);
    }
  }
  EXPECT_EQ(zigzag(0), 0u);
  EXPECT_EQ(zigzag(-1), 1u);
  EXPECT_EQ(zigzag(1), 2u);
}

TEST(Bytes, FixedWidthsAreLittleEndian) {
  ByteWriter out;
  out.put_u8(1);
  out.put_u16(0x0302);
  out.put_u32(0x07060504);
  out.put_u64(0x0f0e0d0c0b0a0908);
  ASSERT_EQ(out.size(), 15u);
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(out.view()[i], static_cast<char>(i + 1));
  ByteReader in(out.view());
  EXPECT_EQ(in.u8(), 1u);
  EXPECT_EQ(in.u16(), 0x0302u);
  EXPECT_EQ(in.u32(), 0x07060504u);
  EXPECT_EQ(in.u64(), 0x0f0e0d0c0b0a0908u);
  EXPECT_TRUE(in.ok() && in.at_end());
}

TEST(Bytes, Strings) {
  ByteWriter out;
  out.put_string("");
  out.put_string(std::string_view("a\0b", 3));
  ByteReader in(out.view());
  EXPECT_EQ(in.string(), "");
  EXPECT_EQ(in.string(), std::string_view("a\0b", 3));
  EXPECT_TRUE(in.ok());
  ByteReader limited(out.view());
  limited.string();
  EXPECT_EQ(limited.string(2), "");
  EXPECT_FALSE(limited.ok());
}

TEST(Bytes, TheFirstFailureStays) {
  ByteReader in(std::string_view("\x05\x01", 2));
  EXPECT_EQ(in.u32(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
  EXPECT_EQ(in.u8(), 0u);
  EXPECT_EQ(in.varint(), 0u);
  EXPECT_EQ(in.string(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Bytes, BadVarints) {
  for (const std::string_view bad :
       {std::string_view(), std::string_view("\x80", 1),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11)}) {
    ByteReader in(bad);
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_FALSE(in.ok());
  }
}

TEST(Bytes, CountsAreBoundedByWhatIsThere) {
  ByteReader few(
      std::string_view("\x03"
                       "abc",
                       4));
  EXPECT_EQ(few.count(10), 3u);
  EXPECT_TRUE(few.ok());
  ByteReader many(
      std::string_view("\x04"
                       "abc",
                       4));
  EXPECT_EQ(many.count(10), 0u);
  EXPECT_FALSE(many.ok());
  ByteReader limited(
      std::string_view("\x03"
                       "abc",
                       4));
  EXPECT_EQ(limited.count(2), 0u);
  EXPECT_FALSE(limited.ok());
}

TEST(Bytes, RandomBytesNeverReadPastTheEnd) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 20, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string copy(bytes);  // its own heap block: a sanitizer sees an overrun
    ByteReader in(copy);
    while (in.ok() && !in.at_end()) {
      switch (random() % 5) {
        case 0: in.varint(); break;
        case 1: in.string(); break;
        case 2: in.u16(); break;
        case 3: in.count(8); break;
        default: in.bytes(random() % 5); break;
      }
      ASSERT_LE(in.position(), copy.size());
    }
  }
}

}  // namespace
}  // namespace refrain::base
