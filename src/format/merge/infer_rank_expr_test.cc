// What is said of whole runs is what evaluating for each rank says.
#include "format/merge/infer_rank_expr.h"

#include <gtest/gtest.h>

#include <random>

#include "format/signatures/slot_evaluator.h"

namespace refrain::format {
namespace {

bool explains_each(const RankExpr& e, const base::RunList& values, const base::RunList& mes,
                   int64_t size) {
  for (uint64_t i = 0; i < mes.size(); ++i)
    if (evaluate(e, CommPlace{mes.at(i), size}, i, {}) != values.at(i)) return false;
  return true;
}

// A part of a mesh: ranks in steps, with holes.
base::RunList some_ranks(std::mt19937_64& random, int64_t size) {
  base::RunList mes;
  const int64_t step = 1 + static_cast<int64_t>(random() % 3) * static_cast<int64_t>(random() % 9);
  const uint64_t hole = 2 + random() % 7;
  for (int64_t me = static_cast<int64_t>(random() % 5); me < size; me += step)
    if (random() % 50 == 0 || static_cast<uint64_t>(me) % hole != 0) mes.append(me);
  if (mes.size() == 0) mes.append(0);
  return mes;
}

TEST(Explains, AgreesWithEvaluatingForEachRank) {
  std::mt19937_64 random(11);
  const auto below = [&random](uint64_t n) { return static_cast<int64_t>(random() % n); };
  int held = 0, not_held = 0;
  for (int i = 0; i < 30000; ++i) {
    const int64_t size = 2 + below(120);
    const base::RunList mes = some_ranks(random, size);
    RankExpr e{RankExpr::Kind::kDigit, 1 + below(12), 1 + below(12), 0, 0};
    e.c = below(7) - 2, e.d = below(9) - 4;
    if (i % 2 == 0) e = {RankExpr::Kind::kCart, 1 + below(12), 1 + below(12), below(9) - 4, 0};
    if (i % 7 == 0) e = {RankExpr::Kind::kMod, below(9) - 4, 0, 0, 0};
    base::RunList values;
    const uint64_t wrong_at = random() % (2 * mes.size());
    for (uint64_t k = 0; k < mes.size(); ++k)
      values.append(evaluate(e, CommPlace{mes.at(k), size}, k, {}) + (k == wrong_at ? 1 : 0));
    const bool expected = explains_each(e, values, mes, size);
    ASSERT_EQ(explains(e, values, mes, size), expected) << i;
    ASSERT_EQ(expected, wrong_at >= mes.size());
    ++(expected ? held : not_held);
  }
  EXPECT_GT(held, 10000);
  EXPECT_GT(not_held, 10000);
}

TEST(FindCart, FindsOnlyWhatHolds) {
  std::mt19937_64 random(12);
  int found = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto a = static_cast<int64_t>(1 + random() % 8),
               b = static_cast<int64_t>(2 + random() % 8);
    const int64_t size = a * b * static_cast<int64_t>(1 + random() % 4);
    const base::RunList mes = some_ranks(random, size);
    base::RunList values;
    for (uint64_t k = 0; k < mes.size(); ++k)
      values.append(cart_shift(mes.at(k), a, b, random() % 40 == 0 ? 2 : 1));
    if (const auto e = find_cart(values, mes)) {
      ++found;
      ASSERT_TRUE(explains_each(*e, values, mes, size)) << i;
    }
  }
  EXPECT_GT(found, 500);
}

}  // namespace
}  // namespace refrain::format
