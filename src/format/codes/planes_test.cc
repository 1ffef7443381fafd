// Bytes in planes are the bytes that were put there; a trace with them is read back, and refused by
// a reader that does not know them.
#include "format/codes/planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/testing/sections.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

TEST(Planes, HoldTheSameBytes) {
  EXPECT_EQ(in_planes("abcABCxyz"), "aAxbBycCz");
  EXPECT_EQ(in_planes("abcABCxy"), "aAxbBycC");
  std::mt19937 random(7);
  for (size_t length = 0; length < 100; ++length) {
    std::string bytes;
    for (size_t i = 0; i < length; ++i) bytes.push_back(static_cast<char>(random() % 256));
    EXPECT_EQ(out_of_planes(in_planes(bytes)), bytes);
  }
}

// Ranks that send to some others, whatever they like.
TraceData irregular(int64_t most) {
  constexpr uint64_t kRanks = 16;
  std::mt19937 random(3);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random()) % end; };
  std::vector<RankRecord> records;
  for (uint64_t r = 0; r < kRanks; ++r) {
    testing::SyntheticRank rank(r, kRanks);
    for (int i = 0; i < 100; ++i) {
      std::vector<int64_t> counts(static_cast<size_t>(1 + below(40)));
      for (int64_t& count : counts) count = 8 + below(most);
      rank.call(testing::Sig(7, rank.site(0x40)).ints(counts));
    }
    records.push_back(rank.finish());
  }
  return testing::merge_all(records);
}

const SectionEntry* numbers_of(const FileHeader& header) {
  const auto at =
      std::find_if(header.sections.begin(), header.sections.end(),
                   [](const SectionEntry& e) { return e.type == SectionType::kNumbers; });
  return at == header.sections.end() ? nullptr : &*at;
}

TEST(Planes, OfNumbersAreSmallerAndReadBack) {
  // The second ones have some with bytes behind the third, so that what follows has moved.
  for (const int64_t most : {int64_t{200}, (int64_t{1} << 22) + (int64_t{1} << 18)}) {
    const TraceData trace = irregular(most);
    const std::string bytes = *encode(trace);
    const auto header = read_header(bytes, "t");
    ASSERT_TRUE(header.ok());
    const SectionEntry* const numbers = numbers_of(*header);
    ASSERT_NE(numbers, nullptr);
    EXPECT_EQ(numbers->codec, Codec::kZstdPlanes);
    EXPECT_EQ((header->must_understand & kFeaturePlanes) != 0,
              numbers->codec == Codec::kZstdPlanes);
    const auto again = decode(bytes, "t");
    ASSERT_TRUE(again.ok()) << again.error().to_string();
    EXPECT_EQ(*encode(*again), bytes);
    EXPECT_TRUE(check(bytes).empty());
    // As it is in a file that compresses nothing.
    const auto plain = decode(testing::wrap(testing::sections_of(trace), kStateComplete), "t");
    ASSERT_TRUE(plain.ok()) << plain.error().to_string();
    EXPECT_EQ(*encode(*plain), bytes);
  }
}

TEST(Planes, AreNoneWhereTheHeaderHasNoBitForThem) {
  std::string bytes = *encode(irregular(200));
  const auto header = read_header(bytes, "t");
  ASSERT_TRUE(header.ok());
  bytes[10] = static_cast<char>(bytes[10] & ~kFeaturePlanes);
  testing::renew_header_checksum(bytes, header->table_bytes);
  const auto trace = decode(bytes, "t");
  ASSERT_FALSE(trace.ok());
  EXPECT_NE(trace.error().to_string().find("unknown codec"), std::string::npos)
      << trace.error().to_string();
}

}  // namespace
}  // namespace refrain::format
