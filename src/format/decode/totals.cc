// The totals of the ranks, in one of two forms; see format/totals.h.
#include "format/totals.h"

#include <algorithm>
#include <string>

#include "format/decode/sections.h"
#include "format/quantise.h"

namespace refrain::format {

namespace {

// Memory or time of the recorder in the shared form.
struct CostScale {
  CodeRange range;
  uint16_t mean = 0;
  CodeScale scale;
  bool has_least = false, has_greatest = false;

  void read(FieldReader& in, const char* least, const char* greatest, const char* mean_label) {
    range.least = in.u16(least);
    range.greatest = in.u16(greatest);
    mean = in.u16(mean_label);
  }
  // A good scale is told by its bits; the ends come from the file.
  bool set(unsigned bits) {
    if (range.least > range.greatest) return false;
    scale = CodeScale(range.least, range.greatest, bits);
    return true;
  }
  uint64_t value(uint32_t place) {
    has_least = has_least || place == 1;
    has_greatest = has_greatest || place == scale.last_place();
    return time_of(static_cast<uint16_t>(scale.at(place)));
  }
  bool is_whole() const { return has_least && has_greatest; }
};

// The words of the ranks are evaluated once the scales are known, which stand behind them.
class SharedTotals {
 public:
  SharedTotals(FieldReader& in, std::vector<RankTotals>& all) : in_(in), all_(all) {}

  void read() {
    const size_t n = all_.size();
    for (size_t r = 0; r < n; ++r)
      all_[r].in_mpi_ns = time_of(in_.u16("time in MPI of rank", static_cast<int64_t>(r)));
    std::vector<uint16_t> words(n);
    for (size_t r = 0; r < n; ++r)
      words[r] = in_.u16("places on the scales of rank", static_cast<int64_t>(r));
    const size_t begin = in_.position();
    bits_.span = in_.u8("bits of the span");
    bits_.memory = in_.u8("bits of the recorder's memory");
    const CodeRange span = {in_.u32("least span"), in_.u32("greatest span")};
    memory_.read(in_, "least memory of the recorder", "greatest memory of the recorder",
                 "mean memory of the recorder");
    time_.read(in_, "least time of the recorder", "greatest time of the recorder",
               "mean time of the recorder");
    if (!in_.ok()) return;
    // No memory at all is how a rank without the recorder's cost is told from others.
    if (!bits_.is_good() || span.least > span.greatest || !memory_.set(bits_.memory) ||
        !time_.set(bits_.time()) || memory_.range.least == 0)
      return in_.fail(kRuleTotals, begin, "the scales of the totals contradict themselves");
    span_ = CodeScale(span.least, span.greatest, bits_.span);
    for (size_t r = 0; r < n; ++r) {
      if (!place(words[r], all_[r]))
        return in_.fail(kRuleTotals, begin,
                        "totals of rank " + std::to_string(r) + " beyond their scales");
    }
    if (!memory_.is_whole() || !time_.is_whole())
      in_.fail(kRuleTotals, begin, "a scale of the totals has an end that no rank has");
  }

  RecorderCost cost() const {
    RecorderCost cost = cost_of(all_);
    const auto ranks = static_cast<double>(cost.ranks);
    cost.memory_bytes.sum = ranks * static_cast<double>(time_of(memory_.mean));
    cost.time_ns.sum = ranks * static_cast<double>(time_of(time_.mean));
    return cost;
  }

 private:
  bool place(uint32_t word, RankTotals& t) {
    const auto take = [&word](unsigned bits) {
      const uint32_t v = word & ((1u << bits) - 1);
      word >>= bits;
      return v;
    };
    const uint32_t span = take(bits_.span), memory = take(bits_.memory), time = word;
    if (span > span_.last_place() || memory > memory_.scale.last_place() ||
        time > time_.scale.last_place() || (memory == 0) != (time == 0))
      return false;
    const uint64_t span_ns = span == 0 ? 0 : span_of(span_.at(span));
    t.outside_ns = span_ns - std::min(span_ns, t.in_mpi_ns);
    if (memory != 0) t.cost = {memory_.value(memory), time_.value(time)};
    return true;
  }

  FieldReader& in_;
  std::vector<RankTotals>& all_;
  ScaleBits bits_;
  CodeScale span_;
  CostScale memory_, time_;
};

void read_spread(FieldReader& in, uint64_t ranks, Spread& s) {
  s.least = time_of(in.u16("least"));
  s.least_rank = in.u32("rank of the least");
  s.greatest = time_of(in.u16("greatest"));
  s.greatest_rank = in.u32("rank of the greatest");
  s.sum = static_cast<double>(time_of(in.u16("mean"))) * static_cast<double>(ranks);
}

void read_spreads(FieldReader& in, RecorderCost& cost) {
  cost.ranks = in.u32("ranks that know the recorder's cost");
  read_spread(in, cost.ranks, cost.memory_bytes);
  read_spread(in, cost.ranks, cost.time_ns);
}

}  // namespace

void read_totals(FieldReader& in, Decoding& out) {
  const uint64_t ranks = out.trace.meta.ranks;
  const uint64_t bytes = in.remaining();
  const bool has_spreads = !out.shares_totals && bytes == ranks * 4 + kSpreadsBytes;
  const bool is_good =
      out.shares_totals ? bytes == ranks * 4 + kSharedTailBytes : bytes == ranks * 4 || has_spreads;
  if (!is_good) {
    in.fail(kRuleTotals, 0,
            "not 4 bytes for each of " + std::to_string(ranks) +
                " ranks, and what recording cost behind them");
    return;
  }
  std::vector<RankTotals>& all = out.trace.totals;
  all.resize(ranks);
  if (out.shares_totals) {
    SharedTotals shared(in, all);
    shared.read();
    out.trace.cost = shared.cost();
    return;
  }
  for (uint64_t r = 0; r < ranks; ++r)
    all[r].in_mpi_ns = time_of(in.u16("time in MPI of rank", static_cast<int64_t>(r)));
  for (uint64_t r = 0; r < ranks; ++r)
    all[r].outside_ns = time_of(in.u16("time outside of rank", static_cast<int64_t>(r)));
  if (has_spreads) read_spreads(in, out.trace.cost);
}

}  // namespace refrain::format
