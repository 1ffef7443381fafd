#include "cli/launch/find_mpi.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "cli/launch/elf_file.h"

namespace refrain::cli {
namespace {

TEST(MpiOfLibrary, ByNameAndVersion) {
  for (const char* name :
       {"libmpich.so.12", "libmpich.so", "libmpi.so.12", "libmpifort.so.12", "libmpichfort.so.12"})
    EXPECT_EQ(mpi_of_library(name), Mpi::kMpich) << name;
  for (const char* name : {"libmpi.so.40", "libmpi.so.40.30.4", "libopen-pal.so.40",
                           "libopen-rte.so.40", "libmpi_mpifh.so.40"})
    EXPECT_EQ(mpi_of_library(name), Mpi::kOpenMpi) << name;
  for (const char* name : {"libsimgrid.so.3.32", "libsimgrid.so"})
    EXPECT_EQ(mpi_of_library(name), Mpi::kSmpi) << name;
  for (const char* name : {"libmpi_abi.so.0", "libmpi_abi.so.1", "libmpi_abi.so"})
    EXPECT_EQ(mpi_of_library(name), Mpi::kAbi) << name;
  for (const char* name : {"libmpi.so", "libmpi.so.3", "libmpt.so", "libmpi_other.so.2"})
    EXPECT_EQ(mpi_of_library(name), Mpi::kOther) << name;
  for (const char* name : {"libc.so.6", "libm.so.6", "libopenblas.so.0", "libmpir.so.23", ""})
    EXPECT_EQ(mpi_of_library(name), Mpi::kNone) << name;
}

Launcher with(const std::map<std::string, std::string>& variables) {
  return find_launcher([&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
}

TEST(FindLauncher, ByItsVariables) {
  EXPECT_EQ(with({}).mpi, Mpi::kNone);
  EXPECT_EQ(with({}).rank, 0);
  const Launcher mpich = with({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
  EXPECT_EQ(mpich.mpi, Mpi::kMpich);
  EXPECT_EQ(mpich.rank, 3);
  const Launcher openmpi = with({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}});
  EXPECT_EQ(openmpi.mpi, Mpi::kOpenMpi);
  EXPECT_EQ(openmpi.rank, 1);
  // One launcher inside the other, or a variable that only says a rank: not told.
  EXPECT_EQ(with({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMI_RANK", "1"}}).mpi, Mpi::kNone);
  EXPECT_EQ(with({{"PMIX_RANK", "5"}}).mpi, Mpi::kNone);
  EXPECT_EQ(with({{"PMIX_RANK", "5"}}).rank, 5);
}

TEST(FindLauncher, OfOneMpiOnly) {
  EXPECT_EQ(with({{"OMPI_COMM_WORLD_SIZE", "4"}}).only_for_mpi, 4);
  EXPECT_EQ(with({{"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}}).only_for_mpi, 4);
  // Slurm's, PMIx, one launcher inside of the other.
  EXPECT_EQ(with({{"PMI_SIZE", "4"}, {"PMI_RANK", "0"}}).only_for_mpi, 0);
  EXPECT_EQ(
      with({{"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}, {"SLURM_STEP_ID", "0"}}).only_for_mpi, 0);
  EXPECT_EQ(
      with({{"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}, {"PMIX_NAMESPACE", "job"}}).only_for_mpi,
      0);
  EXPECT_EQ(with({{"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}})
                .only_for_mpi,
            0);
}

TEST(WrongLauncher, OfTheOtherMpi) {
  ProgramMpi mpich, openmpi, either;
  mpich.mpi = Mpi::kMpich;
  mpich.library = "libmpich.so.12";
  openmpi.mpi = Mpi::kOpenMpi;
  openmpi.library = "libmpi.so.40";
  either.mpi = Mpi::kAbi;
  const Launcher hydra = with({{"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "4"}});
  const Launcher orte = with({{"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_EQ(
      wrong_launcher(mpich, orte, "/no/folder"),
      "built for MPICH (libmpich.so.12), started by Open MPI's mpirun, under which each of the "
      "4 processes is a job of its own; use MPICH's mpiexec (or say --mpi mpich if that is "
      "meant)");
  EXPECT_EQ(
      wrong_launcher(openmpi, hydra, "/no/folder"),
      "built for Open MPI (libmpi.so.40), started by MPICH's mpiexec, under which each of the 4 "
      "processes is a job of its own; use Open MPI's mpirun (or say --mpi openmpi if that is "
      "meant)");
  EXPECT_EQ(wrong_launcher(mpich, hydra, ""), "");
  EXPECT_EQ(wrong_launcher(openmpi, orte, ""), "");
  EXPECT_EQ(wrong_launcher(either, orte, ""), "");
  EXPECT_EQ(wrong_launcher(mpich, with({}), ""), "");
  // One process is the same job under any launcher; PMIx is spoken by both.
  EXPECT_EQ(wrong_launcher(mpich, with({{"OMPI_COMM_WORLD_SIZE", "1"}}), ""), "");
  mpich.speaks_pmix = true;
  EXPECT_EQ(wrong_launcher(mpich, orte, ""), "");
}

class FindMpi : public testing::Test {
 protected:
  std::string script(const std::string& text) {
    paths_.push_back(testing::TempDir() + "script" + std::to_string(getpid()) + "." +
                     std::to_string(paths_.size()));
    std::ofstream(paths_.back()) << text;
    std::filesystem::permissions(paths_.back(), std::filesystem::perms::owner_all);
    return paths_.back();
  }
  // An emulator runs this test beside programs of the machine below it.
  static bool is_of_this_machine(const std::string& path) {
    const auto file = read_elf(path);
    return !file.ok() || file->is_native;
  }
  ~FindMpi() override {
    for (const std::string& path : paths_) std::filesystem::remove(path);
  }
  std::vector<std::string> paths_;
  LibrarySearch search_{""};
};

TEST_F(FindMpi, AProgramWithoutMpi) {
  if (!is_of_this_machine("/bin/true")) GTEST_SKIP() << "run by an emulator";
  const auto found = find_mpi("/bin/true", search_);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->mpi, Mpi::kNone);
  EXPECT_FALSE(found->may_load_later);
}

TEST_F(FindMpi, ScriptsAndShellsMayLoadItLater) {
  if (!is_of_this_machine("/bin/sh")) GTEST_SKIP() << "run by an emulator";
  EXPECT_TRUE(find_mpi("/bin/bash", search_)->may_load_later);
  const auto found = find_mpi(script("#! /bin/sh -e\necho\n"), search_);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->may_load_later);
  const std::string inner = script("#!/bin/sh\n");
  EXPECT_TRUE(find_mpi(script("#!" + inner + "\n"), search_).ok());
}

TEST_F(FindMpi, SaysWhatIsWrong) {
  EXPECT_EQ(find_mpi(script("#!/no/such/interpreter\n"), search_).error().code,
            base::ErrorCode::kUsage);
  EXPECT_EQ(find_mpi(script("no program\n"), search_).error().code, base::ErrorCode::kUsage);
  const std::string loop = script("#!");
  std::ofstream(loop) << "#!" << loop << "\n";
  EXPECT_FALSE(find_mpi(loop, search_).ok()) << "its own interpreter";
}

}  // namespace
}  // namespace refrain::cli
