// Programs that run on other numbers of ranks, and programs without some of the calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "proxy/grid.h"
#include "proxy/literals.h"
#include "proxy/runtime_text.inc"
#include "proxy/test_maker.h"

namespace refrain::proxy {
namespace {

// Halos of a grid with open borders: a group for each way to stand in it, and neighbours as
// numbers relative to the rank.
Outcome halo(int64_t rows, int64_t columns, int steps, bool has_grid = true) {
  Maker m(static_cast<uint64_t>(rows * columns));
  ShapeWriter make("MPI_Cart_create");
  make.none().object(m.world).integer(2);
  make.array(2).repeat(1).integer(rows).repeat(1).integer(columns);
  make.array(2).repeat(2).integer(0);
  const uint32_t grid = m.builder.comm(1, m.all);
  const uint32_t cart = m.builder.signature(make.integer(0).object(grid));
  m.world = grid;
  std::vector<uint32_t> opening;
  if (has_grid) opening.push_back(cart);
  const std::array<int64_t, 4> distances{-columns, columns, -1, 1};
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) {
      std::vector<int64_t> ranks;
      for (const int64_t rank : m.all) {
        const int64_t y = rank / columns, x = rank % columns;
        const int at_y = y == 0 ? 0 : y == rows - 1 ? 2 : 1;
        const int at_x = x == 0 ? 0 : x == columns - 1 ? 2 : 1;
        if (at_y == row && at_x == column) ranks.push_back(rank);
      }
      const std::array<bool, 4> is_open{row == 0, row == 2, column == 0, column == 2};
      std::vector<uint32_t> step;
      for (size_t side = 0; side < 4; ++side)
        step.push_back(m.send(is_open[side] ? fixed(-1) : me_plus(distances[side])));
      for (size_t side = 0; side < 4; ++side)
        step.push_back(m.receive(is_open[side] ? fixed(-1) : me_plus(distances[side])));
      m.group(ranks, step, steps, opening);
    }
  return m.write();
}

TEST(AnyRanks, AHaloFollowsTheGridOfTheRanks) {
  const Outcome out = halo(4, 4, 10);
  EXPECT_TRUE(out.needs.empty()) << out.needs.front();
  EXPECT_TRUE(has(out.program, "Grid grid({4, 4}, {false, false}, false);")) << out.program;
  EXPECT_TRUE(has(out.program, "MPI_Cart_create(MPI_COMM_WORLD, 2, grid.sides(),")) << out.program;
  EXPECT_TRUE(has(out.program, "grid.neighbour({-1, 0}), 5, comms[1]"));
  EXPECT_FALSE(has(out.program, "kind"));  // it does not matter
}

TEST(AnyRanks, AHaloHasAsManyLinesAtAnyNumberOfRanks) {
  const uint64_t lines = halo(8, 8, 10).lines;
  EXPECT_EQ(halo(32, 32, 10).lines, lines);
  const Outcome many = halo(8, 8, 1'000'000);
  EXPECT_EQ(many.lines, lines);
  EXPECT_EQ(many.calls, 64u * (8 * 1'000'000 + 3));  // MPI_Init, MPI_Cart_create, MPI_Finalize
  EXPECT_LE(lines, 12 * (many.signatures + many.rules) + 400);
}

TEST(AnyRanks, SidesThatNobodyWouldChooseHoldTheProgram) {
  const Outcome out = halo(3, 8, 10);  // MPI_Dims_create gives 6 and 4
  EXPECT_TRUE(std::any_of(out.needs.begin(), out.needs.end(),
                          [](const std::string& why) { return has(why, "MPI_Cart_create"); }));
}

TEST(AnyRanks, ADistanceThatIsNoStepHoldsTheProgram) {
  Maker m(16);
  std::vector<int64_t> first, rest;
  for (const int64_t r : m.all) (r % 4 == 0 ? first : rest).push_back(r);
  m.group(first, {m.send(me_plus_mod_size(7)), m.receive(me_plus(0))}, 3);
  m.group(rest, {m.send(me_plus_mod_size(1)), m.receive(me_plus(0))}, 3);
  EXPECT_TRUE(has(m.write().program, "grid.kind"));
  m.builder.data().groups.clear();
  m.group(first, {m.send(me_plus(3)), m.receive(me_plus(0))}, 3);
  m.group(rest, {m.send(me_plus_mod_size(1)), m.receive(me_plus(0))}, 3);
  EXPECT_FALSE(m.write().needs.empty());
}

TEST(Grid, SidesAreAsEqualAsCanBe) {
  using Sides = std::vector<int64_t>;
  EXPECT_EQ(balanced_sides(64, 2), (Sides{8, 8}));
  EXPECT_EQ(balanced_sides(12, 2), (Sides{4, 3}));
  EXPECT_EQ(balanced_sides(24, 3), (Sides{4, 3, 2}));
  EXPECT_EQ(balanced_sides(7, 2), (Sides{7, 1}));
  EXPECT_EQ(balanced_sides(1024, 3), (Sides{16, 8, 8}));
  EXPECT_TRUE(balanced_sides(64, 5).empty());
}

TEST(Grid, StepsWrapWhereAxesAreRound) {
  const Grid grid({2, 3}, {false, true});
  EXPECT_EQ(grid.steps_to({{0, 2}, {1, 0}, {5, 4}}), "grid.neighbour({0, -1})");
  EXPECT_EQ(grid.steps_to({{0, Grid::kNobody}, {4, 1}}), "grid.neighbour({-1, 0})");
  EXPECT_EQ(grid.steps_to({{0, 0}, {4, 1}}), std::nullopt);
  EXPECT_EQ(grid.steps_to({{0, Grid::kNobody}}), std::nullopt);
  EXPECT_TRUE(grid.tells_sides_apart());
  EXPECT_FALSE(Grid({3, 2}, {false, true}).tells_sides_apart());
}

TEST(Grid, SaysKindsByPlace) {
  const Grid grid({2, 3}, {false, false});
  EXPECT_EQ(grid.kinds({0, 0, 0, 1, 1, 1}),
            "grid.kind({\n      {0, {kFirst, kAny}},\n      {1, {kLast, kAny}}})");
  EXPECT_EQ(grid.kinds({7, 7, 7, 7, 7, 7}), "grid.kind({\n      {7, {kAny, kAny}}})");
  const Grid line({6}, {false});
  EXPECT_EQ(line.kinds({0, 1, 0, 1, 0, 1}), std::nullopt);
}

TEST(Skip, LeavesOutBothEndsOfMessages) {
  Maker m(4);
  ShapeWriter barrier("MPI_Barrier");
  const uint32_t meet = m.builder.signature(barrier.none().object(m.world));
  m.group(m.all, {m.send(me_plus_mod_size(1)), m.receive(me_plus_mod_size(-1)), meet}, 5);
  for (const char* one : {"MPI_Send", "MPI_Recv"}) {
    m.options.skip = {one};
    const Outcome out = m.write();
    EXPECT_FALSE(has(out.program, "MPI_Send(")) << out.program;
    EXPECT_FALSE(has(out.program, "MPI_Recv(")) << out.program;
    EXPECT_TRUE(has(out.program, "MPI_Barrier(MPI_COMM_WORLD);"));
    EXPECT_EQ(out.skipped, 20u);
    EXPECT_EQ(out.other_ends, 20u);
  }
}

TEST(Skip, RefusesToLeaveOutSomeOfTheMessagesOfAReceive) {
  Maker m(2);
  ShapeWriter shape("MPI_Ssend");
  shape.none().heap(-1, 0).integer(64).object(m.type).integer(me_plus_mod_size(1)).integer(5);
  const uint32_t ssend = m.builder.signature(shape.object(m.world));
  m.group(m.all, {m.send(me_plus_mod_size(1)), ssend, m.receive(me_plus_mod_size(-1))}, 2);
  m.options.skip = {"MPI_Ssend"};
  const auto out = generate(m.builder.open(), m.options);
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().code, base::ErrorCode::kUnsupported);
  EXPECT_TRUE(has(out.error().message, "only some of the messages from rank"))
      << out.error().message;
}

// A function of the program with the name of something in the header would stand for it.
TEST(Literals, NamesOfTheHeaderAreTaken) {
  const std::string header = kRuntime;
  size_t names = 0;
  for (size_t line = 0; line < header.size(); line = header.find('\n', line) + 1) {
    const std::string text = header.substr(line, header.find('\n', line) - line);
    if (text.starts_with("#") || text.find("operator") != std::string::npos) continue;
    if (!text.starts_with("inline ") && !text.starts_with("class ") &&
        !text.starts_with("struct ") && !text.starts_with("[[noreturn]]") &&
        !text.starts_with("enum "))
      continue;
    const size_t end = text.find_first_of("({=;:");
    if (end == std::string::npos) continue;
    std::string name = text.substr(0, end);
    while (!name.empty() && name.back() == ' ') name.pop_back();
    name = name.substr(name.find_last_of(" *&") + 1);
    if (name.empty() || name == "enum") continue;
    ++names;
    EXPECT_NE(identifier(name), name) << text;
  }
  EXPECT_GT(names, 60u);
}

}  // namespace
}  // namespace refrain::proxy
