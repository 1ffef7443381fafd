// The totals of the ranks, in one of three forms; see format/totals.h.
//
// Values are codes (quantise.h), and a rank has its place on a scale of them, which takes some
// bits. What must hold among the scales is checked here, because the values are computed from them.
#include "format/totals.h"

#include <algorithm>
#include <string>

#include "format/codes/quantise.h"
#include "format/decode/section_readers.h"
#include "format/limits.h"
#include "format/time/range_coder.h"

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
    // A scale with its ends the wrong way round would compute values out of nothing.
    if (range.least > range.greatest) return false;
    scale = CodeScale(range.least, range.greatest, bits);
    return true;
  }
  uint64_t value(uint32_t place) {
    // Place 0 means that the rank has none.
    has_least = has_least || place == 1;
    has_greatest = has_greatest || place == scale.last_place();
    return time_of(static_cast<uint16_t>(scale.at(place)));
  }
  // The writer takes the ends from the ranks, so some rank is at each: ends that nobody has are
  // damage that no checksum of a made-up file finds.
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
    // Column by column: bytes of one meaning stand together and compress.
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
    // Places are rounded; the mean is not, so the sum is made of it.
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
    // The time takes the bits that are left (ScaleBits::time).
    const uint32_t span = take(bits_.span), memory = take(bits_.memory), time = word;
    if (span > span_.last_place() || memory > memory_.scale.last_place() ||
        time > time_.scale.last_place() || (memory == 0) != (time == 0))
      return false;
    // Span and time in MPI are rounded apart from each other, so the difference may come out below
    // 0.
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

namespace {

constexpr const char* kNames[kQuantities] = {
    "span", "time in MPI", "recorder's memory", "recorder's time", "small work", "switches"};
constexpr const char* kPlaces[kQuantities] = {"places of the span",
                                              "places of the time in MPI",
                                              "places of the recorder's memory",
                                              "places of the recorder's time",
                                              "places of small work",
                                              "places of switches"};

// From 1.4 on.
class CodedTotals {
 public:
  CodedTotals(FieldReader& in, TraceData& trace) : in_(in), trace_(trace) {}

  void read() {
    const size_t begin = in_.position();
    const auto form = static_cast<TotalsForm>(in_.u8("form of totals"));
    if (!in_.ok() || form == TotalsForm::kNone) return;
    if (form > TotalsForm::kSpreads) return in_.fail(kRuleFields, begin, "unknown form of totals");
    for (size_t q = 0; q < kQuantities && in_.ok(); ++q) read_scale(q);
    if (!in_.ok()) return;
    if (form == TotalsForm::kSpreads) read_spreads(in_, trace_.cost);
    // Two quantities of one measurement are there together or not at all.
    if (scale(Quantity::kSpan).is_there != scale(Quantity::kInMpi).is_there ||
        scale(Quantity::kMemory).is_there != scale(Quantity::kTime).is_there ||
        (form == TotalsForm::kSpreads && scale(Quantity::kMemory).is_there))
      return in_.fail(kRuleTotals, begin, "the scales of the totals contradict themselves");
    const size_t places_at = in_.position();
    // A rank's places take next to nothing where all ranks are alike.
    if (trace_.meta.ranks > kFreeTotals + kMaxTotalsPerByte * in_.remaining())
      return in_.fail(kRuleLimits, places_at, "too short for the totals of all ranks");
    trace_.totals.resize(trace_.meta.ranks);
    read_places(in_.bytes("places on the scales of all ranks", in_.remaining()), places_at);
    if (in_.ok() && scale(Quantity::kMemory).is_there) set_cost(places_at);
  }

 private:
  struct Scale {
    CodeScale scale;
    uint16_t mean = 0;
    bool is_there = false;
  };
  const Scale& scale(Quantity q) const { return scales_[static_cast<size_t>(q)]; }

  void read_scale(size_t q) {
    const size_t begin = in_.position();
    const uint64_t places = in_.varint(kPlaces[q], -1, kMaxScalePlaces);
    if (!in_.ok() || places == 0) return;
    const uint64_t least = in_.varint(kNames[q], -1, UINT32_MAX);
    const uint64_t range = in_.varint(kNames[q], -1, UINT32_MAX);
    const auto quantity = static_cast<Quantity>(q);
    if (quantity == Quantity::kMemory || quantity == Quantity::kTime)
      scales_[q].mean = in_.u16("mean");
    // No memory at all is how a rank without the recorder's cost is told from others.
    const uint64_t most = quantity == Quantity::kSpan       ? UINT32_MAX
                          : quantity == Quantity::kSwitches ? UINT8_MAX
                                                            : UINT16_MAX;
    const uint64_t first = quantity == Quantity::kSpan || quantity == Quantity::kMemory ? 1 : 0;
    if (in_.ok() &&
        (places < kMinScalePlaces || least < first || least > most || range > most - least))
      return in_.fail(kRuleTotals, begin, "a scale of the totals beyond what it may be");
    scales_[q].scale =
        CodeScale::of_places(static_cast<uint32_t>(least), static_cast<uint32_t>(least + range),
                             static_cast<uint32_t>(places));
    scales_[q].is_there = true;
  }

  // The code of a rank; 0 where nothing is known.
  uint32_t read(PlaceModel& model, RangeDecoder& coder, Quantity q) {
    const Scale& s = scale(q);
    if (!s.is_there) return 0;
    const uint32_t place = model.code(coder, q, s.scale.last_place(), 0);
    is_good_ = is_good_ && place <= s.scale.last_place();
    // Place 0: not known of this rank.
    if (place == 0 || !is_good_) return is_known_ = false, 0;
    is_known_ = true;
    return s.scale.at(place);
  }

  void read_places(std::string_view bytes, size_t begin) {
    RangeDecoder coder(bytes);
    PlaceModel model(trace_.totals.size());
    for (size_t r = 0; r < trace_.totals.size() && is_good_; ++r) {
      read_rank(model, coder, trace_.totals[r]);
      if (!is_good_)
        in_.fail(kRuleTotals, begin,
                 "totals of rank " + std::to_string(r) + " beyond their scales");
    }
    if (is_good_ && !coder.at_end())
      in_.fail(kRuleTotals, begin, "totals that are not as long as their section");
  }

  void read_rank(PlaceModel& model, RangeDecoder& coder, RankTotals& t) {
    // A range decoder goes on for ever with zeros behind its end: it has to be asked.
    is_good_ = is_good_ && !coder.is_beyond();
    // The order of the quantities is that of the encoder: the coder has one stream of bits, and the
    // model learns from each value.
    const uint32_t span = read(model, coder, Quantity::kSpan);
    if (span != 0) {
      t.in_mpi_ns = time_of(static_cast<uint16_t>(must(read(model, coder, Quantity::kInMpi))));
      const uint64_t span_ns = span_of(span);
      t.outside_ns = span_ns - std::min(span_ns, t.in_mpi_ns);
    }
    const uint32_t memory = read(model, coder, Quantity::kMemory);
    if (memory != 0) {
      t.cost.memory_bytes = time_of(static_cast<uint16_t>(memory));
      t.cost.time_ns = time_of(static_cast<uint16_t>(must(read(model, coder, Quantity::kTime))));
    }
    if (scale(Quantity::kOwn).is_there)
      t.own_ns = time_of(static_cast<uint16_t>(must(read(model, coder, Quantity::kOwn))));
    if (scale(Quantity::kSwitches).is_there)
      t.switches = count_of(static_cast<uint8_t>(must(read(model, coder, Quantity::kSwitches))));
  }
  // Of what must be known.
  uint32_t must(uint32_t code) {
    is_good_ = is_good_ && is_known_;
    return code;
  }

  void set_cost(size_t begin) {
    // Least and greatest follow from the ranks, their mean does not: it was computed before
    // rounding.
    RecorderCost cost = cost_of(trace_.totals);
    if (cost.ranks == 0)
      return in_.fail(kRuleTotals, begin, "a scale of the totals that no rank is on");
    const auto ranks = static_cast<double>(cost.ranks);
    cost.memory_bytes.sum = ranks * static_cast<double>(time_of(scale(Quantity::kMemory).mean));
    cost.time_ns.sum = ranks * static_cast<double>(time_of(scale(Quantity::kTime).mean));
    trace_.cost = cost;
  }

  FieldReader& in_;
  TraceData& trace_;
  std::array<Scale, kQuantities> scales_;
  bool is_good_ = true, is_known_ = false;
};

}  // namespace

void read_totals(FieldReader& in, Decoding& out) {
  const uint64_t ranks = out.trace.meta.ranks;
  if (out.is_compact) return CodedTotals(in, out.trace).read();
  const uint64_t bytes = in.remaining();
  // Files before 1.4 are told apart by their length, which is exact.
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
