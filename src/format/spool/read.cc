#include "format/spool/read.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "format/limits.h"
#include "format/merge/duration_bytes.h"
#include "format/merge/group.h"
#include "grammar/builder.h"
#include "grammar/concatenate.h"
#include "grammar/fold.h"
#include "grammar/walk.h"

namespace refrain::format::spool {

namespace {

// Calls of a thread: weeks of nothing else, and the sum over kMaxLocations threads fits.
constexpr uint64_t kMaxCalls = uint64_t{1} << 47;

// A chunk whose header is sound.
struct Piece {
  Chunk chunk;
  std::string_view data;  // behind the header
};

template <class T>
T load(std::string_view bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::vector<Piece> pieces(std::string_view file, std::vector<std::string>& damage) {
  std::vector<Piece> found;
  bool lost = false;
  for (uint64_t at = kPageBytes; at + kPageBytes <= file.size();) {
    const auto c = load<Chunk>(file, at);
    const bool sound = c.magic == kChunkMagic && c.check == check_of(c) && c.offset == at &&
                       c.bytes >= kPageBytes && c.bytes % kPageBytes == 0 &&
                       c.bytes <= file.size() - at;
    if (!sound) {
      // Room that was set apart and not yet used is all zero.
      lost = lost || c.magic != 0;
      at += kPageBytes;
      continue;
    }
    found.push_back({c, file.substr(at + sizeof(Chunk), c.bytes - sizeof(Chunk))});
    at += c.bytes;
  }
  if (lost) damage.emplace_back("a part of the file is overwritten");
  return found;
}

// What a base or stats chunk holds; empty when it is not valid.
std::string_view sealed(const Piece& p) {
  if (p.chunk.generation == 0 || p.chunk.used > p.data.size()) return {};
  const std::string_view bytes = p.data.substr(0, p.chunk.used);
  return checksum32(bytes) == p.chunk.checksum ? bytes : std::string_view();
}

struct Covered {
  uint64_t calls = 0, in_mpi_ns = 0, outside_ns = 0, last_end_ticks = 0;
};

class Reader {
 public:
  Reader(const Header& header, std::string_view file) {
    out_.header = header;
    pieces_ = pieces(file, out_.damage);
  }

  RankSpool run() {
    RankRecord& r = out_.record;
    r.rank = static_cast<uint64_t>(out_.header.rank);
    r.host = out_.header.host;
    for (const Piece& p : pieces_)
      if (p.chunk.type == ChunkType::kTables && !tables(p)) {
        out_.damage.emplace_back("a table is damaged");
        break;
      }
    stats();
    for (const Piece& p : pieces_)
      if (p.chunk.type == ChunkType::kLocation) location(p);
    trim();
    return std::move(out_);
  }

 private:
  // -- tables --

  bool tables(const Piece& p) {
    const uint64_t used = p.chunk.used;
    if (used > p.data.size()) return false;
    for (uint64_t at = 0; at + sizeof(Record) <= used;) {
      const auto r = load<Record>(p.data, at);
      at += sizeof(Record);
      if (r.bytes == 0 || r.bytes > used - at) return false;
      const std::string_view bytes = p.data.substr(at, r.bytes);
      if (checksum32(bytes) != r.check || !record(bytes)) return false;
      at += padded(r.bytes);
    }
    return true;
  }

  bool record(std::string_view bytes) {
    RankRecord& r = out_.record;
    base::ByteReader in(bytes.substr(1));
    switch (static_cast<RecordKind>(bytes[0])) {
      case RecordKind::kDefinition: {
        Definition d;
        d.kind = static_cast<DefinitionKind>(in.u8());
        const uint64_t n = in.count(kMaxDefinitionRefs);
        for (uint64_t i = 0; i < n && in.ok(); ++i) {
          const uint64_t ref = in.varint();
          if (ref >= r.definitions.size()) return false;
          d.refs.push_back(static_cast<uint32_t>(ref));
        }
        d.payload = in.bytes(in.remaining());
        if (!in.ok() || r.definitions.size() >= kMaxDefinitions) return false;
        r.definitions.push_back(std::move(d));
        return true;
      }
      case RecordKind::kSignature:
        if (r.signatures.size() >= kMaxSignatures) return false;
        r.signatures.emplace_back(bytes.substr(1));
        return true;
      case RecordKind::kText: {
        std::string key(in.string(kMaxTextBytes));
        if (!in.ok() || r.text.size() >= kMaxTexts) return false;
        r.text[std::move(key)] = in.string(kMaxTextBytes);
        return in.ok();
      }
      case RecordKind::kLoss: {
        Loss l;
        l.reason = in.string(kMaxTextBytes);
        l.calls = in.varint();
        l.detail = in.string(kMaxTextBytes);
        l.rank = out_.header.rank;
        if (!in.ok()) return false;
        add_loss(std::move(l));
        return true;
      }
    }
    return false;
  }

  void add_loss(Loss loss) {
    for (Loss& l : out_.record.losses) {
      if (l.reason != loss.reason || l.detail != loss.detail) continue;
      l.calls += loss.calls;
      return;
    }
    if (out_.record.losses.size() < kMaxTexts) out_.record.losses.push_back(std::move(loss));
  }

  // -- statistics --

  void stats() {
    out_.record.durations.resize(out_.record.signatures.size());
    std::map<uint32_t, const Piece*> newest;
    for (const Piece& p : pieces_) {
      if (p.chunk.type != ChunkType::kStats || sealed(p).empty()) continue;
      const Piece*& known = newest[p.chunk.owner];
      if (known == nullptr || p.chunk.generation > known->chunk.generation) known = &p;
    }
    for (const auto& [owner, piece] : newest)
      if (!stats(owner, sealed(*piece))) out_.damage.push_back(of(owner) + ": bad statistics");
  }

  bool stats(uint32_t owner, std::string_view bytes) {
    base::ByteReader in(bytes);
    Covered c;
    c.calls = in.varint();
    c.in_mpi_ns = in.varint();
    c.outside_ns = in.varint();
    c.last_end_ticks = in.varint();
    const uint64_t n = in.count(kMaxSignatures);
    std::vector<DurationStats> durations;
    for (uint64_t i = 0; i < n && in.ok(); ++i) {
      durations.push_back(get_duration(in));
      const DurationStats& d = durations.back();
      if (d.min_ns > d.max_ns || !(d.sum_ns >= 0) || !std::isfinite(d.sum_ns)) return false;
    }
    if (!in.ok()) return false;
    covered_[owner] = c;
    for (size_t i = 0; i < durations.size() && i < out_.record.durations.size(); ++i)
      add_durations(out_.record.durations[i], durations[i]);
    return true;
  }

  uint64_t to_ns(uint64_t ticks) const {
    const double ns = static_cast<double>(ticks) * out_.header.ns_per_tick;
    return ns >= 0 && ns < 0x1p62 ? static_cast<uint64_t>(ns) : 0;
  }

  void add_duration(uint32_t terminal, uint64_t ns) {
    DurationStats& d = out_.record.durations[terminal];
    d.min_ns = d.count == 0 ? ns : std::min(d.min_ns, ns);
    d.max_ns = std::max(d.max_ns, ns);
    ++d.count;
    d.sum_ns += static_cast<double>(ns);
    d.histogram.add(static_cast<size_t>(std::bit_width(ns | 1) - 1), 1);
  }

  // -- threads --

  struct Replay {
    grammar::Builder builder;
    uint64_t base = 0;  // calls of the base
    uint64_t in_mpi_ns = 0;
    uint32_t last = UINT32_MAX;  // terminal of the log's last call
    uint64_t last_ticks = 0;     // its duration
    bool whole = true;
  };

  // A base that is sound: the grammar of the calls [first, end) of the thread.
  struct Base {
    uint64_t first = 0, end = 0;
    grammar::Grammar grammar;
  };

  // Finished parts one behind the other, and the newest of the two that began behind them.
  uint64_t add_bases(uint32_t owner, grammar::Concatenation& all) {
    std::vector<Base> bases;
    bool seen = false;
    for (const Piece& p : pieces_) {
      if (p.chunk.type != ChunkType::kBase || p.chunk.owner != owner) continue;
      seen = seen || p.chunk.generation > 0;
      base::ByteReader in(sealed(p));
      Base b;
      b.first = in.varint();
      b.end = p.chunk.position;
      auto g = grammar::read(in, grammar::Limits{out_.record.signatures.size(), kMaxCalls});
      uint64_t n = 0;
      if (!g.ok() || !grammar::checked_length(*g, &n) || b.end > kMaxCalls || n != b.end - b.first)
        continue;
      b.grammar = std::move(*g);
      bases.push_back(std::move(b));
    }
    std::sort(bases.begin(), bases.end(), [](const Base& x, const Base& y) {
      return std::pair(x.first, y.end) < std::pair(y.first, x.end);
    });
    uint64_t length = 0;
    for (const Base& b : bases) {
      if (b.first != length || b.end == length) continue;
      all.add(b.grammar);
      length = b.end;
    }
    if (seen && length == 0) out_.damage.push_back(of(owner) + ": no part of its grammar is sound");
    return length;
  }

  static std::string of(uint32_t thread) { return "thread " + std::to_string(thread); }

  // Appends what the log has behind the calls that are there. False: the rest makes no sense.
  bool replay(const Piece& p, const Covered& covered, Replay& r) {
    uint64_t at = p.chunk.position, high = 0;
    for (uint64_t i = 0; i + 8 <= p.data.size(); i += 8) {
      const auto word = load<uint64_t>(p.data, i);
      const auto low = static_cast<uint32_t>(word);
      if (low == 0) return true;
      if (low == kLongCall) {
        high = word & 0xffffffff00000000;
        continue;
      }
      if (low > out_.record.signatures.size()) return false;
      const uint64_t ticks = high | word >> 32;
      high = 0;
      const uint64_t now = r.base + r.builder.length();
      if (at++ < now) continue;
      if (at - 1 > now || !r.builder.append(low - 1)) return false;
      r.last = low - 1;
      r.last_ticks = ticks;
      if (now < covered.calls) continue;
      const uint64_t ns = to_ns(ticks);
      add_duration(r.last, ns);
      r.in_mpi_ns += ns;
    }
    return true;
  }

  void location(const Piece& p) {
    const uint32_t owner = p.chunk.owner;
    const auto state = load<LocationState>(p.data, 0);
    if (out_.threads.size() >= kMaxLocations || !owners_.emplace(owner, true).second) return;
    Replay r;
    grammar::Concatenation calls;
    r.base = add_bases(owner, calls);
    std::vector<const Piece*> logs;
    for (const Piece& log : pieces_)
      if (log.chunk.type == ChunkType::kLog && log.chunk.owner == owner) logs.push_back(&log);
    std::sort(logs.begin(), logs.end(),
              [](const Piece* a, const Piece* b) { return a->chunk.position < b->chunk.position; });
    const auto known = covered_.find(owner);
    const Covered covered = known == covered_.end() ? Covered() : known->second;
    for (const Piece* log : logs) r.whole = r.whole && replay(*log, covered, r);
    if (!r.whole) out_.damage.push_back(of(owner) + ": its log is damaged");
    if (r.base > covered.calls)
      out_.damage.push_back(of(owner) + ": durations of some calls are missing");
    if (r.base + r.builder.length() > 0) {
      calls.add(r.builder.finish());
      out_.record.threads.push_back({owner, calls.finish()});
    }
    const uint64_t last = last_ticks(covered, r, state);
    add_totals(covered, r, last);
    out_.threads.push_back(progress(owner, r, state, last));
  }

  static uint32_t last_of(const grammar::Grammar& g, uint64_t length) {
    grammar::Cursor cursor(g);
    cursor.seek(length - 1);
    return cursor.next();
  }

  // When the thread was seen last: as it began the call under way, or as the last one ended.
  static uint64_t last_ticks(const Covered& covered, const Replay& r, const LocationState& state) {
    if (state.open_call != 0) return state.entered_ticks;
    return r.last == UINT32_MAX ? std::max(covered.last_end_ticks, state.entered_ticks)
                                : state.entered_ticks + r.last_ticks;
  }

  void add_totals(const Covered& covered, const Replay& r, uint64_t last) {
    RankTotals& t = out_.record.totals;
    const uint64_t begin = out_.header.init_ticks;
    const uint64_t before = covered.last_end_ticks != 0 ? covered.last_end_ticks : begin;
    const uint64_t since = last > before ? to_ns(last - before) : 0;
    t.in_mpi_ns += covered.in_mpi_ns + r.in_mpi_ns;
    t.outside_ns += covered.outside_ns + (since > r.in_mpi_ns ? since - r.in_mpi_ns : 0);
    if (last > begin)
      out_.record.duration_ns = std::max(out_.record.duration_ns, to_ns(last - begin));
  }

  Progress progress(uint32_t owner, const Replay& r, const LocationState& state, uint64_t last) {
    Progress p;
    p.thread = owner;
    p.calls = r.base + r.builder.length();
    p.open_call = state.open_call;
    p.held_calls = state.held_calls;
    const uint32_t terminal = r.last != UINT32_MAX || out_.record.threads.empty() ||
                                      out_.record.threads.back().thread != owner
                                  ? r.last
                                  : last_of(out_.record.threads.back().grammar, r.base);
    if (terminal != UINT32_MAX) {
      base::ByteReader in(out_.record.signatures[terminal]);
      p.last_call = static_cast<uint32_t>(in.varint());
    }
    const Header& h = out_.header;
    p.last_time_ns = last > h.opened_ticks ? h.opened_realtime_ns + to_ns(last - h.opened_ticks)
                                           : h.opened_realtime_ns;
    return p;
  }

  // A signature that was written and whose call was not is none.
  void trim() {
    RankRecord& r = out_.record;
    uint64_t used = 0;
    for (const RankRecord::Thread& t : r.threads)
      for (const grammar::Symbol& s : t.grammar.symbols)
        if (!s.is_rule) used = std::max<uint64_t>(used, uint64_t{s.id} + 1);
    r.signatures.resize(used);
    r.durations.resize(used);
    std::sort(r.threads.begin(), r.threads.end(),
              [](const auto& a, const auto& b) { return a.thread < b.thread; });
  }

  RankSpool out_;
  std::vector<Piece> pieces_;
  std::map<uint32_t, Covered> covered_;
  std::map<uint32_t, bool> owners_;
};

}  // namespace

base::Result<Header> read_header(std::string_view bytes) {
  if (bytes.size() < sizeof(Header)) return base::fail("too short for a spool file");
  auto h = load<Header>(bytes, 0);
  if (h.magic != kMagic) return base::fail("not a spool file of a recorder");
  if (h.version != kVersion)
    return base::unsupported("written by another version of the recorder: recover it with that");
  if (h.check != check_of(h)) return base::fail("its header is damaged");
  if (h.world_size == 0 || h.world_size > kMaxRanks || h.rank < 0 ||
      static_cast<uint32_t>(h.rank) >= h.world_size)
    return base::fail("its header names no rank of a world");
  h.host[sizeof h.host - 1] = '\0';
  if (!(h.ns_per_tick > 0 && h.ns_per_tick < 1e6)) h.ns_per_tick = 1.0;
  return h;
}

base::Result<RankSpool> read(std::string_view bytes) {
  const auto header = read_header(bytes);
  if (!header.ok()) return header.error();
  return Reader(*header, bytes).run();
}

}  // namespace refrain::format::spool
