#include "replay/scratch.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "replay/plan/needs.h"
#include "replay/plan/tags.h"
#include "replay/plan/test_calls.h"

namespace refrain::replay {
namespace {

namespace fs = std::filesystem;

class Scratch : public testing::Test {
 protected:
  Scratch() {
    static int number = 0;
    folder_ = fs::temp_directory_path() /
              ("refrain-scratch-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    fs::create_directory(folder_);
  }
  ~Scratch() override { fs::remove_all(folder_); }
  std::string folder_;
};

// A program that reads 1000 bytes at 5000 of one file, writes another that it makes, and asks for
// the size of a third.
Trace file_trace(const std::string& first, const std::string& made, const std::string& third) {
  plan::TestCalls calls(2);
  std::vector<uint32_t> files;
  for (int64_t n = 0; n < 3; ++n) {
    base::ByteWriter id;
    id.put_zigzag(n);
    files.push_back(
        calls.builder().define(format::DefinitionKind::kFile, id.take(), {calls.world()}));
  }
  const auto open = [&](Rank rank, const std::string& path, const char* mode, uint32_t file) {
    reader::ShapeWriter s("MPI_File_open");
    s.none().object(calls.world()).string(format::FieldTag::kString, path).constant(mode);
    s.none().object(file);
    calls.add(rank, s);
  };
  const auto move = [&](Rank rank, const char* name, int64_t offset, uint32_t file) {
    reader::ShapeWriter s(name);
    s.none().object(file).integer(offset).none().integer(1000).object(calls.type()).none();
    calls.add(rank, s);
  };
  for (Rank rank = 0; rank < 2; ++rank) {
    open(rank, first, "MPI_MODE_RDONLY", files[0]);
    open(rank, made, "MPI_MODE_CREATE", files[1]);
    open(rank, third, "MPI_MODE_RDWR", files[2]);
    move(rank, "MPI_File_read_at", rank == 0 ? 100 : 5000, files[0]);
    move(rank, "MPI_File_write_at", 9000, files[1]);
    move(rank, "MPI_File_read_at", 9000, files[1]);
    move(rank, "MPI_File_read_at", 0, files[2]);
    reader::ShapeWriter size("MPI_File_get_size");
    calls.add(rank, size.none().object(files[2]).integer(123));
  }
  return calls.open();
}

TEST_F(Scratch, FilesAreAsLongAsReadsReach) {
  const std::vector<plan::FileNeed> needs = plan::file_needs(file_trace("a", "b", "c"));
  ASSERT_EQ(needs.size(), 3U);
  EXPECT_EQ(needs[0].path, "a");
  EXPECT_EQ(needs[0].bytes, 6000U);
  EXPECT_EQ(needs[1].bytes, 0U);    // the program makes it
  EXPECT_EQ(needs[2].bytes, 123U);  // it said so
}

// Both ranks make a file and ask for its size, at once or behind what may come after a write.
Trace asking_trace(bool is_together, bool is_later) {
  plan::TestCalls calls(2);
  base::ByteWriter id;
  id.put_zigzag(0);
  const uint32_t file =
      calls.builder().define(format::DefinitionKind::kFile, id.take(), {calls.world()});
  const uint32_t self = calls.builder().comm(1, {0});
  for (Rank rank = 0; rank < 2; ++rank) {
    reader::ShapeWriter open("MPI_File_open"), barrier("MPI_Barrier"), size("MPI_File_get_size");
    open.none().object(is_together ? calls.world() : self);
    open.string(format::FieldTag::kString, "made").constant("MPI_MODE_CREATE");
    calls.add(rank, open.none().object(file));
    if (is_later) calls.add(rank, barrier.none().object(calls.world()));
    calls.add(rank, size.none().object(file).integer(500));
  }
  return calls.open();
}

TEST_F(Scratch, AFileOfAnEarlierRunIsFoundByTheProgramThatMakesIt) {
  const auto bytes_of = [](bool is_together, bool is_later) {
    const std::vector<plan::FileNeed> needs = plan::file_needs(asking_trace(is_together, is_later));
    return needs.size() == 1 ? needs[0].bytes : UINT64_MAX;
  };
  EXPECT_EQ(bytes_of(true, false), 500U);
  EXPECT_EQ(bytes_of(true, true), 0U);
  EXPECT_EQ(bytes_of(false, false), 0U);  // the other one may have written
}

TEST_F(Scratch, ARecordedPathIsNoPath) {
  for (const std::string& path :
       {std::string("/etc/passwd"), std::string("../../up"), std::string("a/b"),
        std::string(5000, 'x'), std::string("\n\0", 2), std::string("ufs:/tmp/x"),
        std::string("")}) {
    const std::string made = scratch_path(folder_, path);
    EXPECT_EQ(fs::path(made).parent_path(), folder_);
    EXPECT_EQ(made.size(), folder_.size() + 1 + std::string("refrain-replay-").size() + 16);
  }
  EXPECT_EQ(scratch_path(folder_, "a"), scratch_path(folder_, "a"));
  EXPECT_NE(scratch_path(folder_, "a"), scratch_path(folder_, "b"));
}

TEST_F(Scratch, FilesAreExtendedAndNeverCut) {
  const std::string path = scratch_path(folder_, "a");
  ASSERT_TRUE(extend_file(path, 1000000).ok());
  EXPECT_EQ(fs::file_size(path), 1000000U);
  ASSERT_TRUE(extend_file(path, 10).ok());
  EXPECT_EQ(fs::file_size(path), 1000000U);
  struct stat found {};
  ASSERT_EQ(stat(path.c_str(), &found), 0);
  EXPECT_LT(found.st_blocks * 512, 100000);  // a hole
  EXPECT_FALSE(extend_file(path, UINT64_MAX).ok());
}

TEST_F(Scratch, NoLinkIsFollowed) {
  const std::string elsewhere = folder_ + "/elsewhere", path = scratch_path(folder_, "a");
  fs::create_symlink(elsewhere, path);
  EXPECT_FALSE(extend_file(path, 10).ok());
  EXPECT_FALSE(fs::exists(elsewhere));
}

TEST_F(Scratch, NothingIsLeft) {
  const Trace trace = file_trace("/etc/passwd", "b", "c");
  std::ofstream(folder_ + "/mine") << "x";
  for (const plan::FileNeed& file : plan::file_needs(trace))
    ASSERT_TRUE(extend_file(scratch_path(folder_, file.path), file.bytes).ok());
  remove_scratch(trace, folder_);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
  EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST_F(Scratch, OneRankSaysWhatFailed) {
  {
    const FailureMark first(folder_);
    const FailureMark second(folder_);
    EXPECT_TRUE(first.is_first());
    EXPECT_FALSE(second.is_first());
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  EXPECT_TRUE(FailureMark("").is_first());
}

TEST_F(Scratch, AFolderMustBeOne) {
  const Trace trace = file_trace("a", "b", "c");
  EXPECT_TRUE(check_words(trace, false, folder_, {}).ok());
  EXPECT_FALSE(check_words(trace, false, folder_ + "/no", {}).ok());
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_FALSE(check_words(trace, false, folder_ + "/file", {}).ok());
  EXPECT_FALSE(check_words(trace, false, "", {}).ok());
  EXPECT_TRUE(check_words(trace, false, "", {mpi::find_call("MPI_File_open")->id}).ok());
  EXPECT_EQ(check_words(trace, true, folder_, {}).error().code, base::ErrorCode::kUnsupported);
}

TEST(TagMap, LongTagsBecomeUnusedOnes) {
  plan::TestCalls calls(2);
  for (const int64_t tag : {int64_t{5}, int64_t{39999}, int64_t{1} << 30, (int64_t{1} << 30) + 1}) {
    calls.message(0, "MPI_Send", 8, 1, tag);
    calls.message(1, "MPI_Recv", 8, 0, tag);
  }
  const plan::TagMap tags(calls.open(), 40000);
  EXPECT_EQ(tags.size(), 2U);
  EXPECT_EQ(tags.of(5), 5);
  EXPECT_EQ(tags.of(39999), 39999);
  EXPECT_EQ(tags.of(1 << 30), 39998);
  EXPECT_EQ(tags.of((1 << 30) + 1), 39997);
  EXPECT_EQ(tags.of(77777), -1);
}

}  // namespace
}  // namespace refrain::replay
