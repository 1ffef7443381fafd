// A slot has had one value on each rank so far. Several forms of functions are kept at once: a line
// through the points (a constant and me + c are lines), (me + c) mod size, and me xor c. Each has
// at most one function through the first point, or, for a line, through the first two; so a state
// needs the first value, a slope and a bit for each form that still fits.

#include "format/merge/infer_rank_expr.h"

#include <algorithm>
#include <numeric>

#include "format/limits.h"
#include "format/signatures/slot_evaluator.h"

namespace refrain::format {

namespace {

// Wrapping. Values of slots are any 64 bits of the program (addresses, counts), and the reader
// computes in the same way; what does not fit is then no explanation, and no undefined behaviour.
int64_t sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// a of (me + a) mod size with 0 <= a < size, from the first sample.
int64_t mod_shift(const SlotState& s, CommPlace first) {
  if (first.size <= 0) return 0;
  const int64_t d = sub(s.first, first.me) % first.size;
  return d < 0 ? d + first.size : d;
}

int64_t line_at(const SlotState& s, CommPlace first, int64_t me) {
  return add(mul(s.slope, sub(me, first.me)), s.first);
}

// The affine functions that both allow: alive bits of the result, and its slope.
uint8_t intersect_lines(SlotState& a, CommPlace pa, const SlotState& b, CommPlace pb) {
  constexpr uint8_t kFixed = SlotState::kAffineAlive | SlotState::kSlopeFixed;
  if ((a.alive & b.alive & SlotState::kAffineAlive) == 0) return 0;
  const bool a_fixed = (a.alive & SlotState::kSlopeFixed) != 0;
  const bool b_fixed = (b.alive & SlotState::kSlopeFixed) != 0;
  // Two known lines are one if they have one slope and one common point.
  if (a_fixed && b_fixed)
    return a.slope == b.slope && line_at(a, pa, pb.me) == b.first ? kFixed : 0;
  if (a_fixed) return line_at(a, pa, pb.me) == b.first ? kFixed : 0;
  if (b_fixed) {
    a.slope = b.slope;
    return line_at(a, pa, pb.me) == b.first ? kFixed : 0;
  }
  const int64_t run = sub(pb.me, pa.me), rise = sub(b.first, a.first);
  // The same place in two communicators of equal form: it says nothing of a slope.
  if (run == 0) return rise == 0 ? SlotState::kAffineAlive : 0;
  // -1 apart: the one divisor for which the quotient may not fit.
  a.slope = run == -1 ? sub(0, rise) : rise / run;
  return line_at(a, pa, pb.me) == b.first ? kFixed : 0;
}

}  // namespace

SlotState first_sample(SlotNature nature, int64_t value, CommPlace place) {
  SlotState s;
  s.first = value;
  // Numbers of definitions mean nothing as numbers: they are equal or they are not.
  if (nature == SlotNature::kDefinition) {
    s.alive = SlotState::kAffineAlive | SlotState::kSlopeFixed;
    return s;
  }
  s.alive = SlotState::kAffineAlive;
  const bool in_group = place.me >= 0 && place.me < place.size;
  // mod and xor give ranks: what cannot be one is explained by a line or not at all.
  if (in_group && value >= 0 && value < place.size)
    s.alive |= SlotState::kModAlive | SlotState::kModBelowAlive;
  if (place.me >= 0 && value >= 0) s.alive |= SlotState::kXorAlive;
  return s;
}

void intersect(SlotState& a, CommPlace pa, const SlotState& b, CommPlace pb) {
  uint8_t alive = intersect_lines(a, pa, b, pb);
  // A form is alive as long as one function of it goes through all points. That function is fixed
  // by the first point alone, so it is computed again instead of being stored.
  const uint8_t both = a.alive & b.alive;
  if ((both & (SlotState::kModAlive | SlotState::kModBelowAlive)) != 0) {
    const int64_t sa = mod_shift(a, pa), sb = mod_shift(b, pb);
    if ((both & SlotState::kModAlive) != 0 && sa == sb) alive |= SlotState::kModAlive;
    if ((both & SlotState::kModBelowAlive) != 0 && sa - pa.size == sb - pb.size)
      alive |= SlotState::kModBelowAlive;
  }
  if ((both & SlotState::kXorAlive) != 0 && (a.first ^ pa.me) == (b.first ^ pb.me))
    alive |= SlotState::kXorAlive;
  a.alive = alive;
}

RankExpr choose(const SlotState& s, CommPlace first) {
  const bool line = (s.alive & SlotState::kAffineAlive) != 0;
  const bool fixed = (s.alive & SlotState::kSlopeFixed) != 0;
  // The simplest first. A constant is the most likely to hold on ranks that were not seen, then me
  // + c; a line of any slope is the last, as two points always have one.
  if (line && (!fixed || s.slope == 0)) return {RankExpr::Kind::kConst, s.first, 0, 0};
  if (line && s.slope == 1) return {RankExpr::Kind::kAffine, 1, sub(s.first, first.me), 0};
  const bool above = (s.alive & SlotState::kModAlive) != 0;
  const bool below = (s.alive & SlotState::kModBelowAlive) != 0;
  if (above || below) {
    const int64_t shift = mod_shift(s, first);
    // Both fit: the shorter way round is what the program wrote, left neighbour -1 and not size -
    // 1.
    const bool use_below = below && (!above || first.size - shift < shift);
    return {RankExpr::Kind::kMod, use_below ? shift - first.size : shift, 0, 0};
  }
  if ((s.alive & SlotState::kXorAlive) != 0)
    return {RankExpr::Kind::kXor, s.first ^ first.me, 0, 0};
  return {RankExpr::Kind::kAffine, s.slope, sub(s.first, mul(s.slope, first.me)), 0};
}

bool is_simple(const SlotState& s) {
  if ((s.alive & (SlotState::kModAlive | SlotState::kModBelowAlive | SlotState::kXorAlive)) != 0)
    return true;
  if ((s.alive & SlotState::kAffineAlive) == 0) return false;
  return (s.alive & SlotState::kSlopeFixed) == 0 || s.slope == 0 || s.slope == 1;
}

namespace {

// One value after the other.
class RunCursor {
 public:
  explicit RunCursor(const base::RunList& list) : runs_(list.runs()) {}
  int64_t next() {
    const base::RunList::Run& run = runs_[run_];
    const int64_t v = add(run.start, mul(run.step, static_cast<int64_t>(at_)));
    if (++at_ == run.count) {
      at_ = 0;
      ++run_;
    }
    return v;
  }

 private:
  const std::vector<base::RunList::Run>& runs_;
  size_t run_ = 0;
  uint64_t at_ = 0;
};

int64_t at(int64_t start, int64_t step, uint64_t i) {
  return add(start, mul(step, static_cast<int64_t>(i)));
}

// Where two lists of equal length are both in one run.
struct Piece {
  int64_t value = 0, value_step = 0;
  int64_t me = 0, me_step = 0;
  uint64_t count = 0;
};

class PieceReader {
 public:
  PieceReader(const base::RunList& values, const base::RunList& mes)
      : values_(values.runs()), mes_(mes.runs()) {}
  bool at_end() const { return value_ == values_.size() || me_ == mes_.size(); }
  Piece next() {
    const base::RunList::Run &v = values_[value_], &m = mes_[me_];
    Piece p{at(v.start, v.step, value_at_), v.step, at(m.start, m.step, me_at_), m.step,
            std::min(v.count - value_at_, m.count - me_at_)};
    if ((value_at_ += p.count) == v.count) value_at_ = 0, ++value_;
    if ((me_at_ += p.count) == m.count) me_at_ = 0, ++me_;
    return p;
  }

 private:
  const std::vector<base::RunList::Run>&values_, &mes_;
  size_t value_ = 0, me_ = 0;
  uint64_t value_at_ = 0, me_at_ = 0;
};

// Whether a coordinate or a step in a grid gives the values of a piece, where that can be said
// without evaluating it for each: where the coordinate stays the same or never passes the end.
std::optional<bool> holds_throughout(const RankExpr& e, const Piece& p) {
  constexpr int64_t kLarge = int64_t{1} << 30;  // products of two fit
  if (e.kind != RankExpr::Kind::kDigit && e.kind != RankExpr::Kind::kCart) return std::nullopt;
  if (e.a <= 0 || e.a > kLarge || e.b <= 0 || e.b > kLarge || p.me < 0 || p.me > kLarge ||
      p.me_step < 0 || p.me_step > kLarge || p.count > uint64_t{1} << 24)
    return std::nullopt;
  // The coordinate along the piece is c, c + c_step, ...: as long as that never reaches the extent,
  // the whole piece is one line, and its first value and step tell all.
  const auto more = static_cast<int64_t>(p.count - 1);
  const int64_t first = p.me / e.a, c = first % e.b;
  int64_t c_step = 0;
  if ((p.me + more * p.me_step) / e.a != first && p.me_step % (e.a * e.b) != 0) {
    if (p.me_step % e.a != 0) return std::nullopt;
    c_step = p.me_step / e.a;
    if (more > (e.b - 1 - c) / c_step) return std::nullopt;
  }
  if (e.kind == RankExpr::Kind::kDigit)
    return p.value == add(mul(e.c, c), e.d) && (more == 0 || p.value_step == mul(e.c, c_step));
  const int64_t last = p.me + more * p.me_step;
  const int64_t moved = sub(cart_shift(p.me, e.a, e.b, e.d), p.me);
  if (sub(cart_shift(last, e.a, e.b, e.d), last) != moved) return std::nullopt;
  return p.value == add(p.me, moved) && (more == 0 || p.value_step == p.me_step);
}

// Divisors, ascending. Of a number of ranks there are few.
std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    low.push_back(d);
    if (d * d != n) high.push_back(n / d);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

// Factor and summand, from the first two ranks with different digits.
bool fit_digit(RankExpr& e, const base::RunList& values, const base::RunList& mes) {
  // Two unknowns, so the first two ranks whose digits differ fix them; explains() then looks at
  // all.
  RunCursor value(values), me(mes);
  const int64_t v0 = value.next(), q0 = digit(me.next(), e.a, e.b);
  for (uint64_t i = 1; i < values.size(); ++i) {
    const int64_t v = value.next(), q = digit(me.next(), e.a, e.b);
    if (q == q0 && v != v0) return false;
    if (q == q0) continue;
    e.c = sub(v, v0) / (q - q0);
    e.d = sub(v0, mul(e.c, q0));
    return true;
  }
  return false;
}

}  // namespace

bool explains(const RankExpr& expr, const base::RunList& values, const base::RunList& mes,
              int64_t size) {
  if (values.size() != mes.size()) return false;
  const std::vector<base::RunList> no_tables;
  PieceReader pieces(values, mes);
  while (!pieces.at_end()) {
    const Piece piece = pieces.next();
    // Millions of ranks are a few pieces.
    if (const auto known = holds_throughout(expr, piece)) {
      if (!*known) return false;
      continue;
    }
    for (uint64_t i = 0; i < piece.count; ++i) {
      const CommPlace place{at(piece.me, piece.me_step, i), size};
      if (evaluate(expr, place, i, no_tables) != at(piece.value, piece.value_step, i)) return false;
    }
  }
  return true;
}

std::optional<RankExpr> find_digit(const base::RunList& values, const base::RunList& mes,
                                   int64_t size) {
  if (values.size() != mes.size() || size < 1 || size > static_cast<int64_t>(kMaxRanks))
    return std::nullopt;
  const std::vector<int64_t> all = divisors(size);
  // Sides of a mesh divide its size; what goes around in a few steps along a side need not.
  constexpr int64_t kFewSteps = 9;
  std::vector<int64_t> extents(all.rbegin(), all.rend());
  for (int64_t b = 2; b < kFewSteps; ++b) {
    if (size % b != 0) extents.push_back(b);
  }
  // A coordinate itself before anything that happens to look like one in a small mesh.
  for (const bool plain : {true, false}) {
    for (const int64_t a : all) {
      for (const int64_t b : extents) {
        if (b < 2 || (b >= kFewSteps && size / a % b != 0)) continue;
        RankExpr e{RankExpr::Kind::kDigit, a, b, 0, 0};
        if (!fit_digit(e, values, mes) || (plain && (e.c != 1 || e.d != 0))) continue;
        if (explains(e, values, mes, size)) return e;
      }
    }
  }
  return std::nullopt;
}

std::optional<RankExpr> find_cart(const base::RunList& values, const base::RunList& mes) {
  if (values.size() != mes.size()) return std::nullopt;
  // A shift by d in a dimension of stride a and extent b moves by d*a, or by (d-b)*a where it
  // wraps: exactly one positive and one negative distance.
  int64_t up = 0, down = 0;
  PieceReader pieces(values, mes);
  while (!pieces.at_end()) {
    const Piece p = pieces.next();
    // Equal steps keep the distance, others are looked at one by one.
    const bool is_even = p.value_step == p.me_step && p.me_step >= 0;
    for (uint64_t i = 0; i < (is_even ? 1 : p.count); ++i) {
      const int64_t v = at(p.value, p.value_step, i), me = at(p.me, p.me_step, i);
      if (v < 0 || me < 0) return std::nullopt;
      const int64_t gap = v - me;
      int64_t& seen = gap > 0 ? up : down;
      if (gap == 0 || (seen != 0 && seen != gap)) return std::nullopt;
      seen = gap;
    }
  }
  if (up == 0 || down == 0) return std::nullopt;
  // The stride divides both; strides smaller than the greatest common divisor belong to shifts by
  // more than one, of which the first few are worth a try.
  const int64_t divisor = std::gcd(up, down);
  constexpr int64_t kMaxShiftTried = 8;
  for (int64_t k = 1; k <= kMaxShiftTried; ++k) {
    if (divisor % k != 0) continue;
    const int64_t a = divisor / k;
    RankExpr e{RankExpr::Kind::kCart, a, (up - down) / a, up / a};
    if (!explains(e, values, mes, 0)) continue;
    if (2 * e.d > e.b) e.d -= e.b;
    return e;
  }
  return std::nullopt;
}

}  // namespace refrain::format
