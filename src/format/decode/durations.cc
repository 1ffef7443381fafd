// Statistics of durations: coded from 1.4 on, before that columns of fixed width.
#include <algorithm>
#include <string>
#include <utility>

#include "format/codes/quantise.h"
#include "format/decode/section_readers.h"
#include "format/stats/items.h"
#include "format/stats/model.h"
#include "format/stats/quick_model.h"
#include "format/time/range_coder.h"

namespace refrain::format {

namespace {

// Of files before 1.4.
void read_plain(FieldReader& in, Decoding& out) {
  std::vector<DurationCodes>& all = out.durations;
  uint64_t n = 0;
  for (const DecodedFamily& f : out.families) n += f.shares_durations ? 1 : f.members;
  // Three bytes each at least; the check keeps a short section from costing memory.
  if (in.remaining() < n * 3) {
    in.fail(kRuleFields, 0, "too short for the durations of " + std::to_string(n) + " signatures");
    return;
  }
  all.resize(n);
  // Field by field of all signatures, as columns compress better than rows.
  const auto each = [&](bool only_full, auto&& read) {
    for (size_t i = 0; i < n && in.ok(); ++i) {
      if (!only_full || all[i].kind != 0) read(all[i], static_cast<int64_t>(i));
    }
  };
  each(false, [&](DurationCodes& d, int64_t i) {
    const size_t begin = in.position();
    d.kind = in.u8("kind of durations", i);
    if (d.kind > 1) in.fail(kRuleFields, begin, "unknown kind of durations");
  });
  each(false, [&](DurationCodes& d, int64_t i) {
    // Kind 0 has one duration alone: all of its calls took about as long.
    d.mean = d.min = d.max = in.u16("mean of durations", i);
  });
  each(true, [&](DurationCodes& d, int64_t i) {
    const size_t begin = in.position();
    d.min = in.u16("minimum of durations", i);
    if (d.min > d.mean) in.fail(kRuleDurations, begin, "minimum above the mean");
  });
  each(true, [&](DurationCodes& d, int64_t i) {
    const size_t begin = in.position();
    d.max = in.u16("maximum of durations", i);
    if (d.max < d.mean) in.fail(kRuleDurations, begin, "maximum below the mean");
  });
  each(true, [&](DurationCodes& d, int64_t i) {
    const size_t begin = in.position();
    d.first_bucket = in.u8("first bucket of durations", i);
    if (d.first_bucket + kStoredBuckets > Histogram::kBuckets)
      in.fail(kRuleLimits, begin, "buckets beyond the last one");
  });
  each(true, [&](DurationCodes& d, int64_t i) {
    const std::string_view shares = in.bytes("shares of durations", d.shares.size(), i);
    for (size_t b = 0; b < shares.size(); ++b) d.shares[b] = static_cast<uint8_t>(shares[b]);
  });
}

// The statistics themselves can be read when the calls are counted.
void read_coded(FieldReader& in, CodedDurations& out) {
  const size_t begin = in.position();
  const unsigned bits = in.u8("bits of the mantissa");
  out.precision.mantissa_bits = bits & ~kQuickBit;
  out.precision.is_quick = (bits & kQuickBit) != 0;
  out.precision.grain = in.u8("grain of histograms");
  const uint64_t padding = in.u16("bytes of padding");
  if (!in.ok()) return;
  if (out.precision.mantissa_bits < kLeastMantissaBits ||
      out.precision.mantissa_bits > kMostMantissaBits || out.precision.grain > kMostGrain)
    return in.fail(kRuleFields, begin, "unknown precision of durations");
  if (padding > in.remaining()) return in.fail(kRuleFields, begin, "padding beyond the end");
  out.bytes = in.bytes("coded statistics", in.remaining() - padding);
  // Bytes that nobody reads have one value, or two files of one trace could differ.
  const size_t zeros_at = in.position();
  const std::string_view zeros = in.bytes("padding", padding);
  if (zeros.find_first_not_of('\0') != std::string_view::npos)
    in.fail(kRuleFields, zeros_at, "padding that is not zero");
  // Padding counts: it is what lets a section with next to no information have so many signatures
  // (CodedReader::run).
  out.section_bytes = in.position();
}

// `d` has its count.
void fill_plain(const DurationCodes& codes, DurationStats& d) {
  d.min_ns = time_of(codes.min);
  d.max_ns = time_of(codes.max);
  d.sum_ns = static_cast<double>(time_of(codes.mean)) * static_cast<double>(d.count);
  if (codes.kind == 0) {
    d.histogram.add(Histogram::bucket_of(time_of(codes.mean)), d.count);
    return;
  }
  for (size_t b = 0; b < codes.shares.size(); ++b)
    d.histogram.add(codes.first_bucket + b, share_of(codes.shares[b], d.count));
}

void fill_all_plain(const Decoding& decoding, TraceData& trace) {
  size_t at = 0;
  for (const DecodedFamily& f : decoding.families) {
    // Shared statistics stand once for the whole family.
    for (uint32_t i = 0; i < f.members && at < decoding.durations.size(); ++i) {
      fill_plain(decoding.durations[at], trace.durations[f.first + i]);
      if (!f.shares_durations) ++at;
    }
    if (f.shares_durations) ++at;
  }
}

// Calls of a bucket that is several octaves wide, evenly in those that some call can be in.
void add_evenly(const CodedStats& s, size_t bucket, unsigned octaves, Histogram& histogram) {
  // Between shortest and longest: no call lies outside of these.
  const size_t first = std::max<size_t>(bucket * octaves, Histogram::bucket_of(time_of(s.min)));
  const size_t last =
      std::min<size_t>(bucket * octaves + octaves - 1, Histogram::bucket_of(time_of(s.max)));
  uint64_t left = s.inner[bucket];
  // The rest of each division goes on to the next bucket, so none of the calls is lost.
  for (size_t b = first; b <= last; ++b) {
    const uint64_t part = left / (last + 1 - b);
    histogram.add(b, part);
    left -= part;
  }
}

void fill(const CodedStats& s, unsigned octaves, DurationStats& d) {
  d.min_ns = time_of(s.min);
  d.max_ns = time_of(s.max);
  d.sum_ns = static_cast<double>(time_of(s.mean)) * static_cast<double>(d.count);
  d.histogram.add(Histogram::bucket_of(d.min_ns), 1);
  // Shortest and longest are stored by themselves, and `inner` has all others.
  if (d.count > 1) d.histogram.add(Histogram::bucket_of(d.max_ns), 1);
  if (d.count < 3) return;
  for (size_t b = Histogram::bucket_of(d.min_ns) / octaves;
       b <= Histogram::bucket_of(d.max_ns) / octaves; ++b)
    add_evenly(s, b, octaves, d.histogram);
}

uint64_t part_of(uint64_t whole, uint64_t part, uint64_t of) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{whole} * part / of);
}

// All members of a family that shares its statistics have its mean; its histogram is dealt out by
// how often they were called.
void share_out(const DurationStats& all, DurationStats& d, uint64_t& calls_before) {
  d.min_ns = all.min_ns;
  d.max_ns = all.max_ns;
  d.sum_ns = all.sum_ns * (static_cast<double>(d.count) / static_cast<double>(all.count));
  // By running sums: the parts of the members add up to the whole, however they are rounded.
  const uint64_t until = std::min(all.count, calls_before + std::min(d.count, all.count));
  for (size_t b = all.histogram.first(); b < all.histogram.first() + all.histogram.used(); ++b) {
    const uint64_t whole = all.histogram[b];
    d.histogram.add(b, part_of(whole, until, all.count) - part_of(whole, calls_before, all.count));
  }
  calls_before = until;
}

class CodedReader {
 public:
  // Into `to`, which has the counts.
  CodedReader(const Decoding& decoding, const CodedDurations& coded,
              const std::vector<uint64_t>& calls, std::deque<DurationStats>& to)
      : in_(coded), to_(to), coder_(coded.bytes) {
    // In the order of the writer: the model learns from each item for those behind it.
    for (const DecodedFamily& f : decoding.families) {
      const uint32_t each = f.shares_durations ? f.members : 1;
      for (uint32_t i = 0; i < f.members; i += each)
        items_.push_back({f.first + i, each, stat_item(decoding.trace, calls, f.first + i, each)});
    }
  }

  // What is wrong, empty when nothing is.
  std::string run() {
    const auto called = static_cast<uint64_t>(std::count_if(
        items_.begin(), items_.end(), [](const Item& i) { return i.item.calls > 0; }));
    if (called == 0) return in_.bytes.empty() ? "" : "statistics of nothing";
    // Statistics take some bits each at least. More than fit into the bytes would be made up by the
    // decoder, and would take memory and time.
    if (called > kFewItems && called / kMaxStatisticsPerByte > in_.section_bytes)
      return "too short for the statistics of " + std::to_string(called) + " signatures";
    if (in_.precision.is_quick) {
      // The quick model needs to have seen all items before it reads the first; the other one
      // learns as it goes.
      QuickStatModel model(in_.precision);
      for (const Item& i : items_)
        if (i.item.calls > 0) model.see(i.item);
      return read_all(model);
    }
    StatModel model;
    model.reset(items_.size(), in_.precision);
    return read_all(model);
  }

 private:
  // Signatures that have their statistics together.
  struct Item {
    uint32_t first, members;
    StatItem item;
  };

  template <class Model>
  // Signatures that were never called have nothing in the stream.
  std::string read_all(Model& model) {
    for (const Item& i : items_) {
      if (i.item.calls > 0 && !read(model, i))
        return "statistics of signature " + std::to_string(i.first) + " make no sense";
    }
    return coder_.at_end() ? "" : "not as long as its statistics";
  }

  template <class Model>
  bool read(Model& model, const Item& i) {
    CodedStats s;
    // Before each item, so that a short section costs the time of what it has.
    if (coder_.is_beyond() || !model.code(coder_, i.item, s)) return false;
    // Not stored: how fine a histogram is follows from the number of calls, which is known.
    const unsigned octaves = octaves_for(i.item.calls, in_.precision.grain);
    if (i.members == 1) {
      fill(s, octaves, to_[i.first]);
      return true;
    }
    DurationStats all;
    all.count = i.item.calls;
    fill(s, octaves, all);
    uint64_t calls_before = 0;
    for (uint32_t k = 0; k < i.members; ++k) share_out(all, to_[i.first + k], calls_before);
    return true;
  }

  const CodedDurations& in_;
  std::deque<DurationStats>& to_;
  RangeDecoder coder_;
  std::vector<Item> items_;
};

}  // namespace

void read_durations(FieldReader& in, Decoding& out) {
  if (!out.is_compact) return read_plain(in, out);
  read_coded(in, out.coded);
}

void read_gaps(FieldReader& in, Decoding& out) {
  out.has_gaps = true;
  read_coded(in, out.gaps);
}

void finish_durations(Decoding& decoding, std::vector<Finding>& findings) {
  TraceData& trace = decoding.trace;
  const std::vector<uint64_t> calls = calls_by_signature(trace);
  const auto counted = [&] {
    std::deque<DurationStats> all(trace.signatures.size());
    for (size_t i = 0; i < calls.size(); ++i) all[i].count = calls[i];
    return all;
  };
  const auto read = [&](const CodedDurations& coded, std::deque<DurationStats>& to,
                        StatPrecision& precision, Rule rule, SectionType type) {
    const std::string problem = CodedReader(decoding, coded, calls, to).run();
    precision = coded.precision;
    if (!problem.empty())
      findings.push_back(Finding{rule, std::string(to_string(type)), -1, false, problem});
  };
  // Both start from the counts, which are in no section: they follow from the grammars.
  trace.durations = counted();
  if (decoding.is_compact)
    read(decoding.coded, trace.durations, trace.durations_precision, kRuleDurations,
         SectionType::kDurations);
  else
    fill_all_plain(decoding, trace);
  if (!decoding.has_gaps) return;
  trace.gaps = counted();
  read(decoding.gaps, trace.gaps, trace.gaps_precision, kRuleGaps, SectionType::kGaps);
}

}  // namespace refrain::format
