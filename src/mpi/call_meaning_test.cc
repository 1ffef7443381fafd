#include "mpi/call_meaning.h"

#include <gtest/gtest.h>

#include <string>

#include "mpi/call_ids.h"

namespace refrain::mpi {
namespace {

TEST(CallMeaning, EveryFunctionHasOne) {
  for (const CallInfo& call : all_calls()) {
    const CallMeaning& meaning = meaning_of(call.id);
    EXPECT_NE(meaning.does, 0) << call.name;
    EXPECT_EQ(meaning.does_any(kDoesLocal), meaning.does == kDoesLocal) << call.name;
    EXPECT_EQ(meaning.does_any(kDoesCollective),
              meaning.flow != Flow::kNothing || call.id == kMPI_Comm_free)
        << call.name;
    EXPECT_EQ(meaning_of(meaning.plain).plain, meaning.plain) << call.name;
    EXPECT_EQ(call.persistent, meaning.how == How::kPersistent) << call.name;
  }
}

TEST(CallMeaning, EveryFunctionHasAReissueClass) {
  for (const CallInfo& call : all_calls()) {
    const CallMeaning& meaning = meaning_of(call.id);
    EXPECT_EQ(meaning.reissue == Reissue::kRefused, !meaning.refused.empty()) << call.name;
    // Nobody waits for what may be left out.
    if (meaning.reissue == Reissue::kLocal) {
      EXPECT_FALSE(meaning.does_any(kDoesSend | kDoesReceive | kDoesCollective | kDoesAccess |
                                    kDoesEpoch | kDoesStart))
          << call.name;
    }
    // Whoever may learn of a different end is forced to the recorded one.
    if (meaning.how == How::kPolls && !meaning.does_any(kDoesLocal)) {
      EXPECT_EQ(meaning.reissue, Reissue::kForced) << call.name;
    }
    // Nothing of the trace's is called.
    for (const ParamInfo& param : call.params)
      if (param.kind == ParamKind::kFunction && meaning.reissue != Reissue::kRefused) {
        EXPECT_EQ(meaning.reissue, Reissue::kStandIn) << call.name << " " << param.name;
      }
  }
}

TEST(CallMeaning, AFormIsMadeAgainAsItsBlockingFunctionUnlessItSaysSo) {
  EXPECT_EQ(meaning_of(kMPI_Recv).reissue, Reissue::kForced);
  EXPECT_EQ(meaning_of(kMPI_Irecv_c).reissue, Reissue::kForced);
  EXPECT_EQ(meaning_of(kMPI_Wait).reissue, Reissue::kPlain);
  EXPECT_EQ(meaning_of(kMPI_Test).reissue, Reissue::kForced);
  EXPECT_EQ(meaning_of(kMPIX_Wait_enqueue).reissue, Reissue::kRefused);
  EXPECT_EQ(meaning_of(kMPIX_Wait_enqueue).refused, "its stream is of an accelerator");
}

TEST(CallMeaning, OfANobodyKnownFunction) {
  EXPECT_EQ(meaning_of(0xffff).reissue, Reissue::kRefused);
  EXPECT_EQ(meaning_of(0xffff).does, kDoesLocal);
  EXPECT_EQ(plain_call(0xffff), 0xffff);
}

TEST(CallMeaning, FormsOfOneFunction) {
  for (const CallId id : {kMPI_Bcast, kMPI_Ibcast, kMPI_Bcast_init, kMPI_Bcast_c, kMPI_Ibcast_c,
                          kMPI_Bcast_init_c, kMPIX_Bcast_init})
    EXPECT_EQ(plain_call(id), kMPI_Bcast) << find_call(id)->name;
  EXPECT_EQ(plain_call(kMPI_Ineighbor_alltoallw), kMPI_Neighbor_alltoallw);
  EXPECT_EQ(plain_call(kMPI_File_iread_at_all), kMPI_File_read_at_all);
  EXPECT_EQ(plain_call(kMPI_File_read_all_begin), kMPI_File_read_all);
  EXPECT_EQ(meaning_of(kMPI_File_read_all_begin).how, How::kNonblocking);
  EXPECT_EQ(meaning_of(kMPI_Testany).how, How::kPolls);
  EXPECT_EQ(plain_call(kMPI_Testany), kMPI_Waitany);
  EXPECT_EQ(meaning_of(kMPI_Issend_c).mode, SendMode::kSynchronous);
}

// Buffers of a parameter's kind, each once, by parameters of the right kinds.
TEST(CallMeaning, BuffersAreParameters) {
  for (const CallInfo& call : all_calls()) {
    const CallMeaning& meaning = meaning_of(call.id);
    size_t buffers = 0;
    for (const ParamInfo& param : call.params) buffers += param.kind == ParamKind::kBuffer;
    size_t described = 0;
    for (const BufferInfo& buffer : meaning.buffers) {
      const auto kind = [&](int8_t param) { return call.params[static_cast<size_t>(param)].kind; };
      if (buffer.param < 0) {
        EXPECT_TRUE(meaning.does_any(kDoesAccess)) << call.name;
      } else {
        EXPECT_EQ(kind(buffer.param), ParamKind::kBuffer) << call.name;
        ++described;
      }
      if (buffer.type_param >= 0) {
        EXPECT_EQ(kind(buffer.type_param), ParamKind::kDatatype) << call.name;
      }
      if (buffer.displs_param >= 0) {
        EXPECT_EQ(kind(buffer.displs_param), ParamKind::kDisplacement) << call.name;
      }
      if (buffer.extent == Extent::kBlocks) {
        EXPECT_TRUE(call.params[static_cast<size_t>(buffer.count_param)].is_array) << call.name;
      }
      if (buffer.times == Times::kParts) {
        EXPECT_GE(buffer.times_param, 0) << call.name;
      }
    }
    EXPECT_EQ(described, buffers) << call.name;
  }
}

// What a call sends is what it reads: the two columns of spec/mpi/calls agree.
TEST(CallMeaning, TrafficIsOfABufferThatIsRead) {
  for (const CallInfo& call : all_calls()) {
    if (call.traffic == Traffic::kNothing || call.traffic == Traffic::kStart) continue;
    const CallMeaning& meaning = meaning_of(call.id);
    EXPECT_TRUE(
        meaning.does_any(kDoesSend | kDoesReceive | kDoesCollective | kDoesAccess | kDoesFile))
        << call.name;
    bool is_one = false;
    for (const BufferInfo& buffer : meaning.buffers)
      is_one = is_one ||
               (buffer.count_param == call.count_param && buffer.type_param == call.type_param);
    EXPECT_TRUE(is_one) << call.name;
  }
}

}  // namespace
}  // namespace refrain::mpi
