// The totals of the ranks, in one of two forms; see format/totals.h.
#include "format/totals.h"

#include <algorithm>

#include "format/encode/sections.h"
#include "format/quantise.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// What a rank's totals are in the shared form, before they are placed on the scales.
struct Codes {
  uint16_t in_mpi = 0;
  uint32_t span = 0;  // 0: the rank has no totals
  bool knows_cost = false;
  uint16_t memory = 0, time = 0;
};

// The span is that of the rounded time in MPI: then only the span's own error comes into what is
// left for the time outside.
Codes codes_of(const RankTotals& t) {
  Codes c;
  c.in_mpi = time_code(t.in_mpi_ns);
  const uint64_t in_mpi_ns = time_of(c.in_mpi);
  const uint64_t outside_ns = std::min(t.outside_ns, UINT64_MAX - in_mpi_ns);
  c.span = span_code(in_mpi_ns + outside_ns);
  c.knows_cost = t.cost.memory_bytes > 0;
  c.memory = time_code(t.cost.memory_bytes);
  c.time = time_code(t.cost.time_ns);
  return c;
}

class Range {
 public:
  void add(uint32_t code) {
    range_.least = is_empty_ ? code : std::min(range_.least, code);
    range_.greatest = std::max(range_.greatest, code);
    is_empty_ = false;
  }
  const CodeRange& get() const { return range_; }

 private:
  CodeRange range_;
  bool is_empty_ = true;
};

void write_range(CodeRange range, double mean, ByteWriter& out) {
  out.put_u16(static_cast<uint16_t>(range.least));
  out.put_u16(static_cast<uint16_t>(range.greatest));
  out.put_u16(time_code(whole_of(mean)));
}

void write_shared(const TraceData& trace, ByteWriter& out) {
  Range span, memory, time;
  for (const RankTotals& t : trace.totals) {
    const Codes c = codes_of(t);
    out.put_u16(c.in_mpi);
    if (c.span != 0) span.add(c.span);
    if (c.knows_cost) memory.add(c.memory), time.add(c.time);
  }
  const ScaleBits bits = share_bits(span.get(), memory.get(), time.get());
  const auto scale = [](const Range& r, unsigned of_bits) {
    return CodeScale(r.get().least, r.get().greatest, of_bits);
  };
  const CodeScale spans = scale(span, bits.span), memories = scale(memory, bits.memory),
                  times = scale(time, bits.time());
  for (const RankTotals& t : trace.totals) {
    const Codes c = codes_of(t);
    uint32_t word = c.span != 0 ? spans.place(c.span) : 0;
    if (c.knows_cost)
      word |= (memories.place(c.memory) | times.place(c.time) << bits.memory) << bits.span;
    out.put_u16(static_cast<uint16_t>(word));
  }
  out.put_u8(static_cast<uint8_t>(bits.span));
  out.put_u8(static_cast<uint8_t>(bits.memory));
  out.put_u32(span.get().least);
  out.put_u32(span.get().greatest);
  const auto ranks = static_cast<double>(trace.cost.ranks);
  write_range(memory.get(), trace.cost.memory_bytes.sum / ranks, out);
  write_range(time.get(), trace.cost.time_ns.sum / ranks, out);
}

// Of files of version 1.1: nothing is known of single ranks.
void write_spreads(const RecorderCost& cost, ByteWriter& out) {
  out.put_u32(static_cast<uint32_t>(cost.ranks));
  for (const Spread* s : {&cost.memory_bytes, &cost.time_ns}) {
    out.put_u16(time_code(s->least));
    out.put_u32(static_cast<uint32_t>(s->least_rank));
    out.put_u16(time_code(s->greatest));
    out.put_u32(static_cast<uint32_t>(s->greatest_rank));
    out.put_u16(time_code(whole_of(s->sum / static_cast<double>(cost.ranks))));
  }
}

}  // namespace

bool shares_totals(const TraceData& trace) {
  return std::any_of(trace.totals.begin(), trace.totals.end(),
                     [](const RankTotals& t) { return t.cost.memory_bytes > 0; });
}

void write_totals(Encoding& in, ByteWriter& out) {
  if (shares_totals(in.trace)) return write_shared(in.trace, out);
  for (const RankTotals& t : in.trace.totals) out.put_u16(time_code(t.in_mpi_ns));
  for (const RankTotals& t : in.trace.totals) out.put_u16(time_code(t.outside_ns));
  if (in.trace.cost.ranks > 0) write_spreads(in.trace.cost, out);
}

}  // namespace refrain::format
