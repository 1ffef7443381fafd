#include "mpi/call_filter.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace refrain::mpi {
namespace {

bool keeps(const CallFilter& filter, const char* name) {
  const CallInfo* call = find_call(name);
  EXPECT_NE(call, nullptr) << name;
  return call != nullptr && filter.keeps(call->id);
}

void expect(const CallFilter& filter, bool kept, std::initializer_list<const char*> names) {
  for (const char* name : names) EXPECT_EQ(keeps(filter, name), kept) << name;
}

CallFilter made(const char* only, const char* without) {
  auto filter = CallFilter::parse(only, without);
  EXPECT_TRUE(filter.ok());
  return filter.ok() ? *filter : CallFilter();
}

std::string error(const char* only, const char* without = "") {
  const auto filter = CallFilter::parse(only, without);
  EXPECT_FALSE(filter.ok()) << only << without;
  return filter.ok() ? "" : filter.error().message;
}

TEST(CallFilter, NothingSaidKeepsAll) {
  const CallFilter filter = made("", "");
  EXPECT_FALSE(filter.leaves_out());
  for (const CallInfo& call : all_calls()) EXPECT_TRUE(filter.keeps(call.id)) << call.name;
}

TEST(CallFilter, MessagesAreKeptAsAWhole) {
  const CallFilter filter = made("p2p", "");
  expect(filter, true,
         {"MPI_Send", "MPI_Send_c", "MPI_Recv", "MPI_Sendrecv", "MPI_Imrecv", "MPI_Send_init",
          "MPI_Precv_init", "MPI_Wait", "MPI_Testsome", "MPI_Start", "MPI_Pready", "MPI_Init",
          "MPI_Finalize", "MPI_Pcontrol", "refrain_region_begin"});
  expect(filter, false,
         {"MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_init", "MPI_Comm_dup", "MPI_Put", "MPI_Comm_rank",
          "MPI_Grequest_start"});
  for (const CallInfo& call : all_calls()) {
    if (call.traffic != Traffic::kSend && call.traffic != Traffic::kRecv) continue;
    EXPECT_TRUE(filter.keeps(call.id)) << call.name;
  }
}

TEST(CallFilter, WordsAddUpAndWithoutWins) {
  const CallFilter filter = made("coll,MPI_Comm_dup,p2p", "MPI_Barrier,MPI_Iprobe");
  expect(filter, true, {"MPI_Bcast", "MPI_Allreduce_init", "MPI_Comm_dup", "MPI_Send"});
  expect(filter, false, {"MPI_Barrier", "MPI_Iprobe", "MPI_Comm_split"});
  expect(made("", "io"), false, {"MPI_File_open", "MPI_File_read_c"});
  expect(made("", "io"), true, {"MPI_Send", "MPI_Comm_rank"});
}

TEST(CallFilter, HalfAMessageIsNoWord) {
  for (const char* word : {"MPI_Send", "MPI_Irecv", "MPI_Recv_c", "MPI_Mprobe", "MPI_Psend_init"}) {
    EXPECT_NE(error(word).find("one end"), std::string::npos) << word;
    EXPECT_NE(error("", word).find("one end"), std::string::npos) << word;
  }
  for (const char* word : {"MPI_Wait", "MPI_Start"})
    EXPECT_NE(error(word).find("follows"), std::string::npos) << word;
  EXPECT_NE(error("MPI_Init").find("always"), std::string::npos);
}

TEST(CallFilter, UnknownWordsAreNamed) {
  EXPECT_NE(error("p2p,colls").find("'colls'; did you mean 'coll'? (groups: p2p, "),
            std::string::npos);
  EXPECT_NE(error("MPI_Sendd").find("'MPI_Sendd'; did you mean 'MPI_Send'? (groups: p2p, "),
            std::string::npos);
  EXPECT_NE(error("", "everything").find("'everything' (groups: p2p, "), std::string::npos);
  EXPECT_NE(error("", "completion").find("'completion'"), std::string::npos);
  EXPECT_NE(error(",p2p").find("''"), std::string::npos);
}

}  // namespace
}  // namespace refrain::mpi
