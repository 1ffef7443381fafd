#include "cli/launch/smpi_line.h"

#include <gtest/gtest.h>

namespace refrain::cli {
namespace {

const Words kLine = {"/usr/lib/simgrid/smpimain",
                     "./app",
                     "--cfg=smpi/privatization:1",
                     "--log=a b",
                     "--cfg=smpi/np:4",
                     "platform.xml",
                     "-n",
                     "8"};

Words with(const std::string& setting) {
  Words line = kLine;
  line.insert(line.begin() + 3, setting);
  return line;
}

TEST(SmpiProgram, IsWhatTheUserGave) {
  EXPECT_EQ(smpi_program(kLine), (Words{"./app", "-n", "8"}));
  EXPECT_EQ(smpi_program({"smpimain", "./app"}), Words{"./app"});
  EXPECT_EQ(smpi_program({"smpimain"}), Words{"smpimain"});
  const Words other = {"./smpimain.exe", "./app", "platform.xml"};
  EXPECT_EQ(smpi_program(other), other);
}

TEST(CheckSmpiLine, AcceptsWhatAPreloadSees) {
  for (const char* how : {"mmap", "no", "0"})
    EXPECT_TRUE(check_smpi_line(with(std::string("--cfg=smpi/privatization:") + how)).ok()) << how;
  EXPECT_TRUE(check_smpi_line({"smpimain", "./app", "platform.xml"}).ok());
}

TEST(CheckSmpiLine, RefusesCopiesOfTheProgram) {
  EXPECT_EQ(check_smpi_line(kLine).error().code, base::ErrorCode::kUnsupported);
  EXPECT_FALSE(check_smpi_line(with("--cfg=smpi/privatization:dlopen")).ok());
  EXPECT_FALSE(check_smpi_line(with("--cfg=smpi/privatization:yes")).ok());
}

TEST(SmpiReplay, TakesTheLineOfSmpimainApart) {
  const Words line = {"replay",  "--seed",          "2",           "/usr/lib/simgrid/smpimain",
                      "run.rfn", "--cfg=smpi/np:4", "platform.xml"};
  EXPECT_EQ(replay_words(line),
            (Words{"replay", "--seed", "2", "run.rfn", "--smpi-line=/usr/lib/simgrid/smpimain",
                   "--smpi-line=--cfg=smpi/np:4", "--smpi-line=platform.xml"}));
  const Words plain = {"replay", "run.rfn"};
  EXPECT_EQ(replay_words(plain), plain);
  EXPECT_EQ(smpi_engine_line({"smpimain", "--cfg=smpi/np:4", "platform.xml", "more"}, "engine",
                             {"--trace", "run.rfn"}),
            (Words{"smpimain", "engine", "--cfg=smpi/np:4", "platform.xml", "--trace", "run.rfn"}));
}

}  // namespace
}  // namespace refrain::cli
