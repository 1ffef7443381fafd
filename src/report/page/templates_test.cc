#include "report/page/templates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace refrain::report {
namespace {

using Json = nlohmann::ordered_json;

int64_t at(const Json& runs, uint64_t i) {
  for (const Json& run : runs) {
    const auto count = run[2].get<uint64_t>();
    if (i < count) return run[0].get<int64_t>() + static_cast<int64_t>(i) * run[1].get<int64_t>();
    i -= count;
  }
  ADD_FAILURE() << "past the end of the runs";
  return 0;
}

// As the page's script puts it together.
std::string text_of(const Json& json, uint64_t rank) {
  const int64_t form = at(json["which"], rank);
  uint64_t before = 0;
  for (uint64_t i = 0; i < rank; ++i) before += at(json["which"], i) == form ? 1 : 0;
  std::string out;
  size_t hole = 0;
  for (const char c : json["texts"][static_cast<size_t>(form)].get<std::string>()) {
    if (c != '\x01') {
      out += c;
      continue;
    }
    out += std::to_string(at(json["holes"][static_cast<size_t>(form)][hole++], before));
  }
  return out;
}

TEST(TextTemplate, NumbersThatFollowTheRankCostNothing) {
  TextTemplate few, many;
  const auto text = [](int rank) { return fmt::format("dest={}, tag=7", rank + 1); };
  for (int rank = 0; rank < 4; ++rank) few.add(text(rank));
  for (int rank = 0; rank < 4096; ++rank) many.add(text(rank));
  EXPECT_EQ(few.cost(), many.cost());
  EXPECT_EQ(text_of(many.to_json(), 4095), "dest=4096, tag=7");
}

TEST(TextTemplate, NumbersThatAllHaveArePartOfTheText) {
  TextTemplate all;
  for (int rank = 0; rank < 3; ++rank) all.add(fmt::format("dest={}, tag=7", 2 * rank));
  all.add("dest=MPI_PROC_NULL, tag=7");
  const Json json = all.to_json();
  EXPECT_EQ(json["texts"], Json({"dest=\x01, tag=7", "dest=MPI_PROC_NULL, tag=7"}));
  EXPECT_EQ(json["holes"], Json::parse("[[[[0, 2, 3]]], []]"));
}

TEST(TextTemplate, AnyTextsComeBack) {
  std::mt19937 random(2);
  const std::string pieces[] = {
      "a", "0", "00", "12", "x=", "-", "999999999999999", "9999999999999999999", "é", ","};
  for (int round = 0; round < 300; ++round) {
    TextTemplate all;
    std::vector<std::string> texts(random() % 12 + 1);
    for (std::string& text : texts) {
      const size_t length = random() % 5;
      for (size_t i = 0; i < length; ++i) text += pieces[random() % std::size(pieces)];
      all.add(text);
    }
    const Json json = all.to_json();
    for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(text_of(json, i), texts[i]);
  }
}

}  // namespace
}  // namespace refrain::report
