#include "report/page/columns.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "base/bytes.h"

namespace refrain::report {
namespace {

// As the page's script reads it.
std::vector<int64_t> read(const Columns& columns, const std::string& name) {
  const auto entry = columns.directory()[name];
  std::vector<int64_t> out;
  base::ByteReader in(std::string_view(columns.bytes())
                          .substr(entry["from"].get<size_t>(), entry["bytes"].get<size_t>()));
  int64_t before = 0;
  for (size_t i = 0; i < entry["count"].get<size_t>(); ++i) {
    const int64_t v = in.zigzag();
    before = entry["kind"] == "delta"
                 ? static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(v))
                 : v;
    out.push_back(before);
  }
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
  return out;
}

TEST(Columns, AnyNumbersComeBack) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    Columns columns;
    std::vector<std::vector<int64_t>> all;
    for (int c = 0; c < 3; ++c) {
      std::vector<int64_t>& values = all.emplace_back(random() % 40);
      const int shift = static_cast<int>(random() % 64);
      for (int64_t& v : values) v = static_cast<int64_t>(random()) >> shift;
      columns.put(std::string(1, static_cast<char>('a' + c)), values);
    }
    for (int c = 0; c < 3; ++c)
      EXPECT_EQ(read(columns, std::string(1, static_cast<char>('a' + c))),
                all[static_cast<size_t>(c)]);
  }
}

TEST(Columns, TakesTheShorterForm) {
  Columns columns;
  columns.put("rising", {1000000, 1000001, 1000002});
  columns.put("level", {5, 5000, 5, 5000, 5});
  EXPECT_EQ(columns.directory()["rising"]["kind"], "delta");
  EXPECT_EQ(columns.directory()["level"]["kind"], "plain");
  columns.put_bytes("raw", std::string("\x00\xff", 2));
  EXPECT_EQ(columns.lists()["raw"], nlohmann::ordered_json({0, 255}));
  EXPECT_EQ(columns.lists()["level"][1], 5000);
}

TEST(Packing, Base64IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

TEST(Packing, DeflateInflates) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i % 97);
  const std::string packed = deflated(text);
  ASSERT_LT(packed.size(), text.size() / 10);
  std::string out(text.size() + 1, '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, -15), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(out, text);
}

}  // namespace
}  // namespace refrain::report
