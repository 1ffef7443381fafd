#include "refrain/value.h"

#include <gtest/gtest.h>

namespace refrain {
namespace {

Value run_of(Value element, uint64_t repeat, int64_t step = 0) {
  element.repeat = repeat;
  element.step = step;
  return element;
}

Value sample_array() {
  Value array;
  array.kind = ValueKind::kArray;
  array.items.push_back(run_of(Value::integer(10), 3, 5));  // 10, 15, 20
  array.items.push_back(run_of(Value::constant("MPI_PROC_NULL"), 2));
  array.items.push_back(Value::integer(-1));
  return array;
}

TEST(Value, ArraysOfRunsAreReadByElement) {
  const Value array = sample_array();
  ASSERT_EQ(array.size(), 6u);
  EXPECT_EQ(array.at(0), Value::integer(10));
  EXPECT_EQ(array.at(2), Value::integer(20));
  EXPECT_EQ(array.at(3).name(), "MPI_PROC_NULL");
  EXPECT_EQ(array.at(5), Value::integer(-1));
  EXPECT_TRUE(array.at(6).is_null());
}

TEST(Value, ForEachVisitsWhatAtGives) {
  const Value array = sample_array();
  uint64_t i = 0;
  array.for_each([&](const Value& element) {
    Value plain = element;
    plain.repeat = 1;
    EXPECT_EQ(plain, array.at(i)) << i;
    ++i;
  });
  EXPECT_EQ(i, array.size());
}

TEST(Value, RunsOfEqualElementsAreVisitedOnce) {
  std::vector<uint64_t> counts;
  sample_array().for_each_run([&](const Value&, uint64_t count) { counts.push_back(count); });
  EXPECT_EQ(counts, (std::vector<uint64_t>{1, 1, 1, 2, 1}));
}

TEST(Value, OtherKindsHaveNoElementsAndNoName) {
  const Value v = Value::integer(7);
  EXPECT_EQ(v.size(), 0u);
  EXPECT_TRUE(v.at(0).is_null());
  EXPECT_TRUE(v.name().empty());
  EXPECT_TRUE(v.source().is_null());
  EXPECT_EQ(v.integer_or(0), 7);
  EXPECT_EQ(Value().integer_or(3), 3);
}

TEST(Value, AChangedParameterHasTwoValues) {
  Value changed;
  changed.kind = ValueKind::kChanged;
  changed.items = {Value::integer(2), Value::integer(1)};
  EXPECT_EQ(changed.at_exit(), Value::integer(2));
  EXPECT_EQ(changed.at_entry(), Value::integer(1));
  EXPECT_EQ(Value::integer(5).at_entry(), Value::integer(5));
}

TEST(Value, NamesThatThisVersionDoesNotKnowGiveNoConstant) {
  EXPECT_TRUE(Value::constant("MPI_NO_SUCH_THING").is_null());
  EXPECT_TRUE(Value::constant(ConstantId{4000000000}).name().empty());
}

TEST(Value, RequestsOfARunHaveAStep) {
  Value run;
  run.kind = ValueKind::kRequest;
  run.id = 7;
  run.repeat = 3;
  run.step = -2;
  Value array;
  array.kind = ValueKind::kArray;
  array.items = {run};
  std::vector<uint32_t> ids;
  array.for_each([&](const Value& v) { ids.push_back(v.id); });
  EXPECT_EQ(ids, (std::vector<uint32_t>{7, 5, 3}));
  EXPECT_EQ(array.at(1).id, 5u);
  EXPECT_EQ(array.at(1).number, 0);
  EXPECT_EQ(array.at(1).step, 0);
}

}  // namespace
}  // namespace refrain
