#include "tracer/code/frame_rules.h"

#include <alloca.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

#include "tracer/code/unwind.h"

namespace refrain::tracer {
namespace {

using End = FrameRule::End;
using Pointer = FrameRule::Pointer;
using Bytes = std::vector<uint8_t>;

bool has_rules_here() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

// -- images made by hand --

// An .eh_frame with one function, kCode to kCode + kCodeSize, behind its .eh_frame_hdr. On the
// heap, in a block of its own, so that the sanitizer sees every byte that is read beyond it.
class Image {
 public:
  static constexpr uint32_t kHeader = 0, kCommon = 24, kCode = 4096, kCodeSize = 100;

  explicit Image(const Bytes& program, const Bytes& augmentation = {'z', 'R', 0},
                 const Bytes& data = {kRelative4}) {
    Bytes common = {1};
    append(common, augmentation);
    append(common, {1, 0x78, 16, static_cast<uint8_t>(data.size())});
    append(common, data);
    append(common, {0x0c, 7, 8, 0x80 | 16, 1});  // end: stack pointer + 8; return address below it
    put(kHeader, {1, kRelative4, 0x03, 0x3b});
    put_word(kHeader + 4, kCommon - (kHeader + 4));
    put_word(kHeader + 8, 1);
    put_word(kHeader + 12, kCode);
    put_word(kCommon, static_cast<uint32_t>(4 + common.size()));
    put_word(kCommon + 4, 0);
    put(kCommon + 8, common);
    const auto entry = static_cast<uint32_t>(bytes_.size());
    put_word(kHeader + 16, entry);
    put_word(entry, static_cast<uint32_t>(13 + program.size()));
    put_word(entry + 4, entry + 4 - kCommon);
    put_word(entry + 8, kCode - (entry + 8));
    put_word(entry + 12, kCodeSize);
    put(entry + 16, {0});
    put(entry + 17, program);
  }

  Bytes& bytes() { return bytes_; }
  // The rule at an offset into the code.
  FrameRule rule(uint32_t offset) const {
    const std::unique_ptr<uint8_t[]> room(new uint8_t[bytes_.size()]);
    std::memcpy(room.get(), bytes_.data(), bytes_.size());
    const auto begin = reinterpret_cast<uintptr_t>(room.get());
    LoadedImage image;
    image.parts[image.part_count++] = {begin, begin + bytes_.size()};
    image.index = {begin + kHeader, begin + kCommon};
    return find_frame_rule(image, begin + kCode + offset + 1);  // its call ends there
  }

 private:
  static constexpr uint8_t kRelative4 = 0x1b;
  static void append(Bytes& to, const Bytes& more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  void put(uint32_t at, const Bytes& more) {
    if (bytes_.size() < at + more.size()) bytes_.resize(at + more.size());
    std::memcpy(bytes_.data() + at, more.data(), more.size());
  }
  void put_word(uint32_t at, uint32_t word) {
    Bytes four(4);
    std::memcpy(four.data(), &word, 4);
    put(at, four);
  }
  Bytes bytes_;
};

// push %rbp at 1; mov %rsp,%rbp at 4; leave at 90.
const Bytes kUsual = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 86, 0x0c, 7, 8};

TEST(FrameRules, follow_the_instructions_to_the_place) {
  const Image image(kUsual);
  FrameRule at_begin = image.rule(0);
  EXPECT_EQ(at_begin.how_end, End::kByStackPointer);
  EXPECT_EQ(at_begin.end, 8);
  EXPECT_EQ(at_begin.how_pointer, Pointer::kKept);
  FrameRule pushed = image.rule(1);
  EXPECT_EQ(pushed.end, 16);
  EXPECT_EQ(pushed.how_pointer, Pointer::kByEnd);
  EXPECT_EQ(pushed.pointer, -16);
  FrameRule inside = image.rule(50);
  EXPECT_EQ(inside.how_end, End::kByFramePointer);
  EXPECT_EQ(inside.end, 16);
  FrameRule left = image.rule(90);
  EXPECT_EQ(left.how_end, End::kByStackPointer);
  EXPECT_EQ(left.end, 8);
  EXPECT_EQ(image.rule(Image::kCodeSize).how_end, End::kUnknown);  // behind the function
}

TEST(FrameRules, remember_and_restore) {
  // A part in the middle has a frame of its own; behind it all is as before.
  const Image image({0x0e, 32, 0x86, 3, 0x41, 0x0a, 0x0e, 64, 0x08, 6, 0x41, 0x0b, 0x41, 0xc6});
  EXPECT_EQ(image.rule(1).end, 64);
  EXPECT_EQ(image.rule(1).how_pointer, Pointer::kKept);
  EXPECT_EQ(image.rule(2).end, 32);
  EXPECT_EQ(image.rule(2).pointer, -24);
  EXPECT_EQ(image.rule(3).how_pointer, Pointer::kKept);
}

TEST(FrameRules, functions_that_align_their_stack) {
  const Image image({0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 0x06});
  const FrameRule rule = image.rule(10);
  EXPECT_EQ(rule.how_end, End::kStored);
  EXPECT_EQ(rule.end, -8);
  EXPECT_EQ(rule.how_pointer, Pointer::kByFramePointer);
  EXPECT_EQ(rule.pointer, 0);
}

TEST(FrameRules, the_outermost_function) {
  EXPECT_EQ(Image({0x07, 16}).rule(10).how_end, End::kOutermost);
}

TEST(FrameRules, leave_to_libunwind_what_they_do_not_know) {
  const Bytes signal = {'z', 'R', 'S', 0}, fine = {'z', 'R', 0}, strange = {'e', 'h', 0};
  EXPECT_EQ(Image(kUsual, fine).rule(50).how_end, End::kByFramePointer);
  EXPECT_EQ(Image(kUsual, signal).rule(50).how_end, End::kUnknown);
  EXPECT_EQ(Image(kUsual, strange).rule(50).how_end, End::kUnknown);
  for (const Bytes& program : std::initializer_list<Bytes>{
           {0x0d, 10},                             // the end is relative to another register
           {0x0f, 2, 0x77, 8},                     // or an expression
           {0x09, 6, 3},                           // the frame pointer is in another register
           {0x16, 6, 2, 0x76, 0},                  // or is what an expression says
           {0x07, 6},                              // or is lost
           {0x80 | 16, 2},                         // the return address is elsewhere
           {0x0b},                                 // nothing was remembered
           {0x2d},                                 // an instruction of other processors
           {0x0f, 3, 0x76, 0x78, 0x06, 0x0e, 16},  // an offset without a register
           {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a}})
    EXPECT_EQ(Image(program).rule(50).how_end, End::kUnknown) << int{program[0]};
}

// Whatever stands there: an answer, and nothing is read that does not belong to it.
TEST(FrameRules, survive_damaged_bytes) {
  const Image whole(kUsual);
  for (size_t at = 0; at < Image(kUsual).bytes().size(); ++at) {
    for (const uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      Image damaged(kUsual);
      damaged.bytes()[at] = value;
      for (uint32_t offset = 0; offset < Image::kCodeSize; offset += 7) damaged.rule(offset);
    }
    Image cut(kUsual);
    cut.bytes().resize(at);
    if (at > 0) cut.rule(50);
  }
}

// -- real functions: as libunwind unwinds them --

// What the frames above a call are found to be, while they are there.
struct Look {
  size_t compared = 0, stored = 0;
  FrameRule outermost;

  void compare(const StackFrame& here, const StackFrame& caller, size_t number);
};

void Look::compare(const StackFrame& here, const StackFrame& caller, size_t number) {
  if (here.fp_slot == 0) return;
  const auto word = [](uintptr_t at) { return *reinterpret_cast<const uintptr_t*>(at); };
  const auto with = [](uintptr_t base, int32_t offset) {
    return base + static_cast<uintptr_t>(int64_t{offset});
  };
  const FrameRule rule = find_frame_rule(here.return_address);
  const uintptr_t pointer = word(here.fp_slot);
  uintptr_t end = 0;
  switch (rule.how_end) {
    case End::kByStackPointer: end = with(here.sp, rule.end); break;
    case End::kByFramePointer: end = with(pointer, rule.end); break;
    case End::kStored: end = word(with(pointer, rule.end)), ++stored; break;
    default: FAIL() << "frame " << number << " has no rule";
  }
  EXPECT_EQ(end, caller.sp) << number;
  const uintptr_t slot = rule.how_pointer == Pointer::kKept    ? here.fp_slot
                         : rule.how_pointer == Pointer::kByEnd ? with(end, rule.pointer)
                                                               : with(pointer, rule.pointer);
  EXPECT_EQ(slot, caller.fp_slot) << number;
  ++compared;
}

[[gnu::noinline]] void look(Look* out) {
  StackFrame frames[64];
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const size_t n = unwind(here + sizeof(void*), frames, 64);
  for (size_t i = 0; i + 1 < n; ++i) out->compare(frames[i], frames[i + 1], i);
  if (n > 0) out->outermost = find_frame_rule(frames[n - 1].return_address);
}

int g_zero = 0;
using Next = void (*)(int, Look*);
extern const Next kKinds[4];
void (*volatile g_next)(int, Look*) = nullptr;

[[gnu::noinline]] void descend(int levels, Look* out) {
  if (levels == 0) return look(out), void(g_zero = 0);
  g_next = kKinds[levels % 4];
  g_next(levels - 1, out);
  g_zero = 0;  // no tail call
}

[[gnu::noinline]] void with_alloca(int levels, Look* out) {
  auto* room = static_cast<volatile char*>(alloca(static_cast<size_t>(40 + 16 * levels)));
  room[0] = 1;
  descend(levels, out);
  g_zero = room[0] - 1;
}

[[gnu::noinline]] void aligned(int levels, Look* out) {
  alignas(128) volatile char room[128];
  room[0] = 1;
  descend(levels, out);
  g_zero = room[0] - 1;
}

// More arguments than registers, an aligned stack, and room of changing size: the end of the frame
// is stored in it.
[[gnu::noinline]] int crowded(int a, int b, int c, int d, int e, int f, int levels, Look* out) {
  alignas(64) volatile char fixed[64];
  auto* room = static_cast<volatile char*>(alloca(static_cast<size_t>(24 + 8 * levels)));
  fixed[0] = static_cast<char>(a);
  room[0] = static_cast<char>(b);
  descend(levels, out);
  return fixed[0] + room[0] + c + d + e + f + levels;
}

[[gnu::noinline]] void through_crowded(int levels, Look* out) {
  g_zero = crowded(levels, 1, 2, 3, 4, 5, levels, out) * 0;
}

[[gnu::noinline]] void with_registers(int levels, Look* out) {
  long a = levels, b = a + 1, c = b * 3, d = c ^ a, e = d + 5;
  for (int i = 0; i < 2; ++i) {
    if (i == 1 || levels % 2 == 0) descend(levels, out);
    a += b * i, b ^= c, c += d, d -= e, e += a;
  }
  g_zero = static_cast<int>(a ^ b ^ c ^ d ^ e) * 0;
}

const Next kKinds[4] = {with_alloca, aligned, through_crowded, with_registers};

TEST(FrameRules, lead_where_libunwind_goes) {
  if (!has_rules_here()) GTEST_SKIP() << "no rules for this processor";
  Look seen;
  descend(9, &seen);
  EXPECT_GT(seen.compared, 20u);
#if defined(__GNUC__) && !defined(__clang__)
  EXPECT_GT(seen.stored, 0u);
#endif
  EXPECT_EQ(seen.outermost.how_end, End::kOutermost);
}

TEST(FrameRules, know_nothing_of_data) {
  EXPECT_EQ(find_frame_rule(reinterpret_cast<uintptr_t>(&g_zero)).how_end, End::kUnknown);
  EXPECT_EQ(find_frame_rule(1).how_end, End::kUnknown);
}

}  // namespace
}  // namespace refrain::tracer
