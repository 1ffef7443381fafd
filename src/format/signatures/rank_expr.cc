// All arithmetic is unsigned and wraps: expressions come from files, which may hold any numbers.

#include "format/signatures/rank_expr.h"

namespace refrain::format {

namespace {
int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// Result in [0, m), m > 0.
int64_t modulo(int64_t v, int64_t m) {
  const int64_t r = v % m;
  return r < 0 ? r + m : r;
}
}  // namespace

int64_t cart_shift(int64_t me, int64_t a, int64_t b, int64_t d) {
  if (a <= 0 || b <= 0 || me < 0) return me;
  const int64_t c = (me / a) % b;
  return add(me, mul(modulo(add(c, modulo(d, b)), b) - c, a));
}

int64_t digit(int64_t me, int64_t a, int64_t b) {
  return a <= 0 || b <= 0 || me < 0 ? 0 : (me / a) % b;
}

int64_t evaluate(const RankExpr& expr, CommPlace place, uint64_t position,
                 const std::vector<base::RunList>& tables) {
  switch (expr.kind) {
    case RankExpr::Kind::kConst: return expr.a;
    case RankExpr::Kind::kAffine: return add(mul(expr.a, place.me), expr.b);
    case RankExpr::Kind::kMod:
      return place.size > 0 ? modulo(add(place.me, expr.a), place.size) : place.me;
    case RankExpr::Kind::kXor: return place.me ^ expr.a;
    case RankExpr::Kind::kCart: return cart_shift(place.me, expr.a, expr.b, expr.d);
    case RankExpr::Kind::kDigit: return add(mul(expr.c, digit(place.me, expr.a, expr.b)), expr.d);
    case RankExpr::Kind::kTable: {
      const auto t = static_cast<uint64_t>(expr.a);
      return t < tables.size() && position < tables[t].size() ? tables[t].at(position) : 0;
    }
  }
  return 0;
}

ExprCode rank_expr_code(const RankExpr& e) {
  switch (e.kind) {
    case RankExpr::Kind::kConst: return ExprCode::kConst;
    case RankExpr::Kind::kAffine: return e.a == 1 ? ExprCode::kMePlus : ExprCode::kAffine;
    case RankExpr::Kind::kMod: return ExprCode::kMod;
    case RankExpr::Kind::kXor: return ExprCode::kXor;
    case RankExpr::Kind::kCart: return ExprCode::kCart;
    case RankExpr::Kind::kTable: return ExprCode::kTable;
    case RankExpr::Kind::kDigit: return ExprCode::kDigit;
  }
  return ExprCode::kConst;
}

}  // namespace refrain::format
