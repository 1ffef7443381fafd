#include "format/decode/sections.h"

#include <algorithm>

#include "format/quantise.h"
#include "format/walk.h"
#include "grammar/fold.h"

namespace refrain::format {

namespace {

int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void read_operands(FieldReader& in, Expr& e, int64_t signature) {
  switch (e.kind) {
    case Expr::Kind::kConst:
    case Expr::Kind::kMod:
    case Expr::Kind::kXor: e.a = in.zigzag("operand of signature", signature); break;
    case Expr::Kind::kAffine:
      // kMePlus was noted as a factor of 1, of which only the summand is written.
      if (e.a != 1) e.a = in.zigzag("factor of signature", signature);
      e.b = in.zigzag("summand of signature", signature);
      break;
    case Expr::Kind::kCart:
      e.a = in.zigzag("stride of signature", signature);
      e.b = in.zigzag("extent of signature", signature);
      e.d = in.zigzag("shift of signature", signature);
      break;
    case Expr::Kind::kTable:
      e.a = static_cast<int64_t>(in.varint("table of signature", signature, kMaxTables));
      break;
  }
}

bool expr_of(uint8_t code, Expr& e) {
  switch (static_cast<ExprCode>(code)) {
    case ExprCode::kConst: e.kind = Expr::Kind::kConst; return true;
    case ExprCode::kMePlus: e = {Expr::Kind::kAffine, 1, 0, 0}; return true;
    case ExprCode::kAffine: e.kind = Expr::Kind::kAffine; return true;
    case ExprCode::kMod: e.kind = Expr::Kind::kMod; return true;
    case ExprCode::kXor: e.kind = Expr::Kind::kXor; return true;
    case ExprCode::kCart: e.kind = Expr::Kind::kCart; return true;
    case ExprCode::kTable: e.kind = Expr::Kind::kTable; return true;
  }
  return false;
}

// Shapes and the natures of their slots.
std::vector<std::vector<SlotNature>> read_shapes(FieldReader& in, std::vector<Signature>& out) {
  const uint64_t n = in.count("signature count", kMaxSignatures);
  std::vector<uint64_t> lengths;
  for (uint64_t i = 0; i < n && in.ok(); ++i)
    lengths.push_back(in.varint("length of shape", static_cast<int64_t>(i), kMaxSignatureBytes));
  std::vector<std::vector<SlotNature>> natures;
  uint64_t slots = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    const std::string_view shape = in.bytes("shape", lengths[i], static_cast<int64_t>(i));
    auto info = inspect_shape(shape);
    if (!in.ok()) break;
    if (!info) {
      in.fail(kRuleShape, begin, "shape " + std::to_string(i) + " is not a signature");
      break;
    }
    slots += info->slots.size();
    if (slots > in.remaining() || slots > kMaxTotalSlots) {  // each has a code yet to come
      in.fail(kRuleShape, begin, "shape " + std::to_string(i) + " has too many slots");
      break;
    }
    out.push_back(Signature{std::string(shape), {}});
    natures.push_back(std::move(info->slots));
  }
  return natures;
}

}  // namespace

void read_meta(FieldReader& in, Decoding& out) {
  Meta& m = out.trace.meta;
  m.ranks = in.varint("ranks", -1, kMaxRanks);
  m.duration_ns = in.varint("duration_ns");
  const uint64_t texts = in.count("text count", kMaxTexts);
  for (uint64_t i = 0; i < texts && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const uint64_t number = in.varint("key", index);
    std::string key;
    if (number == 0) {
      key = in.string("key name", kMaxTextBytes, index);
    } else if (number <= kTextKeys.size()) {
      key = kTextKeys[static_cast<size_t>(number - 1)];
    } else {
      key = "key_" + std::to_string(number);  // named by a later minor version
    }
    std::string value(in.string("text", kMaxTextBytes, index));
    if (in.ok()) m.text[std::move(key)] = std::move(value);
  }
  const uint64_t hosts = in.count("host count", kMaxHosts);
  for (uint64_t i = 0; i < hosts && in.ok(); ++i)
    m.hosts.emplace_back(in.string("host", kMaxTextBytes, static_cast<int64_t>(i)));
  m.host_of_rank = in.runs("host of rank", kMaxRanks);
}

void read_definitions(FieldReader& in, Decoding& out) {
  std::vector<Definition>& all = out.trace.definitions;
  const uint64_t n = in.count("definition count", kMaxDefinitions);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    all.emplace_back();
    all.back().kind = static_cast<DefinitionKind>(in.u8("kind", static_cast<int64_t>(i)));
  }
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const uint64_t refs = in.count("reference count of definition", kMaxDefinitionRefs, index);
    for (uint64_t k = 0; k < refs && in.ok(); ++k)
      all[i].refs.push_back(
          static_cast<uint32_t>(in.varint("reference of definition", index, UINT32_MAX)));
  }
  int64_t offset = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    if (all[i].kind != DefinitionKind::kSite) continue;
    offset = wrapping_add(offset, in.zigzag("offset gap of site", static_cast<int64_t>(i)));
    base::ByteWriter payload;
    payload.put_zigzag(offset);
    all[i].payload = payload.take();
  }
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    if (all[i].kind == DefinitionKind::kSite) continue;
    all[i].payload =
        in.string("payload of definition", kMaxDefinitionBytes, static_cast<int64_t>(i));
  }
}

void read_signatures(FieldReader& in, Decoding& out) {
  std::vector<Signature>& all = out.trace.signatures;
  const auto natures = read_shapes(in, all);
  for (size_t s = 0; s < all.size() && in.ok(); ++s) {
    all[s].slots.reserve(natures[s].size());
    for (size_t k = 0; k < natures[s].size() && in.ok(); ++k) {
      const size_t begin = in.position();
      all[s].slots.emplace_back();
      if (!expr_of(in.u8("expression of signature", static_cast<int64_t>(s)), all[s].slots.back()))
        in.fail(kRuleFields, begin, "unknown expression in signature " + std::to_string(s));
    }
  }
  // Three columns: call sites, other definitions, numbers.
  int64_t site = 0;
  for (int column = 0; column < 3; ++column) {
    for (size_t s = 0; s < all.size() && in.ok(); ++s) {
      const auto index = static_cast<int64_t>(s);
      for (size_t k = 0; k < all[s].slots.size() && in.ok(); ++k) {
        Expr& e = all[s].slots[k];
        const bool is_definition = natures[s][k] == SlotNature::kDefinition;
        const bool is_const = e.kind == Expr::Kind::kConst;
        const int wanted = !is_definition ? 2 : k == 0 && is_const ? 0 : 1;
        if (wanted != column) continue;
        if (column == 0) {
          site = wrapping_add(site, in.zigzag("site gap of signature", index));
          e.a = site;
        } else if (column == 1 && is_const) {
          e.a = static_cast<int64_t>(in.varint("definition of signature", index, kMaxDefinitions));
        } else {
          read_operands(in, e, index);
        }
      }
    }
  }
}

void read_tables(FieldReader& in, Decoding& out) {
  const uint64_t n = in.count("table count", kMaxTables);
  for (uint64_t i = 0; i < n && in.ok(); ++i)
    out.trace.tables.push_back(in.runs("table", kMaxRanks, static_cast<int64_t>(i)));
}

void read_durations(FieldReader& in, Decoding& out) {
  std::vector<DurationCodes>& all = out.durations;
  const size_t n = out.trace.signatures.size();
  const auto each = [&](auto&& read) {
    for (size_t i = 0; i < n && in.ok(); ++i) read(all[i], static_cast<int64_t>(i));
  };
  // Six bytes each at least; the check keeps a short section from costing memory.
  if (in.remaining() < n * 6) {
    in.fail(kRuleFields, 0, "too short for the durations of " + std::to_string(n) + " signatures");
    return;
  }
  all.resize(n);
  each([&](DurationCodes& d, int64_t i) { d.mean = in.u16("mean of signature", i); });
  each([&](DurationCodes& d, int64_t i) {
    const size_t begin = in.position();
    const uint64_t gap = in.varint("mean - minimum of signature", i);
    if (gap > d.mean) return in.fail(kRuleDurations, begin, "minimum below zero");
    d.min = static_cast<uint16_t>(d.mean - gap);
  });
  each([&](DurationCodes& d, int64_t i) {
    const size_t begin = in.position();
    const uint64_t gap = in.varint("maximum - mean of signature", i);
    if (gap > uint64_t{kMaxTimeCode} - std::min(d.mean, kMaxTimeCode) || d.mean > kMaxTimeCode)
      return in.fail(kRuleDurations, begin, "maximum beyond 64 bits");
    d.max = static_cast<uint16_t>(d.mean + gap);
  });
  each(
      [&](DurationCodes& d, int64_t i) { d.first_bucket = in.u8("first bucket of signature", i); });
  each([&](DurationCodes& d, int64_t i) {
    const size_t begin = in.position();
    const uint8_t buckets = in.u8("bucket count of signature", i);
    if (d.first_bucket + buckets > Histogram::kBuckets)
      return in.fail(kRuleLimits, begin, "buckets beyond the last one");
    d.shares.resize(buckets);
  });
  each([&](DurationCodes& d, int64_t i) {
    for (uint8_t& share : d.shares) share = in.u8("share of signature", i);
  });
}

void read_grammars(FieldReader& in, Decoding& out) {
  const uint64_t n = in.count("grammar count", kMaxGrammars);
  uint64_t symbols = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    // In one group no two terminals become the same signature.
    auto g = grammar::read(in.bytes(), grammar::Limits{out.trace.signatures.size()});
    if (!g.ok()) {
      in.fail(kRuleGrammar, begin, "number " + std::to_string(i) + ": " + g.error().message);
      break;
    }
    symbols += g->symbols.size();
    if (symbols > kMaxGrammarSymbols) {
      in.fail(kRuleLimits, begin, "too many symbols in all grammars");
      break;
    }
    in.done(begin, "grammar", static_cast<int64_t>(i),
            std::to_string(g->rule_count()) + " rules, " + std::to_string(g->symbols.size()) +
                " symbols");
    out.trace.grammars.push_back(std::move(*g));
  }
}

void read_groups(FieldReader& in, Decoding& out) {
  std::vector<Group>& all = out.trace.groups;
  const uint64_t n = in.count("group count", kMaxGroups);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    all.emplace_back();
    all.back().ranks = in.runs("ranks of group", kMaxRanks, static_cast<int64_t>(i));
  }
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const uint64_t locations = in.count("location count of group", kMaxLocations, index);
    for (uint64_t l = 0; l < locations && in.ok(); ++l) {
      Location loc;
      loc.thread = static_cast<uint32_t>(in.varint("thread of group", index, UINT32_MAX));
      loc.grammar = static_cast<uint32_t>(in.varint("grammar of group", index, kMaxGrammars));
      all[i].locations.push_back(loc);
    }
  }
  std::vector<uint64_t> lengths;
  uint64_t left = in.remaining();
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const size_t begin = in.position();
    lengths.push_back(
        in.varint("signature count of group", static_cast<int64_t>(i), kMaxSignatures));
    if (lengths.back() > left)
      in.fail(kRuleFields, begin, "more signatures than there are bytes");
    else
      left -= lengths.back();
  }
  std::vector<uint32_t> before;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    std::vector<uint32_t>& list = all[i].signatures;
    int64_t next = 0;
    for (uint64_t t = 0; t < lengths[i] && in.ok(); ++t) {
      const size_t begin = in.position();
      const uint64_t code = in.varint("signature of group", static_cast<int64_t>(i));
      int64_t s = 0;
      if (code != 0) {
        s = wrapping_add(next, base::unzigzag(code - 1));
      } else if (t < before.size()) {
        s = before[static_cast<size_t>(t)];
      } else {
        s = -1;
      }
      if (in.ok() && (s < 0 || static_cast<uint64_t>(s) >= out.trace.signatures.size())) {
        in.fail(kRuleGroupSignatures, begin, "unknown signature in group " + std::to_string(i));
        break;
      }
      list.push_back(static_cast<uint32_t>(s));
      next = s + 1;
    }
    before = list;
  }
}

void read_totals(FieldReader& in, Decoding& out) {
  const uint64_t ranks = out.trace.meta.ranks;
  if (in.remaining() != ranks * 4) {
    in.fail(kRuleTotals, 0, "not 4 bytes for each of " + std::to_string(ranks) + " ranks");
    return;
  }
  std::vector<RankTotals>& all = out.trace.totals;
  all.resize(ranks);
  for (uint64_t r = 0; r < ranks; ++r)
    all[r].in_mpi_ns = time_of(in.u16("time in MPI of rank", static_cast<int64_t>(r)));
  for (uint64_t r = 0; r < ranks; ++r)
    all[r].outside_ns = time_of(in.u16("time outside of rank", static_cast<int64_t>(r)));
}

void read_losses(FieldReader& in, Decoding& out) {
  const uint64_t n = in.count("loss count", kMaxLosses);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const auto index = static_cast<int64_t>(i);
    Loss l;
    l.reason = in.string("reason", kMaxTextBytes, index);
    l.calls = in.varint("calls", index);
    l.rank = in.zigzag("rank", index);
    l.detail = in.string("detail", kMaxTextBytes, index);
    if (in.ok()) out.trace.losses.push_back(std::move(l));
  }
}

void count_calls(Decoding& decoding) {
  TraceData& trace = decoding.trace;
  trace.durations.assign(trace.signatures.size(), DurationStats{});
  for (const Group& group : trace.groups) {
    for (const Location& loc : group.locations) {
      const auto counts =
          grammar::occurrences(trace.grammars[loc.grammar], group.signatures.size());
      for (size_t t = 0; t < counts.size(); ++t) {
        uint64_t& total = trace.durations[group.signatures[t]].count;
        const uint64_t ranks = group.ranks.size();
        const bool fits = ranks == 0 || counts[t] <= (UINT64_MAX - total) / ranks;
        total = fits ? total + counts[t] * ranks : UINT64_MAX;
      }
    }
  }
  for (size_t i = 0; i < trace.durations.size() && i < decoding.durations.size(); ++i) {
    DurationStats& d = trace.durations[i];
    const DurationCodes& codes = decoding.durations[i];
    d.min_ns = time_of(codes.min);
    d.max_ns = time_of(codes.max);
    d.sum_ns = static_cast<double>(time_of(codes.mean)) * static_cast<double>(d.count);
    for (size_t b = 0; b < codes.shares.size(); ++b)
      d.histogram.add(codes.first_bucket + b, share_of(codes.shares[b], d.count));
  }
}

}  // namespace refrain::format
