#include "events/elements.h"

#include <gtest/gtest.h>

#include <random>

#include "events/op.h"
#include "mpi/call_ids.h"
#include "reader/test_trace.h"

namespace refrain::events {
namespace {

Value elements_of(std::vector<Value> runs) {
  Value out;
  out.kind = ValueKind::kArray;
  out.items = std::move(runs);
  return out;
}

Value equal_steps(int64_t start, int64_t step, uint64_t count) {
  Value out = Value::integer(start);
  out.step = step;
  out.repeat = count;
  return out;
}

TEST(Elements, AreThoseOfTheArrayInAnyOrder) {
  const Value array = elements_of(
      {equal_steps(3, 0, 4), equal_steps(1, 2, 3), equal_steps(9, 0, 1), equal_steps(5, -1, 6)});
  Elements elements(array);
  for (uint64_t i = 0; i < 17; ++i) EXPECT_EQ(elements.at(i), array.at(i)) << i;
  std::mt19937_64 random(1);
  for (int n = 0; n < 500; ++n) {
    const uint64_t i = random() % 17;
    EXPECT_EQ(elements.at(i), array.at(i)) << i;
  }
  const Value one = Value::integer(7);
  EXPECT_TRUE(Elements(one).at(0).is_null());
}

// A call that completes 100 000 requests, each with a status of its own. (Looking from the first
// run for each of them takes 10 s.)
TEST(Decoder, GivesEachRequestItsOwnStatus) {
  reader::TraceBuilder builder(1);
  const uint32_t site = builder.site("app", "id", 1);
  reader::ShapeWriter receive("MPI_Irecv");
  receive.object(site).none().integer(1).none().none().none().none().new_request(0);
  const uint32_t irecv = builder.signature(receive);
  builder.group({0}, {irecv});
  const Trace trace = builder.open();
  RankReader reader(trace, 0);
  CommTable comms(trace);
  Decoder::Places places;
  Decoder decoder(reader, comms, places);

  constexpr int64_t kRequests = 100'000;
  std::vector<Value> requests, statuses;
  for (int64_t i = 0; i < kRequests; ++i) {
    Value& request = requests.emplace_back();
    request.kind = ValueKind::kRequest;
    request.id = irecv;
    request.number = i;
    statuses.push_back(Value::status(Value::integer(i % 7), Value::integer(i)));
  }
  Signature all;
  all.id = SignatureId(1);
  all.call = mpi::kMPI_Waitall;
  all.name = "MPI_Waitall";
  all.args = {{"count", Value::integer(kRequests)},
              {"array_of_requests", elements_of(requests)},
              {"array_of_statuses", elements_of(statuses)}};
  const Op& op = decoder.op(all);
  ASSERT_EQ(op.requests.size(), static_cast<size_t>(kRequests));
  EXPECT_EQ(op.requests[77'777].tag, 77'777);
  EXPECT_EQ(op.requests[77'777].source, 77'777 % 7);
}

}  // namespace
}  // namespace refrain::events
