#include "format/encode/sections.h"

#include <algorithm>
#include <cmath>

#include "format/quantise.h"
#include "format/run_codec.h"
#include "format/walk.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// Position of a well-known key in kTextKeys plus 1; 0 for any other.
uint64_t key_number(const std::string& key) {
  const auto it = std::find(kTextKeys.begin(), kTextKeys.end(), key);
  return it == kTextKeys.end() ? 0 : static_cast<uint64_t>(it - kTextKeys.begin()) + 1;
}

ExprCode code_of(const Expr& e) {
  switch (e.kind) {
    case Expr::Kind::kConst: return ExprCode::kConst;
    case Expr::Kind::kAffine: return e.a == 1 ? ExprCode::kMePlus : ExprCode::kAffine;
    case Expr::Kind::kMod: return ExprCode::kMod;
    case Expr::Kind::kXor: return ExprCode::kXor;
    case Expr::Kind::kCart: return ExprCode::kCart;
    case Expr::Kind::kTable: return ExprCode::kTable;
  }
  return ExprCode::kConst;
}

void put_operands(const Expr& e, ByteWriter& out) {
  switch (code_of(e)) {
    case ExprCode::kConst:
    case ExprCode::kMod:
    case ExprCode::kXor: out.put_zigzag(e.a); break;
    case ExprCode::kMePlus: out.put_zigzag(e.b); break;
    case ExprCode::kAffine:
      out.put_zigzag(e.a);
      out.put_zigzag(e.b);
      break;
    case ExprCode::kCart:
      out.put_zigzag(e.a);
      out.put_zigzag(e.b);
      out.put_zigzag(e.d);
      break;
    case ExprCode::kTable: out.put_varint(static_cast<uint64_t>(e.a)); break;
  }
}

}  // namespace

void write_meta(const TraceData& trace, ByteWriter& out) {
  const Meta& m = trace.meta;
  out.put_varint(m.ranks);
  out.put_varint(m.duration_ns);
  out.put_varint(m.text.size());
  for (const auto& [key, value] : m.text) {
    const uint64_t number = key_number(key);
    out.put_varint(number);
    if (number == 0) out.put_string(key);
    out.put_string(value);
  }
  out.put_varint(m.hosts.size());
  for (const std::string& host : m.hosts) out.put_string(host);
  write_runs(m.host_of_rank, out);
}

void write_definitions(const TraceData& trace, ByteWriter& out) {
  const std::vector<Definition>& all = trace.definitions;
  out.put_varint(all.size());
  for (const Definition& d : all) out.put_u8(static_cast<uint8_t>(d.kind));
  for (const Definition& d : all) {
    out.put_varint(d.refs.size());
    for (const uint32_t r : d.refs) out.put_varint(r);
  }
  // Offsets of call sites rise with the program's text: the gaps are short.
  int64_t last_offset = 0;
  for (const Definition& d : all) {
    if (d.kind != DefinitionKind::kSite) continue;
    const int64_t offset = base::ByteReader(d.payload).zigzag();
    out.put_zigzag(
        static_cast<int64_t>(static_cast<uint64_t>(offset) - static_cast<uint64_t>(last_offset)));
    last_offset = offset;
  }
  for (const Definition& d : all) {
    if (d.kind != DefinitionKind::kSite) out.put_string(d.payload);
  }
}

void write_signatures(const TraceData& trace, ByteWriter& out) {
  out.put_varint(trace.signatures.size());
  for (const Signature& s : trace.signatures) out.put_varint(s.shape.size());
  for (const Signature& s : trace.signatures) out.put_bytes(s.shape.data(), s.shape.size());
  for (const Signature& s : trace.signatures) {
    for (const Expr& e : s.slots) out.put_u8(static_cast<uint8_t>(code_of(e)));
  }
  // Operands in three columns: call sites (they rise one by one), definitions, numbers.
  ByteWriter sites, definitions, numbers;
  int64_t last_site = 0;
  for (const Signature& s : trace.signatures) {
    const auto info = inspect_shape(s.shape);  // checked before
    for (size_t i = 0; i < s.slots.size(); ++i) {
      const Expr& e = s.slots[i];
      const bool is_definition = info->slots[i] == SlotNature::kDefinition;
      if (e.kind == Expr::Kind::kTable || !is_definition) {
        put_operands(e, is_definition ? definitions : numbers);
      } else if (i == 0) {
        sites.put_zigzag(e.a - last_site);
        last_site = e.a;
      } else {
        definitions.put_varint(static_cast<uint64_t>(e.a));
      }
    }
  }
  for (const ByteWriter* column : {&sites, &definitions, &numbers})
    out.put_bytes(column->view().data(), column->size());
}

void write_tables(const TraceData& trace, ByteWriter& out) {
  out.put_varint(trace.tables.size());
  for (const base::RunList& t : trace.tables) write_runs(t, out);
}

void write_durations(const TraceData& trace, ByteWriter& out) {
  struct Codes {
    uint16_t min, mean, max;
  };
  std::vector<Codes> codes;
  for (const DurationStats& d : trace.durations) {
    const double mean = d.count == 0 ? 0 : d.sum_ns / static_cast<double>(d.count);
    Codes c{time_code(d.min_ns), 0, time_code(d.max_ns)};
    c.mean = mean >= 0x1p63 ? c.max : time_code(static_cast<uint64_t>(std::llround(mean)));
    c.mean = std::clamp(c.mean, c.min, c.max);
    codes.push_back(c);
  }
  for (const Codes& c : codes) out.put_u16(c.mean);
  for (const Codes& c : codes) out.put_varint(static_cast<uint64_t>(c.mean - c.min));
  for (const Codes& c : codes) out.put_varint(static_cast<uint64_t>(c.max - c.mean));
  std::vector<std::pair<size_t, size_t>> spans;  // [first bucket, end)
  for (const DurationStats& d : trace.durations) {
    size_t first = 0, end = d.histogram.size();
    while (end > 0 && d.histogram[end - 1] == 0) --end;
    while (first < end && d.histogram[first] == 0) ++first;
    spans.emplace_back(end == 0 ? 0 : first, end);
  }
  for (const auto& [first, end] : spans) out.put_u8(static_cast<uint8_t>(first));
  for (const auto& [first, end] : spans) out.put_u8(static_cast<uint8_t>(end - first));
  for (size_t i = 0; i < spans.size(); ++i) {
    const DurationStats& d = trace.durations[i];
    for (size_t b = spans[i].first; b < spans[i].second; ++b)
      out.put_u8(share_code(d.histogram[b], d.count));
  }
}

void write_grammars(const TraceData& trace, ByteWriter& out) {
  out.put_varint(trace.grammars.size());
  for (const grammar::Grammar& g : trace.grammars) grammar::write(g, out);
}

void write_groups(const TraceData& trace, ByteWriter& out) {
  out.put_varint(trace.groups.size());
  for (const Group& g : trace.groups) write_runs(g.ranks, out);
  for (const Group& g : trace.groups) {
    out.put_varint(g.locations.size());
    for (const Location& l : g.locations) {
      out.put_varint(l.thread);
      out.put_varint(l.grammar);
    }
  }
  for (const Group& g : trace.groups) out.put_varint(g.signatures.size());
  // Mostly what the group before has for the same terminal (0), or the next number (1).
  const std::vector<uint32_t> none;
  const std::vector<uint32_t>* before = &none;
  for (const Group& g : trace.groups) {
    int64_t next = 0;
    for (size_t t = 0; t < g.signatures.size(); ++t) {
      const int64_t s = g.signatures[t];
      const bool same = t < before->size() && (*before)[t] == g.signatures[t];
      out.put_varint(same ? 0 : 1 + base::zigzag(s - next));
      next = s + 1;
    }
    before = &g.signatures;
  }
}

void write_totals(const TraceData& trace, ByteWriter& out) {
  for (const RankTotals& t : trace.totals) out.put_u16(time_code(t.in_mpi_ns));
  for (const RankTotals& t : trace.totals) out.put_u16(time_code(t.outside_ns));
}

void write_losses(const TraceData& trace, ByteWriter& out) {
  out.put_varint(trace.losses.size());
  for (const Loss& l : trace.losses) {
    out.put_string(l.reason);
    out.put_varint(l.calls);
    out.put_zigzag(l.rank);
    out.put_string(l.detail);
  }
}

}  // namespace refrain::format
