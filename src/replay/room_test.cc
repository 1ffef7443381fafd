#include "replay/room.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace refrain::replay {
namespace {

Value integer(int64_t number, uint64_t repeat = 1) {
  Value value;
  value.kind = ValueKind::kInteger;
  value.number = number;
  value.repeat = repeat;
  return value;
}

Value array_of(uint64_t count) {
  Value value;
  value.kind = ValueKind::kArray;
  value.items.push_back(integer(0, count));
  return value;
}

size_t room(std::string_view function, std::string_view output,
            const std::map<std::string_view, Value>& values) {
  const mpi::CallInfo& info = *mpi::find_call(function);
  Signature call;
  call.call = info.id;
  size_t at = 0;
  for (size_t i = 0; i < info.params.size(); ++i) {
    Argument argument;
    argument.name = info.params[i].name;
    if (const auto known = values.find(argument.name); known != values.end())
      argument.value = known->second;
    if (argument.name == output) at = i;
    call.args.push_back(std::move(argument));
  }
  return room_of(call, info, at);
}

TEST(Room, OfASingleOutputIsOne) {
  const int64_t large = 2147483647;
  EXPECT_EQ(room("MPI_Recv", "status", {{"count", integer(1 << 20)}, {"tag", integer(large)}}), 1u);
  EXPECT_EQ(room("MPI_File_read_at", "status", {{"offset", integer(large)}}), 1u);
  EXPECT_EQ(room("MPI_Iprobe", "flag", {{"tag", integer(large)}}), 1u);
  EXPECT_EQ(room("MPI_Mrecv", "message", {{"count", integer(large)}}), 1u);
}

TEST(Room, OfAnArrayIsWhatTheCallNames) {
  for (const auto& [function, output, length] :
       {std::tuple{"MPI_Waitall", "array_of_statuses", "count"},
        {"MPI_Waitsome", "array_of_indices", "incount"},
        {"MPI_Testsome", "array_of_statuses", "incount"},
        {"MPI_Cart_get", "coords", "maxdims"},
        {"MPI_Graph_get", "edges", "maxedges"},
        {"MPI_Type_get_contents", "array_of_datatypes", "max_datatypes"},
        {"MPI_Dist_graph_neighbors", "sourceweights", "maxindegree"},
        {"MPI_Group_translate_ranks", "ranks2", "n"}}) {
    EXPECT_GE(room(function, output, {{length, integer(5000)}}), 5000u) << function;
    EXPECT_LT(room(function, output, {{length, integer(5000)}}), 6000u) << function;
    EXPECT_GE(room(function, output, {{length, integer(-1)}}), 1u) << function;
  }
  // Another number is no length.
  EXPECT_LT(room("MPI_Graph_neighbors", "neighbors",
                 {{"maxneighbors", integer(3)}, {"rank", integer(100000)}}),
            1000u);
}

TEST(Room, IsNeverLessThanRecorded) {
  EXPECT_GE(room("MPI_Cart_get", "dims", {{"maxdims", integer(1)}, {"dims", array_of(700)}}), 700u);
  // Of a test that failed, which has no statuses.
  const uint64_t requests = 3 << 20;
  EXPECT_GE(room("MPI_Testall", "array_of_statuses",
                 {{"count", integer(requests)}, {"array_of_requests", array_of(requests)}}),
            requests);
}

TEST(Room, OfWhatTheTraceAloneSaysHasABound) {
  EXPECT_LT(room("MPI_Cart_get", "dims", {{"maxdims", integer(INT64_MAX)}}), size_t{2} << 20);
}

TEST(Room, OfAStringHasAsManyBytesAsACallMayName) {
  EXPECT_GE(room("MPI_Info_get_string", "value", {{"buflen", integer(100000)}}), 100000u);
  EXPECT_GE(room("MPI_Info_get", "value", {{"valuelen", integer(100000)}}), 100001u);
  EXPECT_GE(room("MPI_Get_processor_name", "name", {}), 8192u);
  EXPECT_GE(room("MPI_T_cvar_get_info", "desc", {{"desc_len", integer(50000)}}), 50000u);
}

TEST(Room, WhereTheTableDoesNotTellIsWhatAnyNumberOfTheCallAllows) {
  EXPECT_GE(room("MPI_Comm_spawn", "array_of_errcodes", {{"maxprocs", integer(3000)}}), 3000u);
}

}  // namespace
}  // namespace refrain::replay
