#include <gtest/gtest.h>

#include <random>

#include "format/decode/block_recoder.h"
#include "grammar/builder.h"

namespace refrain::format {
namespace {

struct Made {
  std::vector<TimeBlock> blocks;
  std::string bytes;
};

// Calls in blocks, as a recorder makes them.
Made encoded(const std::vector<TimedCall>& calls, const std::vector<uint16_t>& call_of,
             size_t in_block, BlockCoding coding) {
  TimeSpec exact;
  exact.mode = TimeMode::kExact;
  BlockEncoder encoder(exact);
  Made made;
  for (size_t i = 0; i < calls.size(); i += in_block) {
    const std::span<const TimedCall> part(calls.data() + i, std::min(in_block, calls.size() - i));
    for (const TimedCall& c : part) encoder.set_call(c.terminal, call_of[c.terminal]);
    made.blocks.push_back(encoder.encode(part, made.bytes, coding));
  }
  return made;
}

struct Program {
  std::vector<TimedCall> calls;
  grammar::Grammar grammar;
  std::vector<uint16_t> call_of;
};

// A loop with calls that jump about, a clock that goes backwards now and then, and nested calls.
Program program_of(size_t calls) {
  std::mt19937_64 random(7);
  Program p;
  grammar::Builder builder;
  uint64_t now = 1000;
  for (size_t i = 0; i < calls; ++i) {
    const auto terminal = static_cast<uint32_t>(random() % 8 == 0 ? 20 + random() % 5 : i % 7);
    builder.append(terminal);
    now += random() % 3000;
    const uint64_t begin = now - (random() % 64 == 0 ? random() % 900 : 0);
    const uint64_t end = now + random() % 500;
    p.calls.push_back({terminal, begin, random() % 50 == 0 ? end - random() % 400 : end});
    now = end;
  }
  p.grammar = builder.finish();
  for (uint32_t t = 0; t < 25; ++t) p.call_of.push_back(static_cast<uint16_t>(40 + t % 3));
  return p;
}

TEST(BlockRecoder, GivesTheBytesThatWereNotMade) {
  const Program p = program_of(20000);
  for (const size_t in_block : {size_t{1}, size_t{100}, size_t{8192}}) {
    const Made plain = encoded(p.calls, p.call_of, in_block, BlockCoding::kPlain);
    const Made wanted = encoded(p.calls, p.call_of, in_block, BlockCoding::kBySignature);
    BlockRecoder recoder(p.grammar, p.call_of);
    Made made;
    std::string_view left = plain.bytes;
    for (size_t i = 0; i < plain.blocks.size(); ++i) {
      ASSERT_TRUE(recoder.add(plain.blocks[i], left.substr(0, plain.blocks[i].bytes)));
      left.remove_prefix(plain.blocks[i].bytes);
      // Now and then it is taken.
      if (i % 3 != 0 && i + 1 < plain.blocks.size()) continue;
      made.blocks.insert(made.blocks.end(), recoder.blocks().begin(), recoder.blocks().end());
      made.bytes += recoder.bytes();
      recoder.clear();
    }
    EXPECT_EQ(made.bytes, wanted.bytes);
    ASSERT_EQ(made.blocks.size(), wanted.blocks.size());
    for (size_t i = 0; i < made.blocks.size(); ++i) {
      EXPECT_EQ(made.blocks[i].checksum, wanted.blocks[i].checksum);
      EXPECT_EQ(made.blocks[i].begin_ns, wanted.blocks[i].begin_ns);
      EXPECT_EQ(made.blocks[i].end_ns, wanted.blocks[i].end_ns);
      EXPECT_EQ(made.blocks[i].calls, wanted.blocks[i].calls);
      EXPECT_EQ(made.blocks[i].coding, BlockCoding::kBySignature);
    }
  }
}

TEST(BlockRecoder, RefusesWhatIsNotOfItsCalls) {
  const Program p = program_of(300);
  const Made plain = encoded(p.calls, p.call_of, 100, BlockCoding::kPlain);
  const std::string_view first = std::string_view(plain.bytes).substr(0, plain.blocks[0].bytes);
  {
    BlockRecoder recoder(p.grammar, p.call_of);
    std::string damaged(first);
    damaged[damaged.size() / 2] ^= 1;
    EXPECT_FALSE(recoder.add(plain.blocks[0], damaged));
  }
  {
    const std::vector<uint16_t> too_few(3, 1);
    BlockRecoder recoder(p.grammar, too_few);
    EXPECT_FALSE(recoder.add(plain.blocks[0], first));
  }
  const Program shorter = program_of(50);
  BlockRecoder recoder(shorter.grammar, shorter.call_of);
  EXPECT_FALSE(recoder.add(plain.blocks[0], first));
  EXPECT_TRUE(recoder.blocks().empty());
}

}  // namespace
}  // namespace refrain::format
