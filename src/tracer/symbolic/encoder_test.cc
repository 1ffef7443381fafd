// The Encoder against a made-up MPI: what parameters become.
#include "tracer/symbolic/encoder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "format/signatures/walk.h"
#include "mpi/call_ids.h"
#include "mpi/constant_ids.h"
#include "tracer/symbolic/objects.h"
#include "tracer/variants/testing/test_rank.h"

namespace refrain::tracer {
namespace {

namespace fake = mpi_runtime::fake;
using format::Field;
using testing::TestRank;

constexpr uint32_t kNoSite = UINT32_MAX;
constexpr uint64_t kRequest = 70, kOtherRequest = 71;

// What a reader makes of the bytes.
std::vector<Field> fields_of(const Encoder& e) {
  const auto split = format::split_signature(e.bytes());
  EXPECT_TRUE(split.has_value());
  if (!split) return {};
  const auto fields = format::parse_fields(split->shape, split->values);
  EXPECT_TRUE(fields.has_value());
  return fields ? fields->parameters : std::vector<Field>();
}

template <class Write>
std::string bytes_of(Encoder& e, Write write) {
  e.start(mpi::kMPI_Send, kNoSite);
  write();
  return std::string(e.bytes());
}

// A call that made a request: its terminal is the next one.
template <class Write>
uint32_t request_call(TestRank& rank, Encoder& e, uint64_t* request, Write write) {
  e.start(mpi::kMPI_Irecv, kNoSite);
  write();
  e.new_request(request, RequestTraits{.is_receive = true});
  const uint32_t hash = InternTable::hash_of(e.bytes());
  const uint32_t known = rank->signatures.find(e.bytes(), hash);
  const uint32_t terminal =
      known != InternTable::kMissing ? known : rank->make_terminal(e.bytes(), hash);
  e.call_has_terminal(terminal);
  return terminal;
}

TEST(Encoder, RanksAndTagsHaveNames) {
  TestRank rank;
  Encoder e(rank.location());
  e.start(mpi::kMPI_Recv, kNoSite);
  e.rank(3);
  e.rank(fake::kAnySource);
  e.rank(fake::kProcNull);
  e.tag(fake::kAnyTag);
  e.undefined_or(fake::kUndefined);
  e.tag(17);
  const auto fields = fields_of(e);
  ASSERT_EQ(fields.size(), 6u);
  EXPECT_EQ(fields[0].tag, Tag::kInt);
  EXPECT_EQ(fields[0].value, 3);
  EXPECT_EQ(fields[1].number, mpi::kConst_MPI_ANY_SOURCE);
  EXPECT_EQ(fields[2].number, mpi::kConst_MPI_PROC_NULL);
  EXPECT_EQ(fields[3].number, mpi::kConst_MPI_ANY_TAG);
  EXPECT_EQ(fields[4].number, mpi::kConst_MPI_UNDEFINED);
  EXPECT_EQ(fields[5].value, 17);
}

TEST(Encoder, ShortArraysHaveOneFormForAllValuesAndLongOnesRuns) {
  TestRank rank;
  Encoder e(rank.location());
  const int regular[4] = {0, 1, 2, 3}, other[4] = {9, 9, 2, 7};
  const std::string a = bytes_of(e, [&] { e.int_array(regular, 4); });
  const std::string b = bytes_of(e, [&] { e.int_array(other, 4); });
  EXPECT_EQ(a.size(), b.size());
  std::vector<int> many(1000);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int>(3 * i);
  const std::string runs = bytes_of(e, [&] { e.int_array(many.data(), 1000); });
  EXPECT_LT(runs.size(), 20u);
}

TEST(Encoder, EqualNeighboursOfAnArrayAreStoredOnce) {
  TestRank rank;
  Encoder e(rank.location());
  const uint64_t same[6] = {fake::kInt, fake::kInt, fake::kInt, fake::kInt, fake::kInt, fake::kInt};
  const std::string six = bytes_of(e, [&] { e.handle_array(Kind::kDatatype, same, 6); });
  const std::string two = bytes_of(e, [&] { e.handle_array(Kind::kDatatype, same, 2); });
  EXPECT_EQ(six.size(), two.size());
}

TEST(Encoder, CommunicatorsAreCountedByFamily) {
  TestRank rank(1, 4);
  define_world(*rank);
  Encoder e(rank.location());
  fake::enter_comm(10, {0, 1, 2, 3});
  fake::enter_comm(11, {1, 2});
  e.start(mpi::kMPI_Comm_dup, kNoSite);
  e.new_comm(fake::kWorld, uint64_t{10});
  EXPECT_EQ(fake::mpi().agreements, 0) << "a duplicate needs no word of the others";
  e.new_comm(fake::kWorld, uint64_t{11});
  EXPECT_EQ(fake::mpi().agreements, 1);
  EXPECT_EQ(e.comm_size(uint64_t{10}), 4);
  EXPECT_TRUE(e.is_root(uint64_t{11}, 0));
  EXPECT_FALSE(e.is_root(uint64_t{10}, 0));
  // Freed, the number of the duplicate is free again, and its definition that of the next one.
  const Captured first = e.lookup(Kind::kComm, 10);
  e.release(Kind::kComm, first);
  EXPECT_EQ(e.lookup(Kind::kComm, 10).what, Captured::What::kNone);
  fake::enter_comm(12, {0, 1, 2, 3});
  e.new_comm(fake::kWorld, uint64_t{12});
  EXPECT_EQ(e.lookup(Kind::kComm, 12).index, first.index);
}

TEST(Encoder, AHandleThatIsGivenOutTwiceIsThereUntilItIsFreedTwice) {
  for (const Kind kind : {Kind::kGroup, Kind::kErrhandler}) {
    TestRank rank;
    Encoder e(rank.location());
    e.start(mpi::kMPI_Comm_group, kNoSite);
    e.new_handle(kind, uint64_t{30});  // as MPI_Comm_group and MPI_Comm_get_errhandler do
    e.new_handle(kind, uint64_t{30});
    const Captured both = e.lookup(kind, 30);
    ASSERT_EQ(both.what, Captured::What::kDefinition);
    e.release(kind, both);
    EXPECT_EQ(e.lookup(kind, 30).index, both.index) << "the program has the other one";
    e.release(kind, both);
    EXPECT_EQ(e.lookup(kind, 30).what, Captured::What::kNone);
    // Its number is the next one's.
    e.new_handle(kind, uint64_t{31});
    EXPECT_EQ(e.lookup(kind, 31).index, both.index);
  }
}

TEST(Encoder, DatatypesAreTheirConstruction) {
  TestRank rank;
  Encoder e(rank.location());
  fake::mpi().shapes[20] = {8, 0, 16};
  fake::mpi().contents[20].types = {fake::kInt};
  e.start(mpi::kMPI_Type_vector, kNoSite);
  e.new_datatype(uint64_t{20});
  const Captured made = e.lookup(Kind::kDatatype, 20);
  ASSERT_EQ(made.what, Captured::What::kDefinition);
  EXPECT_EQ(rank->definition(made.index).refs.size(), 1u);
  EXPECT_EQ(fake::mpi().given_back, std::vector<uint64_t>{fake::kInt});
}

TEST(Encoder, RequestsAreTheirCallAndAPositionAmongItsKind) {
  TestRank rank;
  Encoder e(rank.location());
  uint64_t first = kRequest, second = kOtherRequest;
  const auto from_3 = [&] { e.rank(3); };
  const uint32_t a = request_call(rank, e, &first, from_3);
  const uint32_t b = request_call(rank, e, &second, from_3);
  EXPECT_NE(a, b) << "two at a time have two positions";
  e.start(mpi::kMPI_Wait, kNoSite);
  e.request(first, &first);
  e.request(second, &second);
  e.request(uint64_t{99}, nullptr);
  e.request(fake::kNull, nullptr);
  const auto fields = fields_of(e);
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].tag, Tag::kRequest);
  EXPECT_EQ(fields[0].number, a);
  EXPECT_EQ(fields[1].number, b);
  EXPECT_EQ(fields[2].tag, Tag::kNone) << "nobody knows it";
  EXPECT_EQ(fields[3].number, mpi::kConst_MPI_REQUEST_NULL);
  // Over, its position is the next one's.
  RequestTable& table = rank.location().requests->table;
  table.remove(*table.find_and_claim(first, &first));
  EXPECT_EQ(request_call(rank, e, &first, from_3), a);
}

TEST(Encoder, ARequestOfACallThatIsLeftOutGetsATerminalWhenItIsNamed) {
  TestRank rank;
  Encoder e(rank.location());
  uint64_t request = kRequest;
  e.start(mpi::kMPI_Irecv, kNoSite);
  e.leave_out(true);
  e.new_request(&request, RequestTraits{});
  e.call_is_left_out();
  EXPECT_EQ(rank->signatures.size(), 0u);
  EXPECT_TRUE(e.is_filtered_request(request));
  e.start(mpi::kMPI_Wait, kNoSite);
  e.request(request, &request);
  EXPECT_EQ(rank->signatures.size(), 1u);
  EXPECT_EQ(fields_of(e).at(0).tag, Tag::kRequest);
}

TEST(Encoder, AStatusIsWhomTheMessageIsFrom) {
  TestRank rank;
  Encoder e(rank.location());
  const fake::Status status{2, 5};
  e.start(mpi::kMPI_Recv, kNoSite);
  e.status(&status, StatusHow::kMessage);
  e.status(&status, StatusHow::kUndefined);
  e.status(static_cast<const fake::Status*>(nullptr), StatusHow::kMessage);
  const auto fields = fields_of(e);
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].tag, Tag::kStatus);
  EXPECT_EQ(fields[1].tag, Tag::kNone);
  EXPECT_EQ(fields[2].number, mpi::kConst_MPI_STATUS_IGNORE);
}

}  // namespace
}  // namespace refrain::tracer
