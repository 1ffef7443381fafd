#include "mpi/call_table.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "mpi/call_ids.h"
#include "mpi/constant_ids.h"

namespace refrain::mpi {
namespace {

TEST(CallTable, IdsAscendAndAreFoundAgain) {
  int last = 0;
  for (const CallInfo& call : all_calls()) {
    EXPECT_GT(call.id, last) << call.name;
    last = call.id;
    EXPECT_EQ(find_call(call.id), &call) << call.name;
  }
}

TEST(CallTable, NamesAreUniqueAndAreFoundAgain) {
  std::set<std::string_view> names;
  for (const CallInfo& call : all_calls()) {
    EXPECT_TRUE(names.insert(call.name).second) << call.name;
    EXPECT_EQ(find_call(call.name), &call);
  }
}

TEST(CallTable, UnknownCallsAreNull) {
  EXPECT_EQ(find_call(CallId{0}), nullptr);
  EXPECT_EQ(find_call(CallId{0xffff}), nullptr);
  EXPECT_EQ(find_call("MPI_Nothing"), nullptr);
  EXPECT_EQ(find_call(""), nullptr);
}

// Ids are written into traces: these must never change.
TEST(CallTable, WellKnownIdsStay) {
  EXPECT_EQ(kMPI_Send, 1);
  EXPECT_EQ(kMPI_Isend, 3);
  EXPECT_EQ(kMPI_Waitall, 6);
  EXPECT_EQ(kMPI_Barrier, 40);
  EXPECT_EQ(kMPI_Send_c, 1001);
  EXPECT_EQ(kConst_NULL, 1u);
  EXPECT_EQ(kConst_MPI_PROC_NULL, 2u);
  EXPECT_EQ(kConst_MPI_COMM_WORLD, 11u);
}

TEST(CallTable, ParameterNamesAreUniqueWithinACall) {
  for (const CallInfo& call : all_calls()) {
    std::set<std::string_view> names;
    for (const ParamInfo& param : call.params) {
      EXPECT_TRUE(names.insert(param.name).second) << call.name << " " << param.name;
    }
  }
}

void expect_kinds(const CallInfo& call, int index, std::set<ParamKind> kinds) {
  if (index < 0) return;
  ASSERT_LT(static_cast<size_t>(index), call.params.size()) << call.name;
  const ParamInfo& param = call.params[static_cast<size_t>(index)];
  EXPECT_TRUE(kinds.count(param.kind)) << call.name << " " << param.name;
}

TEST(CallTable, TrafficParametersHaveFittingKinds) {
  for (const CallInfo& call : all_calls()) {
    expect_kinds(call, call.count_param, {ParamKind::kCount, ParamKind::kInt});
    expect_kinds(call, call.times_param, {ParamKind::kInt});
    expect_kinds(call, call.type_param, {ParamKind::kDatatype});
    expect_kinds(call, call.peer_param, {ParamKind::kRank});
    expect_kinds(call, call.tag_param, {ParamKind::kTag});
    expect_kinds(call, call.comm_param, {ParamKind::kComm});
    expect_kinds(call, call.root_param, {ParamKind::kRank});
  }
}

TEST(CallTable, TrafficHasTheParametersThatItNeeds) {
  for (const CallInfo& call : all_calls()) {
    const bool vector = call.traffic == Traffic::kCollVector ||
                        call.traffic == Traffic::kCollVectorRoot || call.traffic == Traffic::kCollW;
    const bool bare = call.traffic == Traffic::kNothing || call.traffic == Traffic::kStart;
    EXPECT_EQ(bare, call.type_param < 0) << call.name;
    if (vector) {
      EXPECT_TRUE(call.params[static_cast<size_t>(call.count_param)].is_array) << call.name;
    } else if (call.count_param >= 0) {
      EXPECT_FALSE(call.params[static_cast<size_t>(call.count_param)].is_array) << call.name;
    }
    if (call.traffic == Traffic::kSend || call.traffic == Traffic::kRma) {
      EXPECT_GE(call.peer_param, 0) << call.name;
    }
    if (call.traffic == Traffic::kBcast || call.traffic == Traffic::kCollRoot ||
        call.traffic == Traffic::kCollVectorRoot) {
      EXPECT_GE(call.root_param, 0) << call.name;
    }
  }
}

TEST(CallTable, PersistentCallsEndWithInit) {
  for (const CallInfo& call : all_calls()) {
    const std::string name(call.name);
    const bool init = name.ends_with("_init") || name.ends_with("_init_c");
    const bool makes_request = name != "MPI_Session_init" && name != "MPIX_Threadcomm_init";
    EXPECT_EQ(call.persistent, init && makes_request) << name;
  }
}

TEST(CallTable, LargeVariantsShareTheParametersOfTheirBase) {
  int count = 0;
  for (const CallInfo& call : all_calls()) {
    if (call.id < 1000) continue;
    const CallInfo* base = find_call(static_cast<CallId>(call.id - 1000));
    ASSERT_NE(base, nullptr) << call.name;
    EXPECT_EQ(std::string(base->name) + "_c", call.name);
    EXPECT_EQ(base->params.data(), call.params.data());
    ++count;
  }
  EXPECT_GT(count, 150);
}

TEST(CallTable, OneCallInFull) {
  const CallInfo* call = find_call(kMPI_Alltoallv);
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->name, "MPI_Alltoallv");
  EXPECT_EQ(to_string(call->group), "coll");
  EXPECT_EQ(call->traffic, Traffic::kCollVector);
  ASSERT_EQ(call->params.size(), 9u);
  EXPECT_EQ(call->params[1].name, "sendcounts");
  EXPECT_TRUE(call->params[1].is_array);
  EXPECT_EQ(call->count_param, 1);
  EXPECT_EQ(call->type_param, 3);
  EXPECT_EQ(call->comm_param, 8);
  EXPECT_EQ(call->return_kind, "error");
}

TEST(Constants, NamesAndIdsBelongTogether) {
  uint32_t found = 0;
  for (uint32_t id = 0; id < 2 * constant_count(); ++id) {
    const std::string_view name = constant_name(id);
    if (name.empty()) continue;
    EXPECT_EQ(constant_id(name), id) << name;
    ++found;
  }
  EXPECT_EQ(found, constant_count());
}

TEST(Constants, UnknownOnesAreNone) {
  EXPECT_TRUE(constant_name(0).empty());
  EXPECT_TRUE(constant_name(1u << 30).empty());
  EXPECT_EQ(constant_id("MPI_NOTHING"), 0u);
  EXPECT_EQ(constant_name(kConst_MPI_ANY_SOURCE), "MPI_ANY_SOURCE");
}

}  // namespace
}  // namespace refrain::mpi
