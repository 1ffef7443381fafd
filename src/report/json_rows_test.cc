#include "report/json_rows.h"

#include <gtest/gtest.h>

namespace refrain::report {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonRows, GivesEachValueOfAListALine) {
  const Json json = {{"name", "a\"b"},
                     {"empty", Json::array()},
                     {"numbers", {1, 2, 3}},
                     {"object", {{"x", 1}, {"y", {1, 2}}}},
                     {"rows", {{{"rank", 0}, {"of", {1, 2}}}, {{"rank", 1}, {"of", nullptr}}}}};
  const std::string text = json_with_rows(json);
  EXPECT_EQ(text,
            "{\n  \"name\": \"a\\\"b\",\n  \"empty\": [],\n  \"numbers\": [1,2,3],\n"
            "  \"object\": {\"x\":1,\"y\":[1,2]},\n"
            "  \"rows\": [\n    {\"rank\":0,\"of\":[1,2]},\n    {\"rank\":1,\"of\":null}\n  ]\n}");
  EXPECT_EQ(Json::parse(text), json);
  EXPECT_EQ(json_with_rows(Json::object()), "{}");
}

}  // namespace
}  // namespace refrain::report
