#include "base/launcher_words.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace refrain::base {
namespace {

using Variables = std::map<std::string, const char*>;

const char* rank_in(const Variables& variables) {
  return told_rank([&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second;
  });
}

TEST(LauncherWords, RankIsThatOfTheFirstLauncher) {
  EXPECT_STREQ(rank_in({{"PMI_RANK", "3"}}), "3");
  EXPECT_STREQ(rank_in({{"PMI_RANK", "3"}, {"OMPI_COMM_WORLD_RANK", "2"}}), "2");
  EXPECT_STREQ(rank_in({{"PMI_RANK", "3"}, {"PMIX_RANK", "1"}}), "3");
  EXPECT_STREQ(rank_in({{"PMIX_RANK", "1"}}), "1");
  EXPECT_EQ(rank_in({{"SLURM_PROCID", "0"}}), nullptr);
}

TEST(LauncherWords, TaskCountsWithoutALauncher) {
  const auto task_in = [](const Variables& variables) {
    return told_rank_or_task([&](const char* name) {
      const auto at = variables.find(name);
      return at == variables.end() ? nullptr : at->second;
    });
  };
  EXPECT_STREQ(task_in({{"SLURM_PROCID", "5"}}), "5");
  EXPECT_STREQ(task_in({{"SLURM_PROCID", "5"}, {"PMI_RANK", "3"}}), "3");
  EXPECT_EQ(task_in({}), nullptr);
}

TEST(LauncherWords, SizeIsToldByFewer) {
  const auto none = [](const char*) -> const char* { return nullptr; };
  EXPECT_EQ(told_size(none), nullptr);
  const auto pmi = [](const char* name) { return std::string(name) == "PMI_SIZE" ? "4" : nullptr; };
  EXPECT_STREQ(told_size(pmi), "4");
}

}  // namespace
}  // namespace refrain::base
