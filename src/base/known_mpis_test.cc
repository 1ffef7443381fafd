#include "base/known_mpis.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace refrain::base {
namespace {

TEST(KnownMpis, LibrariesAreKnownByTheirNames) {
  EXPECT_EQ(mpi_of_library("libmpich.so.12"), "mpich");
  EXPECT_EQ(mpi_of_library("libmpi.so.12.2.1"), "mpich");
  EXPECT_EQ(mpi_of_library("libmpi.so.40.30.4"), "openmpi");
  EXPECT_EQ(mpi_of_library("libmpi_abi.so.0"), "abi");
  EXPECT_EQ(mpi_of_library("libsimgrid.so.3.32"), "smpi");
  EXPECT_EQ(mpi_of_library("libmpi.so"), "other");
  EXPECT_EQ(mpi_of_library("libmpi.so.7"), "other");
  EXPECT_EQ(mpi_of_library("libm.so.6"), "");
  EXPECT_EQ(mpi_of_library(""), "");
}

TEST(KnownMpis, PartsOfAnMpiAreNotAnMpi) {
  for (const auto library : {"libmpi.so.40", "libmpich.so.12", "libmpi_abi.so.0"})
    EXPECT_TRUE(is_main_library(library)) << library;
  for (const auto library : {"libopen-pal.so.40", "libmpi_mpifh.so.40", "libmpichfort.so.12", ""})
    EXPECT_FALSE(is_main_library(library)) << library;
}

TEST(KnownMpis, EachWordIsThereOnce) {
  auto words = known_mpis();
  std::sort(words.begin(), words.end());
  EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
  for (const auto word : {"mpich", "openmpi", "abi", "smpi"})
    EXPECT_TRUE(std::binary_search(words.begin(), words.end(), std::string_view(word))) << word;
  for (const auto word : launched_mpis())
    EXPECT_TRUE(std::binary_search(words.begin(), words.end(), word)) << word;
}

}  // namespace
}  // namespace refrain::base
