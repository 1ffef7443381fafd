#include "tracer/code/unwind.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace refrain::tracer {
namespace {

struct Look {
  std::vector<StackFrame> frames;
  uintptr_t own_return = 0, own_frame = 0;
};

// Looks at the stack as a wrapper of an MPI function does.
[[gnu::noinline]] void look(Look* out) {
  out->own_return = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  out->own_frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  out->frames.resize(64);
  out->frames.resize(unwind(out->own_frame + sizeof(void*), out->frames.data(), 64));
}

int descend(int levels, Look* out);
int (*volatile g_descend)(int, Look*) = descend;  // so that no level becomes a part of another one

// `levels` calls of itself, then a look.
int descend(int levels, Look* out) {
  volatile char room[40] = {};
  room[levels] = 1;
  if (levels == 0)
    look(out);
  else
    room[0] = static_cast<char>(g_descend(levels - 1, out));
  return room[0] + 1;
}

bool unwinds_here() {
#if defined(__x86_64__) || defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

TEST(Unwind, finds_the_callers) {
  if (!unwinds_here()) GTEST_SKIP() << "no unwinding on this processor";
  Look seen;
  g_descend(5, &seen);
  ASSERT_GT(seen.frames.size(), 7u);
  EXPECT_EQ(seen.frames[0].return_address, seen.own_return);
  for (size_t i = 2; i < 6; ++i)  // from descend() to descend()
    EXPECT_EQ(seen.frames[i].return_address, seen.frames[1].return_address);
  EXPECT_NE(seen.frames[6].return_address, seen.frames[1].return_address);
  for (size_t i = 1; i < seen.frames.size(); ++i)
    EXPECT_GT(seen.frames[i].sp, seen.frames[i - 1].sp);
}

// The recorder recognises a path by these words, and an open call by the one in its own frame.
TEST(Unwind, knows_where_return_addresses_are_saved) {
  if (!unwinds_here()) GTEST_SKIP() << "no unwinding on this processor";
  Look seen;
  g_descend(5, &seen);
  ASSERT_GT(seen.frames.size(), 7u);
  EXPECT_EQ(seen.frames[0].return_slot, seen.own_frame + sizeof(void*));
  for (size_t i = 0; i < 7; ++i) {
    const StackFrame& frame = seen.frames[i];
    ASSERT_NE(frame.return_slot, 0u);
    EXPECT_LT(frame.return_slot, frame.sp);
    if (i > 0) {
      EXPECT_GE(frame.return_slot, seen.frames[i - 1].sp);
    }
  }
}

TEST(Unwind, stops_at_the_room_there_is) {
  if (!unwinds_here()) GTEST_SKIP() << "no unwinding on this processor";
  StackFrame frames[2];
  EXPECT_EQ(unwind(0, frames, 2), 2u);
}

}  // namespace
}  // namespace refrain::tracer
