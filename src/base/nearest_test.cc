#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace refrain::base {
namespace {

const std::vector<std::string> kVerbs = {"record", "recover", "info",   "dump",
                                         "check",  "profile", "report", "reduce"};

TEST(Nearest, SlipsOfAFinger) {
  EXPECT_EQ(nearest("proflie", kVerbs), "profile");  // swapped
  EXPECT_EQ(nearest("profil", kVerbs), "profile");   // left out
  EXPECT_EQ(nearest("dumpp", kVerbs), "dump");       // added
  EXPECT_EQ(nearest("chekc", kVerbs), "check");
  EXPECT_EQ(nearest("INFO", kVerbs), "info");
  EXPECT_EQ(nearest("reprot", kVerbs), "report");
}

TEST(Nearest, TheBeginningOfOneWordOnly) {
  EXPECT_EQ(nearest("pro", kVerbs), "profile");
  EXPECT_EQ(nearest("reco", kVerbs), "");  // record and recover
}

TEST(Nearest, NothingIsNear) {
  EXPECT_EQ(nearest("sing", kVerbs), "");
  EXPECT_EQ(nearest("", kVerbs), "");
  EXPECT_EQ(nearest(std::string(100000, 'r'), kVerbs), "");
  EXPECT_EQ(nearest("info", {}), "");
  EXPECT_EQ(nearest("3", {"1", "2"}), "");
}

TEST(Nearest, AsWords) {
  EXPECT_EQ(did_you_mean("inof", kVerbs), "; did you mean 'info'?");
  EXPECT_EQ(did_you_mean("sing", kVerbs), "");
}

}  // namespace
}  // namespace refrain::base
