#include "mpi/output_length.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace refrain::mpi {
namespace {

// The name of what says how long it is.
std::string length_of(std::string_view function, std::string_view param) {
  const CallInfo* const info = find_call(function);
  if (info == nullptr) return "no such function";
  for (size_t i = 0; i < info->params.size(); ++i) {
    if (info->params[i].name != param) continue;
    const int at = output_length(info->id, i);
    return at < 0 ? "" : std::string(info->params[static_cast<size_t>(at)].name);
  }
  return "no such parameter";
}

TEST(OutputLength, IsAParameter) {
  EXPECT_EQ(length_of("MPI_Waitall", "array_of_statuses"), "count");
  EXPECT_EQ(length_of("MPI_Group_translate_ranks", "ranks2"), "n");
  EXPECT_EQ(length_of("MPI_Info_get_string", "value"), "buflen");
}

TEST(OutputLength, IsTheLesserOfAParameterAndWhatThereIs) {
  EXPECT_EQ(length_of("MPI_Cart_get", "periods"), "maxdims");
  EXPECT_EQ(length_of("MPI_Graph_neighbors", "neighbors"), "maxneighbors");
  EXPECT_EQ(length_of("MPI_Type_get_contents", "array_of_addresses"), "max_addresses");
  EXPECT_EQ(length_of("MPI_Dist_graph_neighbors", "destweights"), "maxoutdegree");
}

TEST(OutputLength, OfThoseThatCompletedIsHowManyWereGiven) {
  for (const char* function : {"MPI_Waitsome", "MPI_Testsome", "MPI_Request_get_status_some"}) {
    EXPECT_EQ(length_of(function, "array_of_indices"), "incount") << function;
    EXPECT_EQ(length_of(function, "array_of_statuses"), "incount") << function;
  }
}

TEST(OutputLength, IsNotTold) {
  EXPECT_EQ(length_of("MPI_Comm_get_name", "comm_name"), "");
  EXPECT_EQ(length_of("MPI_Recv_c", "status"), "");
  EXPECT_EQ(length_of("MPI_Comm_spawn", "array_of_errcodes"), "");
}

// Every array that a call fills has a parameter for its length, but for those that spawn jobs: they
// have as many elements as the other ranks say.
TEST(OutputLength, OfEveryArray) {
  for (const CallInfo& info : all_calls()) {
    if (info.name.starts_with("MPI_Comm_spawn")) continue;
    for (size_t i = 0; i < info.params.size(); ++i)
      if (info.params[i].is_array && info.params[i].direction != Direction::kIn) {
        EXPECT_GE(output_length(info.id, i), 0) << info.name << " " << info.params[i].name;
      }
  }
}

}  // namespace
}  // namespace refrain::mpi
