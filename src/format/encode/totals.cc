// The totals of the ranks: scales, and the places of the ranks on them; see format/totals.h.
#include "format/totals.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "format/codes/quantise.h"
#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/places.h"
#include "format/time/range_coder.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// A quantity of all ranks.
struct Column {
  std::vector<uint32_t> codes;  // by rank
  std::vector<bool> is_known;
  CodeRange range;
  bool is_empty = true;
  uint32_t places = kMinScalePlaces, least_places = kMinScalePlaces;
  // What fine_places() said last, and of which codes: it is asked again and again of the same.
  struct {
    std::vector<uint32_t> codes;
    CodeRange range;
    uint32_t places = kMinScalePlaces;
  } fine;

  void set(size_t rank, uint32_t code) {
    codes[rank] = code;
    is_known[rank] = true;
    range.least = is_empty ? code : std::min(range.least, code);
    range.greatest = std::max(range.greatest, code);
    is_empty = false;
  }
  CodeScale scale(uint32_t of_places) const {
    return CodeScale::of_places(range.least, range.greatest, of_places);
  }
  CodeScale scale() const { return scale(places); }
};
using Columns = std::array<Column, kQuantities>;

// All but the spans.
Columns columns_of(const TraceData& trace) {
  Columns columns;
  for (Column& c : columns) {
    c.codes.assign(trace.totals.size(), 0);
    c.is_known.assign(trace.totals.size(), false);
  }
  const auto column = [&](Quantity q) -> Column& { return columns[static_cast<size_t>(q)]; };
  const std::vector<uint64_t> own = small_own_work(trace);
  for (size_t r = 0; r < trace.totals.size(); ++r) {
    const RankTotals& t = trace.totals[r];
    if (t.in_mpi_ns > 0 || t.outside_ns > 0)
      column(Quantity::kInMpi).set(r, time_code(t.in_mpi_ns));
    if (t.cost.memory_bytes > 0) {
      column(Quantity::kMemory).set(r, time_code(t.cost.memory_bytes));
      column(Quantity::kTime).set(r, time_code(t.cost.time_ns));
    }
    column(Quantity::kOwn).set(r, time_code(own[r]));
    column(Quantity::kSwitches).set(r, count_code(t.switches));
  }
  return columns;
}

// Bits of a rank's place, about: what it says, and what it takes to learn how likely it is.
double bits_of_place(const Column& c, uint32_t places) {
  if (c.is_empty) return 0;
  const CodeScale scale = c.scale(places);
  std::vector<uint32_t> ranks(scale.last_place() + 1, 0);
  for (size_t r = 0; r < c.codes.size(); ++r) ++ranks[c.is_known[r] ? scale.place(c.codes[r]) : 0];
  const auto all = static_cast<double>(c.codes.size());
  double entropy = 0, distinct = 0;
  for (const uint32_t n : ranks) {
    if (n == 0) continue;
    entropy -= n / all * std::log2(n / all);
    distinct += 1;
  }
  return entropy + distinct * std::log2(places) / 2 / all;
}

// As few as nothing is lost with, or the most. So what was read from a file is written as it was.
uint32_t fine_places(Column& c) {
  std::vector<uint32_t> codes;
  for (size_t r = 0; r < c.codes.size(); ++r)
    if (c.is_known[r]) codes.push_back(c.codes[r]);
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  if (c.range == c.fine.range && codes == c.fine.codes) return c.fine.places;
  // A code that one scale loses most of the others lose.
  size_t lost = 0;
  const auto is_exact = [&](uint32_t places) {
    const CodeScale scale = c.scale(places);
    const auto is_lost = [&](size_t i) { return scale.at(scale.place(codes[i])) != codes[i]; };
    if (lost < codes.size() && is_lost(lost)) return false;
    for (size_t i = 0; i < codes.size(); ++i)
      if (is_lost(i)) return lost = i, false;
    return true;
  };
  uint32_t places = kMinScalePlaces;
  while (places < kMaxScalePlaces && !is_exact(places)) ++places;
  c.fine = {std::move(codes), c.range, places};
  return places;
}
uint32_t places_for(const Column& c, uint32_t most_error) {
  uint32_t places = kMinScalePlaces;
  while (places < kMaxScalePlaces && c.scale(places).max_error() > most_error) ++places;
  return places;
}

// The most that a code may be off: a quarter of a percent of span and time in MPI, 3 % of what
// recording cost, a twelfth of an octave of switches.
constexpr std::array<uint32_t, kQuantities> kMostErrors = {
    (1u << kSpanMantissaBits) / 400, 1024 / 400, 1024 / 34, 1024 / 34, 1024 / 34, 1};

// Spans are those of the time in MPI as it is read again: then only a span's own error comes into
// what is left for the time outside.
void add_spans(const std::vector<uint64_t>& outside_ns, Columns& columns) {
  Column& span = columns[static_cast<size_t>(Quantity::kSpan)];
  span.is_empty = true;
  span.range = {};
  const Column& in_mpi = columns[static_cast<size_t>(Quantity::kInMpi)];
  if (in_mpi.is_empty) return;
  const CodeScale scale = in_mpi.scale();
  for (size_t r = 0; r < outside_ns.size(); ++r) {
    if (!in_mpi.is_known[r]) continue;
    const uint64_t ns = time_of(static_cast<uint16_t>(scale.at(scale.place(in_mpi.codes[r]))));
    const uint64_t outside = std::min(outside_ns[r], UINT64_MAX - ns);
    span.set(r, std::max(span_code(ns + outside), 1u));
  }
}

// Fine where ranks are alike, or few. Else the scale that takes most becomes coarser, until all
// together take a byte of each rank, that of the time in MPI half of it, or are as coarse as they
// may be.
void choose_places(const std::vector<uint64_t>& outside_ns, Columns& columns) {
  constexpr double kBitsOfRank = 7, kFewRanks = 64;  // a bit more is what coding takes
  const auto ranks = static_cast<double>(outside_ns.size());
  const double room = kBitsOfRank * std::max(ranks, kFewRanks) / std::max(ranks, 1.0);
  constexpr auto kFirst = static_cast<size_t>(Quantity::kInMpi);
  std::array<double, kQuantities> takes{};
  const auto begin = [&](size_t q) {
    columns[q].places = fine_places(columns[q]);
    columns[q].least_places = places_for(columns[q], kMostErrors[q]);
    takes[q] = bits_of_place(columns[q], columns[q].places);
  };
  const auto reduce = [&](size_t q) {
    const double before = takes[q];
    columns[q].places = std::max(columns[q].places * 3 / 4, columns[q].least_places);
    takes[q] = bits_of_place(columns[q], columns[q].places);
    return before - takes[q];
  };
  begin(kFirst);
  while (takes[kFirst] > room / 2 && columns[kFirst].places > columns[kFirst].least_places)
    reduce(kFirst);
  columns[kFirst].least_places = columns[kFirst].places;
  add_spans(outside_ns, columns);
  double all = takes[kFirst];
  for (size_t q = 0; q < kQuantities; ++q) {
    if (q == kFirst) continue;
    begin(q);
    all += takes[q];
  }
  while (all > room) {
    size_t most = kQuantities;
    for (size_t q = 0; q < kQuantities; ++q) {
      if (columns[q].places > columns[q].least_places &&
          (most == kQuantities || takes[q] > takes[most]))
        most = q;
    }
    if (most == kQuantities) return;
    all -= reduce(most);
  }
}

// Codes become those that a reader finds, and scales those that are enough for these.
void settle(Columns& columns, std::vector<uint64_t>& outside_ns) {
  const Column& in_mpi = columns[static_cast<size_t>(Quantity::kInMpi)];
  // The spans come first in the file, but need the times that are in them.
  for (const size_t q : {1, 0, 2, 3, 4, 5}) {
    Column& c = columns[q];
    if (c.is_empty) continue;
    const CodeScale scale = c.scale();
    const bool is_span = static_cast<Quantity>(q) == Quantity::kSpan;
    for (size_t r = 0; r < c.codes.size(); ++r) {
      if (!c.is_known[r]) continue;
      uint32_t place = scale.place(c.codes[r]);
      // Else a reader would take the time outside for 0, and write another span.
      const uint64_t inside_ns = is_span ? time_of(static_cast<uint16_t>(in_mpi.codes[r])) : 0;
      while (place < scale.last_place() && span_of(scale.at(place)) < inside_ns) ++place;
      c.codes[r] = scale.at(place);
      if (is_span) outside_ns[r] = std::max(span_of(c.codes[r]), inside_ns) - inside_ns;
    }
    c.places = fine_places(c);
  }
}

// What is read from a file is written as it was: the choice is made again until it stands.
Columns chosen_columns(const TraceData& trace) {
  Columns columns = columns_of(trace);
  std::vector<uint64_t> outside_ns;
  for (const RankTotals& t : trace.totals) outside_ns.push_back(t.outside_ns);
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const Columns before = columns;
    choose_places(outside_ns, columns);
    settle(columns, outside_ns);
    const bool is_same = std::equal(columns.begin(), columns.end(), before.begin(),
                                    [](const Column& a, const Column& b) {
                                      return a.codes == b.codes && a.places == b.places;
                                    });
    if (is_same) break;
  }
  return columns;
}

void write_scales(const TraceData& trace, const Columns& columns, ByteWriter& out) {
  const auto ranks = static_cast<double>(trace.cost.ranks);
  for (size_t q = 0; q < kQuantities; ++q) {
    const Column& c = columns[q];
    out.put_varint(c.is_empty ? 0 : c.places);
    if (c.is_empty) continue;
    out.put_varint(c.range.least);
    out.put_varint(c.range.greatest - c.range.least);
    const auto quantity = static_cast<Quantity>(q);
    if (quantity == Quantity::kMemory)
      out.put_u16(time_code(whole_of(trace.cost.memory_bytes.sum / ranks)));
    if (quantity == Quantity::kTime)
      out.put_u16(time_code(whole_of(trace.cost.time_ns.sum / ranks)));
  }
}

void write_places(const Columns& columns, ByteWriter& out) {
  const size_t ranks = columns[0].codes.size();
  std::array<CodeScale, kQuantities> scales;
  for (size_t q = 0; q < kQuantities; ++q)
    if (!columns[q].is_empty) scales[q] = columns[q].scale();
  std::string bytes;
  RangeEncoder coder(bytes);
  PlaceModel model(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    for (size_t q = 0; q < kQuantities; ++q) {
      const Column& c = columns[q];
      // Without a span there is no time in MPI, without memory no time of the recorder.
      const auto quantity = static_cast<Quantity>(q);
      const bool depends = quantity == Quantity::kInMpi || quantity == Quantity::kTime;
      if (c.is_empty || (depends && !c.is_known[r])) continue;
      model.code(coder, quantity, scales[q].last_place(),
                 c.is_known[r] ? scales[q].place(c.codes[r]) : 0);
    }
  }
  coder.finish();
  out.put_bytes(bytes.data(), bytes.size());
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

// Whether there is anything to say of any rank.
bool has_totals(const TraceData& trace) {
  return trace.cost.ranks > 0 ||
         std::any_of(trace.totals.begin(), trace.totals.end(), [](const RankTotals& t) {
           return t.in_mpi_ns > 0 || t.outside_ns > 0 || t.own_ns > 0 || t.switches > 0;
         });
}

}  // namespace

std::vector<RankTotals> totals_as_read(const TraceData& trace) {
  std::vector<RankTotals> out = trace.totals;
  if (!has_totals(trace)) return out;
  const Columns columns = chosen_columns(trace);
  const Column& in_mpi = columns[static_cast<size_t>(Quantity::kInMpi)];
  const Column& span = columns[static_cast<size_t>(Quantity::kSpan)];
  const CodeScale times = in_mpi.is_empty ? CodeScale() : in_mpi.scale(),
                  spans = span.is_empty ? CodeScale() : span.scale();
  for (size_t r = 0; r < out.size(); ++r) {
    out[r].in_mpi_ns = out[r].outside_ns = 0;
    if (in_mpi.is_empty || !in_mpi.is_known[r] || span.is_empty) continue;
    out[r].in_mpi_ns = time_of(static_cast<uint16_t>(times.at(times.place(in_mpi.codes[r]))));
    const uint64_t span_ns = span_of(spans.at(spans.place(span.codes[r])));
    out[r].outside_ns = span_ns - std::min(span_ns, out[r].in_mpi_ns);
  }
  return out;
}

void write_totals(Encoding& in, ByteWriter& out) {
  if (!has_totals(in.trace)) return out.put_u8(static_cast<uint8_t>(TotalsForm::kNone));
  const Columns columns = chosen_columns(in.trace);
  const bool has_spreads =
      in.trace.cost.ranks > 0 && columns[static_cast<size_t>(Quantity::kMemory)].is_empty;
  out.put_u8(static_cast<uint8_t>(has_spreads ? TotalsForm::kSpreads : TotalsForm::kScales));
  write_scales(in.trace, columns, out);
  if (has_spreads) write_spreads(in.trace.cost, out);
  write_places(columns, out);
}

}  // namespace refrain::format
