#include "report/trace/call_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reader/test_trace.h"
#include "text/values.h"

namespace refrain::report {
namespace {

using format::FieldTag;
using reader::ShapeWriter;
using reader::TraceBuilder;

struct Sample {
  TraceBuilder builder{2};
  uint32_t receive = 0, open = 0, bcast = 0;

  Sample() {
    const uint32_t world = builder.world();
    const uint32_t type = builder.predefined_type("MPI_INT", 4);
    const uint32_t site = builder.site("/opt/bin/solver", "", 0x1234);
    receive = builder.signature(ShapeWriter("MPI_Recv")
                                    .object(site)
                                    .heap(4, 128)
                                    .integer(10)
                                    .object(type)
                                    .constant("MPI_ANY_SOURCE")
                                    .constant("MPI_ANY_TAG")
                                    .object(world)
                                    .tag(FieldTag::kMatched)
                                    .integer(reader::me_plus_mod_size(1))
                                    .integer(9));
    open = builder.signature(ShapeWriter("MPI_File_open")
                                 .none()
                                 .object(world)
                                 .string(FieldTag::kString, "a \"b\"")
                                 .tag(FieldTag::kBits)
                                 .varint(0)
                                 .varint(2)
                                 .varint(mpi::constant_id("MPI_MODE_CREATE"))
                                 .varint(mpi::constant_id("MPI_MODE_RDWR"))
                                 .constant("MPI_INFO_NULL")
                                 .none()
                                 .tag(FieldTag::kResult)
                                 .array(2)
                                 .repeat(1)
                                 .integer(19)
                                 .repeat(1)
                                 .constant("MPI_ERR_FILE"));
    bcast = builder.signature(ShapeWriter("MPI_Bcast")
                                  .none()
                                  .constant("MPI_BOTTOM")
                                  .tag(FieldTag::kChanged)
                                  .integer(2)
                                  .integer(1)
                                  .object(type)
                                  .integer(0)
                                  .object(world));
    builder.group({0, 1}, {receive, open, bcast, receive});
  }
};

std::string line(const Sample& sample, Rank rank, uint64_t seq, text::Style style) {
  const Trace trace = sample.builder.open();
  RankReader reader(trace, rank);
  CallFormatter formatter(
      trace, style, [&](DefinitionId id) { return text::module_and_offset(*trace.site(id)); });
  Result<Cursor> cursor = reader.cursor(0);
  cursor->seek(seq);
  std::string out;
  EXPECT_TRUE(formatter.append(out, *cursor->next()));
  return out;
}

TEST(CallText, OneLineOfJsonIsTheContract) {
  EXPECT_EQ(line(Sample(), 1, 3, text::Style::kJson),
            R"({"rank":1,"thread":0,"seq":3,"call":"MPI_Recv","args":{"buf":"heap#4+128",)"
            R"("count":10,"datatype":"MPI_INT","source":"MPI_ANY_SOURCE","tag":"MPI_ANY_TAG",)"
            R"("comm":"MPI_COMM_WORLD","status":"MPI_STATUS_IGNORE"},"begin_ns":null,)"
            R"("end_ns":null,"site":"solver+0x1234","matched":{"source":0,"tag":9}})");
}

TEST(CallText, AFailedCallHasItsCodeAndClass) {
  const nlohmann::json call = nlohmann::json::parse(line(Sample(), 0, 1, text::Style::kJson));
  EXPECT_EQ(call["rc"], 19);
  EXPECT_EQ(call["error_class"], "MPI_ERR_FILE");
  EXPECT_EQ(call["args"]["amode"], "MPI_MODE_CREATE|MPI_MODE_RDWR");
  EXPECT_EQ(call["args"]["filename"], "a \"b\"");
  EXPECT_TRUE(call["args"]["fh"].is_null());
  EXPECT_TRUE(call["site"].is_null());
  EXPECT_FALSE(call.contains("matched"));
}

TEST(CallText, AChangedParameterStandsTwice) {
  const nlohmann::json call = nlohmann::json::parse(line(Sample(), 0, 2, text::Style::kJson));
  EXPECT_EQ(call["args"]["count"], 2);
  EXPECT_EQ(call["args"]["count_in"], 1);
  EXPECT_EQ(call["args"]["buffer"], "MPI_BOTTOM");
  EXPECT_FALSE(call.contains("rc"));
}

TEST(CallText, TextIsForPeople) {
  EXPECT_EQ(line(Sample(), 1, 0, text::Style::kText),
            "1.0 0 solver+0x1234 MPI_Recv(buf=heap#4+128, count=10, datatype=MPI_INT, "
            "source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, comm=MPI_COMM_WORLD, "
            "status=MPI_STATUS_IGNORE) matched={source=0, tag=9}");
}

TEST(CallText, EveryRepetitionIsTheSameButForItsNumber) {
  const Sample sample;
  nlohmann::json first = nlohmann::json::parse(line(sample, 0, 0, text::Style::kJson));
  const nlohmann::json last = nlohmann::json::parse(line(sample, 0, 3, text::Style::kJson));
  first["seq"] = 3;
  EXPECT_EQ(first, last);
}

std::string text_of(const Value& value, text::Style style) {
  TraceBuilder builder(1);
  builder.group({0}, {});
  const Trace trace = builder.open();
  std::string out;
  EXPECT_TRUE(text::append_value(out, value, trace, style));
  return out;
}

TEST(ValueText, BuffersAndBytes) {
  Value buffer;
  buffer.kind = ValueKind::kBuffer;
  buffer.id = static_cast<uint32_t>(BufferPlace::kHeap);
  buffer.number = -1;
  EXPECT_EQ(text_of(buffer, text::Style::kJson), "\"heap\"");
  buffer.id = static_cast<uint32_t>(BufferPlace::kStack);
  buffer.number = 1;
  EXPECT_EQ(text_of(buffer, text::Style::kText), "stack#1");
  buffer.id = static_cast<uint32_t>(BufferPlace::kData);
  buffer.offset = -8;
  EXPECT_EQ(text_of(buffer, text::Style::kText), "data#1-8");
  buffer.offset = 64;
  buffer.id = static_cast<uint32_t>(BufferPlace::kManaged);
  EXPECT_EQ(text_of(buffer, text::Style::kText), "managed#1+64");
  buffer.id = static_cast<uint32_t>(BufferPlace::kPinned);
  EXPECT_EQ(text_of(buffer, text::Style::kText), "pinned#1+64");
  buffer.id = static_cast<uint32_t>(BufferPlace::kDevice);
  buffer.number = 3;
  buffer.items.push_back(Value::integer(0));
  EXPECT_EQ(text_of(buffer, text::Style::kText), "device0#3+64");
  Value bytes;
  bytes.kind = ValueKind::kBytes;
  bytes.text = "\x01\xfe";
  EXPECT_EQ(text_of(bytes, text::Style::kJson), "{\"hex\":\"01fe\"}");
  bytes.kind = ValueKind::kString;
  EXPECT_EQ(text_of(bytes, text::Style::kJson), "{\"hex\":\"01fe\"}") << "no UTF-8";
}

TEST(ValueText, ArraysAreWrittenOut) {
  Value run = Value::integer(5);
  run.repeat = 3;
  run.step = 10;
  Value array;
  array.kind = ValueKind::kArray;
  array.items = {run, Value()};
  EXPECT_EQ(text_of(array, text::Style::kJson), "[5,15,25,null]");
  EXPECT_EQ(text_of(array, text::Style::kText), "[5, 15, 25, -]");
}

TEST(ValueText, GivesUpOnTextWithoutEnd) {
  Value run;
  run.kind = ValueKind::kString;
  run.text = std::string(1 << 10, 'x');
  run.repeat = uint64_t{1} << 60;
  Value array;
  array.kind = ValueKind::kArray;
  array.items = {run};
  TraceBuilder builder(1);
  builder.group({0}, {});
  constexpr size_t kMaxBytes = 1 << 16;
  std::string out;
  EXPECT_FALSE(text::append_value(out, array, builder.open(), text::Style::kJson, kMaxBytes));
  EXPECT_LE(out.size(), kMaxBytes + run.text.size() + 4) << "no more than one value too many";
  out.clear();
  run = Value::integer(1);
  run.repeat = uint64_t{1} << 60;
  run.step = 1;
  array.items = {Value::integer(0), run};
  EXPECT_FALSE(text::append_value(out, array, builder.open(), text::Style::kText, kMaxBytes));
  EXPECT_LE(out.size(), kMaxBytes + 32);
}

}  // namespace
}  // namespace refrain::report
