// Neighbourhoods, files and communicators of groups: programs whose waits are known by
// construction.

#include <functional>

#include "analysis/waits/testing/test_program.h"

namespace refrain::analysis::waits {
namespace {

using List = std::vector<uint64_t>;
using Numbers = std::vector<int64_t>;

class OtherWaits : public ::testing::Test {
 protected:
  explicit OtherWaits(int ranks = 4) : p(ranks), ranks_(ranks) {
    std::vector<int64_t> all;
    for (int64_t r = 0; r < ranks; ++r) all.push_back(r);
    made = p.builder().comm(1, all);
    copy = p.builder().comm(2, all);
    base::ByteWriter id;
    id.put_zigzag(0);
    file = p.builder().define(format::DefinitionKind::kFile, id.take(), {p.world});
  }

  void for_all(const std::function<void(Rank)>& each) {
    for (Rank r = 0; r < ranks_; ++r) each(r);
  }
  ShapeWriter cart(const Numbers& dims, const Numbers& periods, uint32_t comm) const {
    ShapeWriter s = p.simple("MPI_Cart_create", {p.world});
    s.integer(static_cast<int64_t>(dims.size()));
    put(s, dims);
    put(s, periods);
    return std::move(s.integer(0).object(comm));
  }
  ShapeWriter exchange(const char* name, uint32_t comm) const {
    ShapeWriter s(name);
    s.object(p.site).none().integer(1).object(p.type).none().integer(1).object(p.type);
    return std::move(s.object(comm));
  }
  ShapeWriter on_file(const char* name) const { return p.simple(name, {file}); }
  ShapeWriter open() const {
    ShapeWriter s = p.simple("MPI_File_open", {p.world});
    s.string(format::FieldTag::kString, "x").integer(1).none();
    return std::move(s.object(file));
  }
  ShapeWriter write(const char* name) const {
    ShapeWriter s = on_file(name);
    return std::move(s.none().integer(1).object(p.type));
  }
  // All ranks together, and nobody waits.
  void together(const ShapeWriter& shape, uint64_t at) {
    for_all([&](Rank r) { p.call(r, shape, at, at + 5); });
  }
  // Entering at `begin`, leaving at `end`.
  void round(const ShapeWriter& shape, const List& begin, const List& end) {
    for_all([&](Rank r) {
      p.call(r, shape, begin[static_cast<size_t>(r)], end[static_cast<size_t>(r)]);
    });
  }

  TestProgram p;
  int ranks_;
  uint32_t made = 0, copy = 0, file = 0;
};

// A line of four: its ends have one neighbour, and nobody waits for who is further away.
TEST_F(OtherWaits, LinesWaitForTheirNeighbours) {
  together(cart({4}, {0}, made), 10);
  round(exchange("MPI_Neighbor_allgather", made), {100, 200, 300, 900}, {210, 310, 920, 950});
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateNeighbour), (List{100, 100, 600, 0}));
  EXPECT_EQ(w.ns_of(Pattern::kAll), 800U);
  EXPECT_EQ(w.counts.unknown_topologies, 0U);
  EXPECT_EQ(w.counts.incomplete_collectives, 0U);
}

// The same in a ring, and on a communicator that was copied from it.
TEST_F(OtherWaits, RingsWrapAndCopiesKeepTheTopology) {
  together(cart({4}, {1}, made), 10);
  ShapeWriter dup = p.simple("MPI_Comm_dup", {made, copy});
  together(dup, 20);
  round(exchange("MPI_Neighbor_alltoall", copy), {100, 200, 300, 900}, {920, 310, 920, 950});
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateNeighbour), (List{800, 100, 600, 0}));
}

// Two rows of two that wrap in no dimension; then the columns of it alone.
TEST_F(OtherWaits, GridsAndTheirParts) {
  together(cart({2, 2}, {0, 0}, made), 10);
  round(exchange("MPI_Neighbor_allgather", made), {100, 200, 300, 900}, {310, 920, 920, 950});
  const uint32_t left = p.builder().comm(3, {0, 2}), right = p.builder().comm(4, {1, 3});
  for_all([&](Rank r) {
    ShapeWriter sub = p.simple("MPI_Cart_sub", {made});
    put(sub, {1, 0});
    p.call(r, sub.object(r % 2 == 0 ? left : right), 1000, 1005);
  });
  const List begin = {1100, 1200, 1300, 1900};
  for_all([&](Rank r) {
    p.call(r, exchange("MPI_Neighbor_allgather", r % 2 == 0 ? left : right),
           begin[static_cast<size_t>(r)], 1950);
  });
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateNeighbour), (List{200 + 200, 700 + 700, 600, 0}));
}

TEST_F(OtherWaits, GraphsGiveTheirEdges) {
  ShapeWriter graph = p.simple("MPI_Graph_create", {p.world});
  graph.integer(4);
  put(graph, {1, 3, 4, 4});  // 0 - 1 - 2, and 3 alone
  put(graph, {1, 0, 2, 1});
  together(graph.integer(0).object(made), 10);
  round(exchange("MPI_Neighbor_allgather", made), {100, 200, 400, 900}, {210, 410, 420, 950});
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateNeighbour), (List{100, 200, 0, 0}));
}

// A file may say anything.
TEST_F(OtherWaits, AnIndexOfAGraphThatMakesNoSenseIsNotFollowed) {
  ShapeWriter graph = p.simple("MPI_Graph_create", {p.world});
  graph.integer(4);
  put(graph, {-(int64_t{1} << 60), int64_t{1} << 60, -5, 3});
  put(graph, {1, 0, 7, -9});
  together(graph.integer(0).object(made), 10);
  round(exchange("MPI_Neighbor_allgather", made), {100, 200, 400, 900}, {210, 410, 420, 950});
  EXPECT_LE(p.analyse().ns_of(Pattern::kLateNeighbour), 800U);
}

// Each names whom it hears from: all from rank 3, which hears from nobody.
TEST_F(OtherWaits, AdjacentEdgesAreThoseThatComeIn) {
  for_all([&](Rank r) {
    ShapeWriter s = p.simple("MPI_Dist_graph_create_adjacent", {p.world});
    s.integer(r == 3 ? 0 : 1);
    put(s, r == 3 ? Numbers{} : Numbers{3});
    s.none().integer(r == 3 ? 3 : 0);
    put(s, r == 3 ? Numbers{0, 1, 2} : Numbers{});
    p.call(r, s.none().none().integer(0).object(made), 10, 20);
  });
  round(exchange("MPI_Neighbor_allgather", made), {100, 200, 300, 500}, {510, 510, 510, 520});
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateNeighbour), (List{400, 300, 200, 0}));
}

// Rank 0 names all edges: r hears from r - 1. The last one enters late, when the others are gone.
TEST_F(OtherWaits, AnybodyMayNameTheEdges) {
  for_all([&](Rank r) {
    ShapeWriter s = p.simple("MPI_Dist_graph_create", {p.world});
    const bool names = r == 0;
    s.integer(names ? 2 : 0);
    put(s, names ? Numbers{0, 1} : Numbers{});
    put(s, names ? Numbers{1, 2} : Numbers{});
    put(s, names ? Numbers{1, 2, 3} : Numbers{});
    p.call(r, s.none().none().integer(0).object(made), 10, 20);
  });
  // 0 -> 1, 1 -> 2, 1 -> 3
  round(exchange("MPI_Neighbor_allgather", made), {500, 300, 100, 800}, {510, 510, 310, 810});
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kLateNeighbour), (List{0, 200, 200, 0}));
}

TEST_F(OtherWaits, NonblockingAndPersistentNeighbourhoods) {
  together(cart({4}, {0}, made), 10);
  const List begin = {100, 200, 300, 900};
  std::vector<uint32_t> persistent;
  for_all([&](Rank r) {
    const uint64_t b = begin[static_cast<size_t>(r)];
    ShapeWriter s = exchange("MPI_Ineighbor_allgather", made);
    const uint32_t request = p.call(r, s.new_request(0), b, b + 10);
    p.call(r, p.wait(request), b + 50, 950);
    ShapeWriter init = exchange("MPI_Neighbor_allgather_init", made);
    persistent.push_back(p.call(r, init.none().new_request(0), 960, 970));
  });
  for_all([&](Rank r) {
    const uint64_t b = 1000 + begin[static_cast<size_t>(r)];
    p.call(r, p.simple("MPI_Start", {}).request(persistent[static_cast<size_t>(r)]), b, b + 10);
    p.call(r, p.wait(persistent[static_cast<size_t>(r)]), b + 50, 1950);
  });
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kLateNeighbour), (List{50 + 50, 50 + 50, 550 + 550, 0}));
  EXPECT_EQ(w.counts.unknown_requests, 0U);
}

TEST_F(OtherWaits, NeighbourhoodsThatTheTraceDoesNotTell) {
  round(exchange("MPI_Neighbor_allgather", made), {100, 200, 300, 900}, {910, 910, 910, 910});
  const WaitStates w = p.analyse();
  EXPECT_EQ(w.ns_of(Pattern::kAll), 0U);
  EXPECT_EQ(w.counts.unknown_topologies, 4U);
}

// Opening keeps all until the last is there; then one writes late, and the others do not care.
TEST_F(OtherWaits, FilesWaitWhereNobodyLeftBefore) {
  round(open(), {100, 400, 250, 300}, {410, 420, 410, 415});
  round(write("MPI_File_write_all").none(), {1100, 1400, 1250, 1300}, {1110, 1420, 1410, 1415});
  round(on_file("MPI_File_set_view").integer(0).object(p.type).object(p.type).none().none(),
        {2100, 2400, 2250, 2300}, {2410, 2420, 2410, 2415});
  round(on_file("MPI_File_close"), {3100, 3200, 3150, 3200}, {3250, 3250, 3250, 3250});
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtCollectiveIo),
            (List{300 + 300 + 100, 0, 150 + 150 + 50, 100 + 100}));
  EXPECT_EQ(w.ns_of(Pattern::kAll), 1250U);
  EXPECT_EQ(w.counts.incomplete_collectives, 0U);
}

// Times that are a little off let one leave before the last is there: within 5 % of its call.
TEST_F(OtherWaits, FilesAllowForErrorsOfTimes) {
  round(open(), {100, 400, 250, 300}, {390, 420, 410, 415});
  EXPECT_EQ(by_rank(p.analyse(), Pattern::kWaitAtCollectiveIo), (List{290, 0, 150, 100}));
}

TEST_F(OtherWaits, OrderedAccessWaitsForLowerRanksAtLeast) {
  together(open(), 10);
  round(write("MPI_File_write_ordered").none(), {100, 150, 300, 700}, {120, 160, 310, 710});
  round(write("MPI_File_write_ordered").none(), {1400, 1100, 1500, 1200}, {1405, 1410, 1510, 1515});
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtCollectiveIo), (List{0, 300, 0, 300}));
}

// The library works when the operation is ended: all wait there for the last one to begin.
TEST_F(OtherWaits, SplitAndNonblockingFileAccess) {
  together(open(), 10);
  round(write("MPI_File_write_all_begin"), {100, 400, 250, 300}, {110, 410, 260, 310});
  round(on_file("MPI_File_write_all_end").none().none(), {120, 420, 270, 320},
        {430, 430, 430, 430});
  const List begin = {1100, 1400, 1250, 1300};
  for_all([&](Rank r) {
    const uint64_t b = begin[static_cast<size_t>(r)];
    ShapeWriter s = write("MPI_File_iwrite_all");
    const uint32_t request = p.call(r, s.new_request(0), b, b + 10);
    p.call(r, p.wait(request), b + 50, 1500);
  });
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtCollectiveIo), (List{280 + 250, 0, 130 + 100, 80 + 50}));
  EXPECT_EQ(w.counts.incomplete_collectives, 0U);
}

// In one order for all they would have waited for rank 3.
TEST_F(OtherWaits, FilesOfEachNameAreCountedApart) {
  base::ByteWriter id;
  id.put_zigzag(1);
  const uint32_t other = p.builder().define(format::DefinitionKind::kFile, id.take(), {p.world});
  together(open(), 10);
  ShapeWriter second = p.simple("MPI_File_open", {p.world});
  second.string(format::FieldTag::kString, "y").integer(1).none();
  together(second.object(other), 20);
  // Half of them sync one first, half the other.
  for_all([&](Rank r) {
    const auto t = static_cast<uint64_t>(r) * 10;
    p.call(r, p.simple("MPI_File_sync", {r < 2 ? file : other}), 100 + t, 150);
    p.call(r, p.simple("MPI_File_sync", {r < 2 ? other : file}), 200 + t, 250);
  });
  const WaitStates w = p.analyse();
  EXPECT_EQ(w.ns_of(Pattern::kAll), 0U);
  EXPECT_EQ(w.counts.incomplete_collectives, 0U);
}

TEST_F(OtherWaits, CommunicatorsOfGroupsKeepTheirMembers) {
  const uint32_t some = p.builder().comm(3, {1, 3});
  const uint32_t group = [&] {
    base::ByteWriter id;
    id.put_zigzag(0);
    return p.builder().define(format::DefinitionKind::kGroup, id.take());
  }();
  for (const Rank r : {1, 3}) {
    ShapeWriter s = p.simple("MPI_Comm_create_group", {p.world, group});
    p.call(r, s.integer(7).object(some), r == 1 ? 100 : 500, 510);
  }
  const uint32_t left = p.builder().comm(4, {0, 1}, {2, 3});
  const uint32_t right = p.builder().comm(4, {2, 3}, {0, 1});
  const List begin = {1100, 1200, 1300, 1400};
  for_all([&](Rank r) {
    ShapeWriter s = p.simple("MPI_Intercomm_create", {p.world});
    s.integer(0).object(p.world).integer(0).integer(9).object(r < 2 ? left : right);
    p.call(r, s, begin[static_cast<size_t>(r)], 1450);
  });
  for_all([&](Rank r) {
    ShapeWriter s = p.simple("MPI_Comm_idup", {p.world});
    const uint64_t b = 1000 + begin[static_cast<size_t>(r)];
    const uint32_t request = p.call(r, s.object(copy).new_request(0), b, b + 5);
    p.call(r, p.wait(request), b + 10, 2450);
  });
  const WaitStates w = p.analyse();
  EXPECT_EQ(by_rank(w, Pattern::kWaitAtNxN), (List{300 + 290, 400 + 200 + 190, 100 + 90, 0}));
  EXPECT_EQ(w.counts.unknown_requests, 0U);
  EXPECT_EQ(w.counts.incomplete_collectives, 0U);
}

}  // namespace
}  // namespace refrain::analysis::waits
