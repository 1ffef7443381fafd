// What is asked of many signatures at once is what each of them says.
#include "format/signatures/signature_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "base/bytes.h"
#include "format/codes/row_differences.h"
#include "format/content.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

using testing::Sig;
using testing::SyntheticRank;

// Signatures of one shape with constants in `slots` slots; every other slot has one value, but for
// the last signature if `differs`.
SignatureTable table_of(size_t members, size_t slots, bool differs, std::mt19937_64& random) {
  SignatureTable table;
  base::ByteWriter shape;
  shape.put_varint(7);
  for (size_t k = 0; k < slots; ++k) shape.put_u8(static_cast<uint8_t>(FieldTag::kInt));
  for (size_t i = 0; i < members; ++i) {
    StoredSignature s{std::string(shape.view()), {}};
    for (size_t k = 0; k < slots; ++k) {
      const bool is_one = k % 2 == 0 && !(differs && i + 1 == members);
      // Some do not fit into a word.
      const auto any = static_cast<int64_t>(random() >> (random() % 8 == 0 ? 1 : 40));
      s.slots.push_back({RankExpr::Kind::kConst, is_one ? static_cast<int64_t>(k) - 3 : any});
    }
    table.push_back(s);
  }
  return table;
}

TEST(SignatureTable, ColumnsSayWhatSignaturesSay) {
  std::mt19937_64 random(1);
  for (const size_t members : {1, 2, 3, 700, 4097, 9001}) {
    for (const size_t slots : {1, 2, 3, 7, 8}) {
      SignatureTable table = table_of(members, slots, members % 2 == 0, random);
      if (slots == 3) {  // their numbers do not stand in their order
        std::vector<uint32_t> order(members);
        std::iota(order.begin(), order.end(), 0u);
        std::shuffle(order.begin(), order.end(), random);
        table.permute(order);
      }
      const size_t first = members / 3, n = members - first;
      const std::vector<bool> is_constant = table.constant_columns(first, n);
      ASSERT_EQ(is_constant.size(), slots);
      for (size_t k = 0; k < slots; ++k) {
        const std::vector<int64_t> column = table.column(first, n, k, 0);
        ASSERT_EQ(column.size(), n);
        bool is_one = true;
        for (size_t i = 0; i < n; ++i) {
          ASSERT_EQ(column[i], table.expr(first + i, k).a) << members << ' ' << slots << ' ' << i;
          is_one = is_one && column[i] == column[0];
        }
        // Numbers that do not fit into a word may be equal without a sign of it.
        if (!is_one || (k % 2 == 0 && members % 2 == 1)) {
          EXPECT_EQ(is_constant[k], is_one) << members << ' ' << slots << ' ' << k;
        }
      }
    }
  }
}

TEST(SignatureTable, RowsDifferWhereOneWordDoes) {
  std::mt19937_64 random(2);
  for (const size_t n : {1, 2, 3, 7, 9}) {
    for (const size_t rows : {1, 2, 5, 3000}) {
      for (int round = 0; round < 20; ++round) {
        PagedArray<uint32_t> words;
        const size_t first = random() % 5000;
        words.append(first, 17);
        for (size_t i = 0; i < rows * n; ++i) words.push_back(static_cast<uint32_t>(i % n));
        const size_t row = random() % rows, column = random() % n;
        words[first + row * n + column] ^= uint32_t{1} << random() % 32;
        const RowDifferences all = differences_of(words, first, rows, n);
        for (size_t k = 0; k < n; ++k) ASSERT_EQ(all.differs(k), rows > 1 && k == column) << n;
      }
    }
  }
}

// One of very many signatures that are alike names a definition that there is not.
TEST(SignatureTable, ADefinitionThatThereIsNotIsFoundAmongMany) {
  constexpr size_t kMany = 3000;
  SyntheticRank r(0, 1);
  const uint32_t type = r.datatype("MPI_BYTE", 1);
  for (size_t i = 0; i < kMany; ++i)
    r.call(Sig(7, r.site(9)).integer(static_cast<int64_t>(i * i)).object(type).object(r.world()));
  const TraceData good = testing::merge_all({r.finish()});
  ASSERT_TRUE(check_content(good, 9).empty());
  for (const size_t at : {size_t{0}, size_t{1}, kMany / 2, kMany - 1}) {
    for (const int64_t wrong : {int64_t{1000}, int64_t{-1}, int64_t{1} << 40}) {
      TraceData bad = good;
      StoredSignature s = bad.signatures.get(at);
      s.slots[2].a = wrong;  // the site, the number, the datatype
      bad.signatures.set(at, s);
      const auto findings = check_content(bad, 9);
      ASSERT_EQ(findings.size(), 1u) << at << ' ' << wrong;
      EXPECT_NE(findings[0].text.find("signature " + std::to_string(at) + " "), std::string::npos)
          << findings[0].text;
    }
  }
}

}  // namespace
}  // namespace refrain::format
