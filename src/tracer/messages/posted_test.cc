// Operations under way by their requests, where MPI gives the same handle to several.
#include "tracer/messages/posted.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace refrain::tracer {
namespace {

constexpr uint64_t kHandle = 0x9c000000;
const char kPlaces[64] = {};  // variables of requests

Posted* add(PostedTable& table, uint64_t handle, const void* variable) {
  Posted& p = table.add(handle);
  p.variable = variable;
  return &p;
}

TEST(PostedTable, TheVariableTellsRequestsWithOneHandleApart) {
  PostedTable table;
  Posted* const first = add(table, kHandle, &kPlaces[0]);
  Posted* const second = add(table, kHandle, &kPlaces[1]);
  EXPECT_EQ(table.find(kHandle, &kPlaces[1]), second);
  EXPECT_EQ(table.find(kHandle, &kPlaces[2]), first);  // copied to another variable
  EXPECT_EQ(table.find(kHandle + 1, &kPlaces[0]), nullptr);
  table.remove(kHandle, first);
  EXPECT_EQ(table.find(kHandle, nullptr), second);
}

// MPI gave the handle out again before the call that completed the first request came back: the
// second one has been copied to another variable, or is a send, which fills nothing.
TEST(PostedTable, WhatACallHasClaimedIsFoundByNoOther) {
  PostedTable table;
  Posted* const completing = add(table, kHandle, &kPlaces[0]);
  completing->is_claimed = true;
  EXPECT_EQ(table.find(kHandle, &kPlaces[5]), nullptr);
  EXPECT_EQ(table.find(kHandle, &kPlaces[0]), nullptr);
  Posted* const later = add(table, kHandle, &kPlaces[1]);
  EXPECT_EQ(table.find(kHandle, &kPlaces[5]), later);
  Posted* const same_variable = add(table, kHandle, &kPlaces[0]);
  EXPECT_EQ(table.find(kHandle, &kPlaces[0]), same_variable);
  table.remove(kHandle, completing);
  EXPECT_EQ(table.find(kHandle, &kPlaces[5]), later);
}

TEST(PostedTable, FollowsAListThroughRandomSteps) {
  std::mt19937_64 random(3);
  PostedTable table;
  struct One {
    uint64_t handle;
    const void* variable;
    Posted* posted;
  };
  std::vector<One> list;  // oldest first
  const auto expected = [&](uint64_t handle, const void* variable) {
    Posted* oldest = nullptr;
    for (const One& one : list) {
      if (one.handle != handle || one.posted->is_claimed) continue;
      if (one.variable == variable) return one.posted;
      if (oldest == nullptr) oldest = one.posted;
    }
    return oldest;
  };
  for (int step = 0; step < 100000; ++step) {
    const uint64_t handle = kHandle + random() % 20;
    const void* const variable = &kPlaces[random() % 8];
    const size_t any = list.empty() ? 0 : random() % list.size();
    switch (random() % 4) {
      case 0:
        if (list.size() < 200) list.push_back({handle, variable, add(table, handle, variable)});
        break;
      case 1:
        if (list.empty()) break;
        table.remove(list[any].handle, list[any].posted);
        list.erase(list.begin() + static_cast<ptrdiff_t>(any));
        break;
      case 2:
        if (!list.empty()) list[any].posted->is_claimed = random() % 2 == 0;
        break;
      default: ASSERT_EQ(table.find(handle, variable), expected(handle, variable));
    }
    ASSERT_EQ(table.empty(), list.empty());
  }
}

}  // namespace
}  // namespace refrain::tracer
