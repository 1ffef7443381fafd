#include "format/merge/programs.h"

#include <gtest/gtest.h>

namespace refrain::format {
namespace {

using Texts = std::map<std::string, std::string>;

Programs of_rank(uint64_t rank, const std::string& program, const std::string& command,
                 const std::vector<SpawnedJob>& jobs = {}) {
  Texts text = {{"program", program}, {"command", command}, {"timing", "stats"}};
  for (size_t i = 0; i < jobs.size(); ++i)
    text[std::string(kSpawnedPrefix) + std::to_string(i)] = spawned_text(jobs[i]);
  Programs out;
  out.take(rank, text);
  EXPECT_EQ(text.size(), 3u);  // the jobs are gone
  return out;
}

// There and back, as between two ranks.
Programs sent(const Programs& programs, uint64_t world_size) {
  base::ByteWriter bytes;
  programs.write(bytes);
  base::ByteReader in(bytes.view());
  Programs out;
  EXPECT_TRUE(out.read(in, world_size));
  EXPECT_TRUE(in.at_end());
  return out;
}

TEST(Programs, OneIsNotNamedAgain) {
  Programs all = of_rank(0, "/w/a", "./a");
  for (uint64_t rank = 1; rank < 9; ++rank) all.merge(sent(of_rank(rank, "/w/a", "./a"), 9));
  Texts text;
  EXPECT_EQ(all.put(text), 0u);
  EXPECT_TRUE(text.empty());
}

TEST(Programs, SeveralWithTheirRanks) {
  Programs all = of_rank(0, "/w/a", "./a 1");
  for (uint64_t rank = 1; rank < 9; ++rank)
    all.merge(sent(rank % 2 == 0 ? of_rank(rank, "/w/a", "./a 1")
                   : rank < 7    ? of_rank(rank, "/w/b\tc", "./b 'x\ny' \\")
                                 : of_rank(rank, "/w/d", ""),
                   9));
  Texts text;
  all.put(text);
  EXPECT_EQ(text[kProgramsText],
            "0-8:2\t/w/a\t./a 1\n1-5:2\t/w/b\\tc\t./b 'x\\ny' \\\\\n7\t/w/d\t");
  const auto back = parse_programs(text[kProgramsText]);
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back[0].ranks.size(), 5u);
  EXPECT_EQ(back[1].program, "/w/b\tc");
  EXPECT_EQ(back[1].command, "./b 'x\ny' \\");
  EXPECT_EQ(back[1].ranks.at(2), 5);
  EXPECT_EQ(back[2].ranks.at(0), 7);
}

TEST(Programs, SpawnedJobs) {
  Programs all = of_rank(0, "/w/a", "./a", {{"run.spawn1.rfn", 2, "./child \t", 0}});
  all.merge(sent(of_rank(3, "/w/a", "./a", {{"", 4, "./other", 3}}), 4));
  Texts text;
  EXPECT_EQ(all.put(text), 0u);
  const auto jobs = parse_spawned(text[kSpawnedText]);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].trace, "run.spawn1.rfn");
  EXPECT_EQ(jobs[0].processes, 2u);
  EXPECT_EQ(jobs[0].command, "./child \t");
  EXPECT_EQ(jobs[1].trace, "");
  EXPECT_EQ(jobs[1].rank, 3);
}

TEST(Programs, MoreThanThereIsRoomFor) {
  Programs all = of_rank(0, "/w/0", "");
  for (uint64_t rank = 1; rank < 1000; ++rank)
    all.merge(sent(of_rank(rank, "/w/" + std::to_string(rank), "",
                           {{"", 1, "./child", static_cast<int64_t>(rank)}}),
                   1000));
  Texts text;
  EXPECT_EQ(all.put(text), 999u - 256u);
  EXPECT_EQ(parse_programs(text[kProgramsText]).size(), 256u);
  EXPECT_EQ(parse_spawned(text[kSpawnedText]).size(), 256u);
}

TEST(Programs, DamagedTexts) {
  for (const char* line :
       {"", "0", "0\ta", "x\ta\tb", "3-1\ta\tb", "0-3:0\ta\tb", "0-3:2\ta\tb", "1,0\ta\tb",
        "0-\ta\tb", "-1\ta\tb", "0,\ta\tb", "0\ta\tb\tc", "99999999999999999999\ta\tb"})
    EXPECT_TRUE(parse_programs(line).empty()) << line;
  EXPECT_EQ(parse_programs("x\ta\tb\n0-1\ta\tb").size(), 1u);
  for (const char* line : {"", "0", "0\t1\ta", "x\t1\ta\tb", "0\tx\ta\tb", "0\t0\ta\tb"})
    EXPECT_TRUE(parse_spawned(line).empty()) << line;
  const std::string whole = [] {
    base::ByteWriter out;
    of_rank(0, "/w/a", "./a", {{"t", 1, "c", 0}}).write(out);
    return out.take();
  }();
  for (size_t n = 0; n < whole.size(); ++n) {
    base::ByteReader in(std::string_view(whole).substr(0, n));
    Programs out;
    EXPECT_FALSE(out.read(in, 1)) << n;
  }
}

}  // namespace
}  // namespace refrain::format
