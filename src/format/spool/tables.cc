#include "format/spool/tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "format/limits.h"
#include "format/places.h"

namespace refrain::format::spool {

namespace {

bool read_definition(base::ByteReader& in, RankRecord& to) {
  Definition d;
  d.kind = static_cast<DefinitionKind>(in.u8());
  const uint64_t n = in.count(kMaxDefinitionRefs);
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    const uint64_t ref = in.varint();
    if (ref >= to.definitions.size()) return false;
    d.refs.push_back(static_cast<uint32_t>(ref));
  }
  d.payload = in.bytes(in.remaining());
  if (!in.ok() || to.definitions.size() >= kMaxDefinitions) return false;
  to.definitions.push_back(std::move(d));
  return true;
}

bool read_text(base::ByteReader& in, RankRecord& to) {
  std::string key(in.string(kMaxTextBytes));
  if (!in.ok() || to.text.size() >= kMaxTexts) return false;
  to.text[std::move(key)] = in.string(kMaxTextBytes);
  return in.ok();
}

bool read_loss(base::ByteReader& in, int64_t rank, RankRecord& to) {
  LossRecord l;
  l.reason = in.string(kMaxTextBytes);
  l.calls = in.varint();
  l.detail = in.string(kMaxTextBytes);
  l.rank = rank;
  if (!in.ok()) return false;
  add_loss(to, std::move(l));
  return true;
}

bool read_clock(base::ByteReader& in, std::vector<ClockPoint>& to) {
  const int64_t local_ns = in.zigzag(), common_ns = in.zigzag();
  if (!in.ok() || to.size() >= kMaxTexts) return false;
  to.push_back({local_ns, common_ns});
  return true;
}

}  // namespace

void add_loss(RankRecord& record, LossRecord loss) {
  for (LossRecord& l : record.losses) {
    if (l.reason != loss.reason || l.detail != loss.detail) continue;
    l.calls += loss.calls;
    return;
  }
  if (record.losses.size() < kMaxTexts) record.losses.push_back(std::move(loss));
}

void trim(RankRecord& r) {
  uint64_t used = 0;
  for (const RankRecord::Thread& t : r.threads)
    for (const grammar::Symbol& s : t.grammar.symbols)
      if (!s.is_rule) used = std::max<uint64_t>(used, uint64_t{s.id} + 1);
  r.signatures.shrink_to(used);
  r.durations.resize(used);
  if (!r.gaps.empty()) r.gaps.resize(used);
  std::sort(r.threads.begin(), r.threads.end(),
            [](const auto& a, const auto& b) { return a.thread < b.thread; });
}

bool Tables::read(std::string_view record, int64_t rank, RankRecord& to) {
  if (record.empty()) return false;
  base::ByteReader in(record.substr(1));
  switch (static_cast<RecordKind>(record[0])) {
    case RecordKind::kDefinition: return read_definition(in, to);
    case RecordKind::kSignature:
      return unique.signatures().size() < kMaxSignatures && unique.add(record.substr(1));
    case RecordKind::kText: return read_text(in, to);
    case RecordKind::kLoss: return read_loss(in, rank, to);
    case RecordKind::kClock: return read_clock(in, clock);
    case RecordKind::kOwnPiece: return own_pieces.read(in);
    case RecordKind::kRunEnd: return (end = RunEnd::read(in)).has_value();
    case RecordKind::kPlace: return (to.place = read_place(in)).cores > 0 && in.ok();
  }
  return false;
}

}  // namespace refrain::format::spool
