#include "sim/calibrate/samples.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace refrain::sim {
namespace {

TEST(Samples, AFileThatIsNoneIsRefusedWithItsLine) {
  const auto refused = [](const char* text, const char* part) {
    const auto out = parse_samples(text, "raw.jsonl");
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().code, base::ErrorCode::kUsage);
    EXPECT_NE(out.error().to_string().find(part), std::string::npos) << out.error().to_string();
  };
  const std::string head = "{\"refrain_samples\":1,\"distance\":\"node\"}\n";
  refused("", "no samples");
  refused("x", "raw.jsonl:1");
  refused("{\"refrain_samples\":2}", "first line");
  refused("{\"refrain_samples\":1,\"distance\":\"moon\"}", "core, node or switch");
  refused((head + "{\"test\":\"x\"}").c_str(), "raw.jsonl:2: no such test");
  refused((head + "{\"test\":\"send\",\"bytes\":-1,\"ns\":[1]}").c_str(), "'bytes'");
  refused((head + "{\"test\":\"send\",\"bytes\":1,\"ns\":[-1]}").c_str(), "'ns'");
  refused((head + "{\"test\":\"send\",\"bytes\":1,\"ns\":[]}").c_str(), "'ns'");
  refused((head + "{\"test\":\"send\",\"bytes\":1,\"ns\":[\"1\"]}").c_str(), "'ns'");
  refused((head + "{\"test\":7,\"bytes\":1,\"ns\":[1]}").c_str(), "raw.jsonl:2");
  refused((head + "{\"test\":\"burst\",\"bytes\":1,\"ns\":[1]}").c_str(), "'count'");
  refused((head + "{\"test\":\"self\",\"bytes\":1,\"count\":0,\"ns\":[1]}").c_str(), "'count'");
  const auto good = parse_samples(head + "{\"test\":\"send\",\"bytes\":1,\"ns\":[1,2]}\n", "x");
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->distance, Distance::kNode);
  EXPECT_EQ(good->cells[0].ns.size(), 2U);
  EXPECT_FALSE(good->cores_taken.is_often());
  // Rounds are put together.
  const auto rounds = parse_samples(head + "{\"test\":\"send\",\"bytes\":1,\"ns\":[1,2]}\n" +
                                        "{\"test\":\"late\",\"bytes\":1,\"ns\":[7]}\n" +
                                        "{\"test\":\"send\",\"bytes\":1,\"ns\":[3]}\n",
                                    "x");
  ASSERT_TRUE(rounds.ok());
  ASSERT_EQ(rounds->cells.size(), 2U);
  EXPECT_EQ(rounds->cells[0].ns, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(rounds->cells[0].lines, (std::vector<size_t>{2, 1}));
}

TEST(Samples, OfSeveralStartsAreOfOneDistanceAndMpi) {
  const auto start = [](const std::string& distance, const std::string& mpi, int bytes) {
    auto out =
        parse_samples("{\"refrain_samples\":1,\"distance\":\"" + distance + "\",\"mpi\":\"" + mpi +
                          "\"}\n{\"test\":\"send\",\"bytes\":" + std::to_string(bytes) +
                          ",\"ns\":[1,2]}\n{\"cores_taken\":[40,2],\"seconds\":2}\n",
                      "x");
    EXPECT_TRUE(out.ok());
    return std::move(*out);
  };
  Samples all = start("core", "a", 1);
  ASSERT_TRUE(join(all, start("core", "a", 1), "y").ok());
  ASSERT_TRUE(join(all, start("core", "a", 8), "z").ok());
  ASSERT_EQ(all.cells.size(), 2U);
  EXPECT_EQ(all.cells[0].other_starts.size(), 1U);
  EXPECT_EQ(all.starts, 3U);
  EXPECT_EQ(all.cores_taken.count, 126U);
  EXPECT_DOUBLE_EQ(all.cores_taken.seconds, 6);
  const auto other = join(all, start("core", "b", 1), "w.jsonl");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.error().to_string().find("w.jsonl"), std::string::npos);
  EXPECT_FALSE(join(all, start("node", "a", 1), "w").ok());
}

TEST(Samples, SayHowOftenOthersGotTheCores) {
  const std::string head =
      "{\"refrain_samples\":1,\"distance\":\"core\"}\n"
      "{\"test\":\"send\",\"bytes\":1,\"ns\":[1,2]}\n";
  const auto often = [&](const std::string& line) {
    const auto out = parse_samples(head + line, "raw.jsonl");
    EXPECT_TRUE(out.ok()) << line;
    return out.ok() && out->cores_taken.is_often();
  };
  EXPECT_FALSE(often("{\"cores_taken\":[40,8],\"seconds\":20.5}"));
  EXPECT_TRUE(often("{\"cores_taken\":[900,800],\"seconds\":20.5}"));
  for (const char* const line :
       {"{\"cores_taken\":[1]}", "{\"cores_taken\":7,\"seconds\":1}",
        "{\"cores_taken\":[-1,1],\"seconds\":1}", "{\"cores_taken\":[1,1],\"seconds\":\"1\"}"}) {
    const auto out = parse_samples(head + line, "raw.jsonl");
    ASSERT_FALSE(out.ok()) << line;
    EXPECT_NE(out.error().to_string().find("raw.jsonl:3"), std::string::npos);
  }
}

}  // namespace
}  // namespace refrain::sim
