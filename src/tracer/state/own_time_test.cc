// OwnTime: nothing is counted twice, and what is a piece.
#include "tracer/state/own_time.h"

#include <gtest/gtest.h>

namespace refrain::tracer {
namespace {

TEST(OwnTime, WorkInsideOfAMeasureCountsOnce) {
  OwnTime t;
  t.add_inside(900);  // behind MPI_Init, before it is recorded
  t.begin_span();
  t.add_call(1000);
  EXPECT_EQ(t.total(1), 1000U);
  t.add_call(10);
  t.add(5);
  EXPECT_EQ(t.total(2), 1015U);
  t.end_span(2);
  EXPECT_EQ(t.span(), 1015U);
}

TEST(OwnTime, WorkBeforeTheFirstRecordedCallIsNoPartOfTheSpan) {
  OwnTime t;
  t.add_inside(900);  // MPI_Init, which is left out
  t.call_is_left_out();
  t.begin_span();
  t.add_call(10);
  EXPECT_EQ(t.total(1), 910U);
  t.end_span(1);
  EXPECT_EQ(t.span(), 10U);
}

// A constructor of a library asked MPI_Initialized; then MPI_Init began the run.
TEST(OwnTime, WorkBehindCallsBeforeTheRunIsNoPiece) {
  OwnTime t;
  t.set_least_piece(100);
  t.begin_span();
  t.add_call(500);
  EXPECT_TRUE(t.note(0, 500));
  t.add_inside(900);
  t.begin_span();
  t.add_call(1000);
  EXPECT_TRUE(t.note(1, 1000));
  t.add_call(10);
  EXPECT_EQ(t.total(3), 1510U) << "all of it is what recording cost";
  t.end_span(3);
  EXPECT_EQ(t.span(), 1010U);
  ASSERT_EQ(t.pieces().size(), 1U);
  EXPECT_EQ(t.pieces()[0].call, 1U);
}

TEST(OwnTime, ASampleStandsForTheCallsBeforeIt) {
  OwnTime t;
  t.begin_span();
  t.add_call(100);
  t.sample(3, 11);
  EXPECT_EQ(t.total(11), 130U);
  EXPECT_EQ(t.total(13), 136U) << "and for those behind it";
}

TEST(OwnTime, PiecesAreWithTheirCalls) {
  OwnTime t;
  EXPECT_FALSE(t.note(0, 1'000'000)) << "how long a piece is was not said";
  t.set_least_piece(100);
  EXPECT_FALSE(t.note(0, 99));
  EXPECT_TRUE(t.note(1, 100));
  EXPECT_TRUE(t.note(1, 250)) << "it went on";
  EXPECT_TRUE(t.note(7, 300));
  ASSERT_EQ(t.pieces().size(), 2U);
  EXPECT_EQ(t.pieces()[0].call, 1U);
  EXPECT_EQ(t.pieces()[0].ticks, 250U);
}

// The last call has no gap behind it.
TEST(OwnTime, WhatComesBehindTheLastCallIsNoPiece) {
  OwnTime t;
  t.set_least_piece(100);
  t.begin_span();
  t.add_call(500);
  t.note(0, 500);
  t.add_call(200);
  t.note(1, 200);
  t.end_span(2);
  EXPECT_EQ(t.span(), 500U);
  EXPECT_FALSE(t.note(1, 1'000'000)) << "of MPI_Finalize";
  ASSERT_EQ(t.pieces().size(), 1U);
  EXPECT_EQ(t.pieces()[0].call, 0U);
}

TEST(OwnTime, ManyPiecesLeaveTheLongOnes) {
  OwnTime t;
  t.set_least_piece(1);
  for (uint64_t call = 0; call < 100'000; ++call) t.note(call, 1 + call % 1000);
  EXPECT_LE(t.pieces().size(), OwnTime::kMostPieces);
  EXPECT_FALSE(t.pieces().empty());
  for (size_t i = 0; i < t.pieces().size(); ++i) {
    EXPECT_GT(t.pieces()[i].ticks, 500U);
    EXPECT_TRUE(i == 0 || t.pieces()[i].call > t.pieces()[i - 1].call);
  }
}

TEST(OwnTime, ManyEqualPiecesAreNotAllLost) {
  OwnTime t;
  t.set_least_piece(1);
  for (uint64_t call = 0; call < 10'000; ++call) t.note(call, 700);
  EXPECT_LE(t.pieces().size(), OwnTime::kMostPieces);
  EXPECT_GE(t.pieces().size(), OwnTime::kMostPieces / 2);
}

}  // namespace
}  // namespace refrain::tracer
