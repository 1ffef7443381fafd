#include "format/spool/parts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "format/limits.h"
#include "format/merge/duration_bytes.h"
#include "format/posix.h"
#include "grammar/fold.h"
#include "grammar/rename.h"

namespace refrain::format::spool {

void add_duration(DurationStats& d, uint64_t ns) {
  d.min_ns = d.count == 0 ? ns : std::min(d.min_ns, ns);
  d.max_ns = std::max(d.max_ns, ns);
  ++d.count;
  d.sum_ns += static_cast<double>(ns);
  d.histogram.add(static_cast<size_t>(std::bit_width(ns | 1) - 1), 1);
}

std::vector<Base> bases_of(const std::vector<Piece>& pieces, uint32_t owner, bool* seen) {
  std::vector<Base> bases;
  for (const Piece& p : pieces) {
    if (p.chunk.type != ChunkType::kBase || p.chunk.owner != owner) continue;
    *seen = *seen || p.chunk.generation > 0;
    base::ByteReader in(sealed(p));
    const Base b{&p, in.varint(), p.chunk.position};
    if (in.ok() && b.first < b.end && b.end <= kMaxCalls) bases.push_back(b);
  }
  std::sort(bases.begin(), bases.end(), [](const Base& x, const Base& y) {
    return std::pair(x.first, y.end) < std::pair(y.first, x.end);
  });
  return bases;
}

std::optional<grammar::Grammar> grammar_of(const Base& b, const std::vector<uint32_t>& number_of) {
  base::ByteReader in(sealed(*b.piece));
  in.varint();
  const uint64_t first = in.varint(), all = number_of.size();
  auto g = grammar::read(in, grammar::Limits{first < all ? all - first : 0, kMaxCalls});
  uint64_t n = 0;
  if (!g.ok() || !grammar::checked_length(*g, &n) || n != b.end - b.first) return std::nullopt;
  return grammar::rename(std::move(*g), [&](uint32_t id) { return number_of[first + id]; });
}

uint64_t add_bases(const std::vector<Base>& bases, const std::vector<uint32_t>& number_of,
                   grammar::Concatenation& all) {
  uint64_t length = 0;
  for (const Base& b : bases) {
    if (b.first != length) continue;
    const auto g = grammar_of(b, number_of);
    if (!g) continue;
    all.add(*g);
    length = b.end;
  }
  return length;
}

bool read_list(base::ByteReader& in, StatList& list) {
  list.first = in.varint();
  const uint64_t n = in.count(kMaxSignatures);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const DurationStats d = get_duration(in);
    if (d.min_ns > d.max_ns || !(d.sum_ns >= 0) || !std::isfinite(d.sum_ns)) return false;
    list.all.push_back(d);
  }
  return in.ok();
}

std::vector<PosixUse> posix_uses(std::string_view data, const Header& header) {
  PosixCounter counters[kPosixFunctions];
  if (data.size() < sizeof counters) return {};
  std::memcpy(counters, data.data(), sizeof counters);
  return format::posix_uses(counters, [&](uint64_t ticks) { return to_ns(header, ticks); });
}

}  // namespace refrain::format::spool
