#include "events/buffers/attached.h"

#include <gtest/gtest.h>

#include <string>

#include "mpi/call_ids.h"

namespace refrain::events {
namespace {

Value buffer(BufferPlace place, int64_t number, int64_t offset) {
  Value out;
  out.kind = ValueKind::kBuffer;
  out.id = static_cast<uint32_t>(place);
  out.number = number;
  out.offset = offset;
  return out;
}

Value integer(int64_t n) {
  Value out;
  out.kind = ValueKind::kInteger;
  out.number = n;
  return out;
}

Signature attach(const Value& base) {
  Signature out;
  out.call = mpi::kMPI_Win_attach;
  out.args = {{"win", {}}, {"base", base}, {"size", integer(64)}};
  return out;
}

Signature asked(const Value& location, int64_t address) {
  Signature out;
  out.call = mpi::kMPI_Get_address;
  out.args = {{"location", location}, {"address", integer(address)}};
  return out;
}

TEST(Attached, AddressesAreToldByAnotherPlaceOfTheSameBlock) {
  const Signature block = attach(buffer(BufferPlace::kHeap, 4, 128));
  EXPECT_EQ(address_by(block, asked(buffer(BufferPlace::kHeap, 4, 0), 1000)), 1128);
  EXPECT_EQ(address_by(block, asked(buffer(BufferPlace::kHeap, 4, 256), 1000)), 872);
  EXPECT_EQ(address_by(block, asked(buffer(BufferPlace::kHeap, 5, 128), 1000)), std::nullopt);
  EXPECT_EQ(address_by(block, asked(buffer(BufferPlace::kStack, 4, 128), 1000)), std::nullopt);
}

TEST(Attached, HostileNumbersTellNothing) {
  const Signature block = attach(buffer(BufferPlace::kHeap, 4, INT64_MAX));
  EXPECT_EQ(address_by(block, asked(buffer(BufferPlace::kHeap, 4, -2), 1)), std::nullopt);
  EXPECT_EQ(address_by(block, asked(buffer(BufferPlace::kHeap, 4, 0), 1)), std::nullopt);
  EXPECT_EQ(address_by(block, asked({}, 1)), std::nullopt);
}

// Of programs at fixed and at random places, their heaps, libraries and stacks, on x86-64 and
// arm64.
TEST(Attached, PlacesOfOneProcessStayApart) {
  const int64_t places[] = {0x400000,       0x555555554000, 0x56123456f000, 0x7f0012345000,
                            0x7ffcdeadb000, 0xaaaaaaaaa000, 0xfffff7ff0000};
  for (const int64_t one : places) {
    EXPECT_EQ(replayed_address(replayed_address(one)), replayed_address(one));
    EXPECT_GE(replayed_address(one), int64_t{1} << 45);
    EXPECT_LT(replayed_address(one), (int64_t{1} << 45) + (int64_t{1} << 44));
    EXPECT_EQ(replayed_address(one + 100), replayed_address(one) + 100);
    for (const int64_t other : places)
      EXPECT_EQ(one == other, replayed_address(one) == replayed_address(other));
  }
}

}  // namespace
}  // namespace refrain::events
