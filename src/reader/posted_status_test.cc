#include "reader/posted_status.h"

#include <gtest/gtest.h>

namespace refrain::reader {
namespace {

Value request(SignatureId id, uint64_t repeat = 1) {
  Value value;
  value.kind = ValueKind::kRequest;
  value.id = id;
  value.repeat = repeat;
  return value;
}

Value posted(uint64_t repeat) {
  Value value = posted_placeholder();
  value.repeat = repeat;
  return value;
}

Value array(std::vector<Value> items) {
  Value value;
  value.kind = ValueKind::kArray;
  value.items = std::move(items);
  return value;
}

// Request n was made by a receive from source n with tag 10 n.
const Value& message_of(SignatureId id) {
  static std::vector<Value> messages;
  messages.assign(1, Value::status(Value::integer(id), Value::integer(10 * id)));
  return messages[0];
}

std::vector<int64_t> sources(const Value& statuses) {
  std::vector<int64_t> result;
  statuses.for_each([&](const Value& s) { result.push_back(s.source().integer_or(-9)); });
  return result;
}

TEST(PostedStatus, GoesByPositionInTheRequests) {
  Signature waitall;
  waitall.args = {{"array_of_requests", array({request(1, 2), request(3), request(4, 2)})},
                  {"array_of_statuses", array({posted(4), Value()})}};
  fill_posted_statuses(waitall, message_of);
  EXPECT_EQ(sources(waitall.args[1].value), (std::vector<int64_t>{1, 1, 3, 4, -9}));
  EXPECT_EQ(waitall.args[1].value.items.size(), 4u) << "equal statuses stay one run";
}

TEST(PostedStatus, GoesByIndexWhereTheCallSaysWhichCompleted) {
  Value descending = Value::integer(4);
  descending.repeat = 3;
  descending.step = -2;  // 4, 2, 0
  Signature waitsome;
  waitsome.args = {{"array_of_requests", array({request(1, 2), request(3), request(4, 2)})},
                   {"array_of_indices", array({descending})},
                   {"array_of_statuses", array({posted(3)})}};
  fill_posted_statuses(waitsome, message_of);
  EXPECT_EQ(sources(waitsome.args[2].value), (std::vector<int64_t>{4, 3, 1}));
}

TEST(PostedStatus, AnIndexOutOfRangeGivesNull) {
  Signature waitsome;
  waitsome.args = {{"array_of_requests", array({request(1)})},
                   {"array_of_indices", array({Value::integer(-3)})},
                   {"array_of_statuses", array({posted(1), posted(1)})}};
  fill_posted_statuses(waitsome, message_of);
  EXPECT_EQ(sources(waitsome.args[2].value), (std::vector<int64_t>{-9, -9}));
}

TEST(PostedStatus, WaitanyLooksUpTheOneThatCompleted) {
  Signature waitany;
  waitany.args = {{"array_of_requests", array({request(1), request(6)})},
                  {"index", Value::integer(1)},
                  {"status", posted_placeholder()}};
  fill_posted_statuses(waitany, message_of);
  EXPECT_EQ(waitany.args[2].value, Value::status(Value::integer(6), Value::integer(60)));
}

TEST(PostedStatus, AReceiveAskedForItItself) {
  Signature sendrecv;
  sendrecv.args = {{"sendtag", Value::integer(1)},
                   {"source", Value::constant("MPI_PROC_NULL")},
                   {"recvtag", Value::integer(2)},
                   {"status", posted_placeholder()}};
  fill_posted_statuses(sendrecv, message_of);
  EXPECT_EQ(sendrecv.args[3].value.source().name(), "MPI_PROC_NULL");
  EXPECT_EQ(sendrecv.args[3].value.tag(), Value::integer(2));
}

}  // namespace
}  // namespace refrain::reader
