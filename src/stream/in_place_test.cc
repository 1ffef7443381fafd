// Blocks of streams that are filled and looked at where they are, in a job in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "refrain/coupling.h"
#include "stream/stream.h"
#include "stream/testing/world.h"

namespace refrain::stream {
namespace {

TEST(Stream, BlocksAreFilledAndLookedAtWhereTheyAre) {
  Pair pair;
  void* out = nullptr;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(pair.writer.acquire(&out, true), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(out) % 64, 0u);
    const std::string text = block_of(0, i);
    std::memcpy(out, text.data(), text.size());
    ASSERT_EQ(pair.writer.commit(out, text.size(), true), static_cast<int64_t>(text.size()));
    EXPECT_EQ(pair.world.messages.back().out, out);  // what is sent is the block itself
    const void* in = nullptr;
    int from = -1;
    EXPECT_EQ(borrow(pair.reader, &in, true, &from), text);
    EXPECT_EQ(from, 0);
    EXPECT_EQ(std::count_if(pair.world.messages.begin(), pair.world.messages.end(),
                            [&](const World::Message& m) { return m.in == in && m.done; }),
              i / 3 + 1);  // and what was received into
    EXPECT_EQ(pair.reader.release(in), 0);
    EXPECT_EQ(pair.reader.release(in), REFRAIN_EINVALID);
  }
  EXPECT_EQ(pair.writer.commit(out, 1, true), REFRAIN_EINVALID);
}

TEST(Stream, BorrowedBlocksAreNotReceivedInto) {
  Pair pair;
  const void* blocks[3];
  for (int i = 0; i < 6; ++i) ASSERT_GT(write(pair.writer, block_of(0, i)), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(borrow(pair.reader, &blocks[i]), block_of(0, i));
  // The reader has no buffer left, and the writer has three that nobody takes.
  EXPECT_EQ(read(pair.reader), "eagain");
  EXPECT_EQ(pair.reader.borrow(&blocks[0], true, nullptr), REFRAIN_EINVALID);
  EXPECT_EQ(pair.reader.error(), "all blocks are borrowed: release one");
  EXPECT_EQ(write(pair.writer, "x"), REFRAIN_EAGAIN);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(std::memcmp(blocks[i], block_of(0, i).data(), 3), 0) << "block " << i;
  // In any order, and the copying way beside it.
  EXPECT_EQ(pair.reader.release(blocks[1]), 0);
  EXPECT_EQ(read(pair.reader), block_of(0, 3));
  EXPECT_EQ(pair.reader.release(blocks[2]), 0);
  EXPECT_EQ(pair.reader.release(blocks[0]), 0);
  EXPECT_EQ(borrow(pair.reader, &blocks[0]), block_of(0, 4));
  EXPECT_EQ(read(pair.reader), block_of(0, 5));
  // Blocks outlive their writer.
  EXPECT_EQ(pair.writer.close(Ending::kClosed), 0);
  EXPECT_EQ(read(pair.reader), "end");
  EXPECT_EQ(std::memcmp(blocks[0], block_of(0, 4).data(), 3), 0);
  EXPECT_EQ(pair.reader.release(blocks[0]), 0);
  EXPECT_EQ(pair.world.open_receives(), 0u);
}

TEST(Stream, ABlockThatWasBorrowedWhenItsWriterDiedStays) {
  Pair pair;
  const void* block = nullptr;
  ASSERT_GT(write(pair.writer, "before"), 0);
  EXPECT_EQ(borrow(pair.reader, &block), "before");
  pair.world.dead.insert(0);
  EXPECT_EQ(read(pair.reader, true), "died");
  EXPECT_EQ(std::memcmp(block, "before", 6), 0);
  EXPECT_EQ(pair.reader.close(Ending::kClosed), 0);  // frees it
}

TEST(Stream, AcquiredBlocksAreTheCallersUntilTheyAreCommitted) {
  Pair pair;
  void* blocks[3];
  for (void*& block : blocks) ASSERT_EQ(pair.writer.acquire(&block, true), 0);
  void* none = nullptr;
  EXPECT_EQ(pair.writer.acquire(&none, false), REFRAIN_EAGAIN);
  EXPECT_EQ(pair.writer.acquire(&none, true), REFRAIN_EINVALID);
  EXPECT_EQ(pair.writer.error(), "all blocks are acquired: commit one");
  EXPECT_EQ(write(pair.writer, "x"), REFRAIN_EAGAIN);
  EXPECT_EQ(write(pair.writer, "x", true), REFRAIN_EINVALID);
  EXPECT_EQ(pair.writer.commit(blocks[0], 65, true), REFRAIN_EINVALID);
  EXPECT_EQ(pair.writer.commit(&none, 1, true), REFRAIN_EINVALID);
  EXPECT_EQ(pair.writer.commit(blocks[0], 0, true), 0);  // unused
  EXPECT_EQ(write(pair.writer, "first"), 5);
  std::memcpy(blocks[2], "second", 6);
  EXPECT_EQ(pair.writer.commit(blocks[2], 6, false), 6);
  EXPECT_EQ(read(pair.reader), "first");
  EXPECT_EQ(read(pair.reader), "second");
  EXPECT_EQ(pair.writer.close(Ending::kClosed), 0);  // blocks[1] was not committed
  EXPECT_EQ(read(pair.reader), "end");
}

TEST(Stream, ACommitWithoutAReaderKeepsTheBlock) {
  World world;
  Rank zero(world, 0), one(world, 1);
  Stream writer(zero, options(Balance::kNone)), reader(one, options(Balance::kNone));
  ASSERT_EQ(writer.open(1, kTag, false, true), 0);
  void* block = nullptr;
  ASSERT_EQ(writer.acquire(&block, false), 0);
  std::memcpy(block, "late", 4);
  EXPECT_EQ(writer.commit(block, 4, false), REFRAIN_EAGAIN);
  ASSERT_EQ(reader.open(0, kTag, true, false), 0);
  EXPECT_EQ(writer.commit(block, 4, false), 4);
  EXPECT_EQ(read(reader), "late");
  ASSERT_EQ(writer.acquire(&block, false), 0);
  world.dead.insert(1);
  world.now_ns += 1'000'000'000;
  void* other = nullptr;
  while (writer.acquire(&other, false) == 0) {
  }
  EXPECT_EQ(writer.commit(block, 4, false), REFRAIN_EDIED);
}

// The note that ends a stream may overtake blocks: none is lost.
TEST(Stream, TheEndMayOvertakeBlocks) {
  Pair pair;
  pair.world.held_tag = kTag + 1;
  ASSERT_GT(write(pair.writer, "a"), 0);
  ASSERT_GT(write(pair.writer, "b"), 0);
  EXPECT_THROW(static_cast<void>(pair.writer.close(Ending::kClosed)), Waits);
  EXPECT_EQ(read(pair.reader), "eagain");
  EXPECT_EQ(read(pair.reader), "eagain");
  pair.world.release_held();
  EXPECT_EQ(read(pair.reader), "a");
  EXPECT_EQ(read(pair.reader), "b");
  EXPECT_EQ(read(pair.reader), "end");
}

}  // namespace
}  // namespace refrain::stream
