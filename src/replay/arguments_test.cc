#include "replay/arguments.h"

#include <gtest/gtest.h>

namespace refrain::replay {
namespace {

int64_t sum_of(int count, const int counts[], const long displacements[]) {
  int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += counts[i] + 100 * displacements[i];
  return sum;
}
void make(void* in, struct Opaque** handle, int* flag) {
  *handle = static_cast<Opaque*>(in);
  *flag = -7;
}

TEST(Arguments, TakeTheTypesOfThePrototype) {
  Arguments a;
  a.reset(3);
  a.slot(0).number = 2;
  a.slot(1).numbers = {1, 2};
  a.slot(2).numbers = {3, -1};
  EXPECT_EQ(sum_of(a.number(0), a.numbers(1), a.numbers(2)), 203);
}

TEST(Arguments, OutputsAreReadBack) {
  Arguments a;
  a.reset(3);
  int something = 0;
  a.slot(0).address = &something;
  make(a.buffer(0), a.handles(1), a.numbers(2));
  EXPECT_EQ(a.slot(1).read_key(), reinterpret_cast<uintptr_t>(&something));
  EXPECT_EQ(a.slot(2).read(), -7);
}

TEST(Arguments, AConstantStandsForAnArray) {
  Arguments a;
  a.reset(1);
  a.slot(0).is_address = true;
  a.slot(0).address = reinterpret_cast<void*>(1);
  int* const place = a.numbers(0);
  EXPECT_EQ(place, reinterpret_cast<int*>(1));
}

TEST(Arguments, OnlyAmountsMustFitIntoAnInt) {
  Arguments a;
  a.reset(2);
  a.slot(0).number = int64_t{1} << 40;
  EXPECT_TRUE(a.fits_int());
  a.slot(0).is_count = true;
  EXPECT_FALSE(a.fits_int());
  a.slot(0).number = 5;
  a.slot(1).is_count = true;
  a.slot(1).numbers = {1, int64_t{1} << 31};
  EXPECT_FALSE(a.fits_int());
}

}  // namespace
}  // namespace refrain::replay
