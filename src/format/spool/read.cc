#include "format/spool/read.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "format/limits.h"
#include "format/merge/duration_bytes.h"
#include "format/merge/group.h"
#include "format/merge/unique.h"
#include "format/spool/own_pieces.h"
#include "format/spool/pieces.h"
#include "format/spool/read_times.h"
#include "grammar/builder.h"
#include "grammar/concatenate.h"
#include "grammar/fold.h"
#include "grammar/rename.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format::spool {

namespace {

// Calls of a thread: weeks of nothing else, and the sum over kMaxLocations threads fits.
constexpr uint64_t kMaxCalls = uint64_t{1} << 47;

class Reader {
 public:
  Reader(const Header& header, std::string_view file) : reads_times_(true) {
    out_.header = header;
    pieces_ = pieces(file, out_.damage);
  }
  Reader(const Header& header, std::vector<Piece> pieces)
      : pieces_(std::move(pieces)), reads_times_(false) {
    out_.header = header;
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
    r.signatures = unique_.take();
    stats();
    for (const Piece& p : pieces_)
      if (p.chunk.type == ChunkType::kLocation) location(p);
    if (reads_times_) read_times(pieces_, unique_.numbers(), out_);
    trim();
    own_pieces_.put(r);
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
        return unique_.signatures().size() < kMaxSignatures && unique_.add(bytes.substr(1));
      case RecordKind::kText: {
        std::string key(in.string(kMaxTextBytes));
        if (!in.ok() || r.text.size() >= kMaxTexts) return false;
        r.text[std::move(key)] = in.string(kMaxTextBytes);
        return in.ok();
      }
      case RecordKind::kLoss: {
        LossRecord l;
        l.reason = in.string(kMaxTextBytes);
        l.calls = in.varint();
        l.detail = in.string(kMaxTextBytes);
        l.rank = out_.header.rank;
        if (!in.ok()) return false;
        add_loss(std::move(l));
        return true;
      }
      case RecordKind::kClock: {
        const int64_t local_ns = in.zigzag(), common_ns = in.zigzag();
        if (!in.ok() || out_.clock.size() >= kMaxTexts) return false;
        out_.clock.push_back({local_ns, common_ns});
        return true;
      }
      case RecordKind::kOwnPiece: return own_pieces_.read(in);
      case RecordKind::kPlace: return (r.place = read_place(in)).cores > 0 && in.ok();
    }
    return false;
  }

  void add_loss(LossRecord loss) {
    for (LossRecord& l : out_.record.losses) {
      if (l.reason != loss.reason || l.detail != loss.detail) continue;
      l.calls += loss.calls;
      return;
    }
    if (out_.record.losses.size() < kMaxTexts) out_.record.losses.push_back(std::move(loss));
  }

  // -- statistics --

  // Parts first, all of them; then what has not become one, the newest of each thread.
  void stats() {
    out_.record.durations.resize(out_.record.signatures.size());
    if (out_.record.text.contains("gaps")) out_.record.gaps.resize(out_.record.signatures.size());
    std::map<uint32_t, Stats> newest;
    for (const Piece& p : pieces_) {
      Stats s;
      s.piece = &p;
      base::ByteReader in(sealed(p));
      if (p.chunk.type != ChunkType::kStats || !read_head(in, s)) continue;
      if (p.chunk.position != 0) {
        add_stats(s, in);
        continue;
      }
      Stats& known = newest[p.chunk.owner];
      if (known.piece == nullptr || p.chunk.generation > known.piece->chunk.generation) known = s;
    }
    for (auto& [owner, s] : newest) {
      const auto before = covered_.find(owner);
      if (before != covered_.end() && s.begin < before->second.calls) continue;
      base::ByteReader in(sealed(*s.piece));
      read_head(in, s);
      add_stats(s, in);
    }
  }

  void add_stats(const Stats& s, base::ByteReader& in) {
    const uint32_t owner = s.piece->chunk.owner;
    if (!durations(in, &first_calls_, out_.record.durations) ||
        !durations(in, nullptr, out_.record.durations) ||
        !durations(in, nullptr, out_.record.gaps)) {
      out_.damage.push_back(of_thread(owner) + ": bad statistics");
      return;
    }
    Covered& covered = covered_[owner];
    if (s.covered.calls >= covered.calls) covered = s.covered;
  }

  // With `seen`: not those from a terminal that is there already.
  bool durations(base::ByteReader& in, std::set<uint64_t>* seen, std::deque<DurationStats>& to) {
    const uint64_t first = in.varint(), n = in.count(kMaxSignatures);
    const bool is_new = seen == nullptr || n == 0 || seen->insert(first).second;
    for (uint64_t i = 0; i < n && in.ok(); ++i) {
      const DurationStats d = get_duration(in);
      if (d.min_ns > d.max_ns || !(d.sum_ns >= 0) || !std::isfinite(d.sum_ns)) return false;
      const uint64_t terminal = first + i;
      if (in.ok() && is_new && terminal < unique_.terminals() && !to.empty())
        add_durations(to[unique_.numbers()[terminal]], d);
    }
    return in.ok();
  }

  uint64_t to_ns(uint64_t ticks) const {
    const double ns = static_cast<double>(ticks) * out_.header.ns_per_tick;
    return ns >= 0 && ns < 0x1p62 ? static_cast<uint64_t>(ns) : 0;
  }

  static void add_duration(DurationStats& d, uint64_t ns) {
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

  // A base whose head is sound: the calls [first, end) of the thread.
  struct Base {
    const Piece* piece = nullptr;
    uint64_t first = 0, end = 0;
  };

  // Its grammar over the record's signatures.
  std::optional<grammar::Grammar> grammar_of(const Base& b) const {
    base::ByteReader in(sealed(*b.piece));
    in.varint();
    const uint64_t first = in.varint(), all = unique_.terminals();
    auto g = grammar::read(in, grammar::Limits{first < all ? all - first : 0, kMaxCalls});
    uint64_t n = 0;
    if (!g.ok() || !grammar::checked_length(*g, &n) || n != b.end - b.first) return std::nullopt;
    return grammar::rename(std::move(*g),
                           [&](uint32_t id) { return unique_.numbers()[first + id]; });
  }

  // Finished parts one behind the other, and the newest of the two that began behind them.
  uint64_t add_bases(uint32_t owner, grammar::Concatenation& all) {
    std::vector<Base> bases;
    bool seen = false;
    for (const Piece& p : pieces_) {
      if (p.chunk.type != ChunkType::kBase || p.chunk.owner != owner) continue;
      seen = seen || p.chunk.generation > 0;
      base::ByteReader in(sealed(p));
      const Base b{&p, in.varint(), p.chunk.position};
      if (in.ok() && b.first < b.end && b.end <= kMaxCalls) bases.push_back(b);
    }
    std::sort(bases.begin(), bases.end(), [](const Base& x, const Base& y) {
      return std::pair(x.first, y.end) < std::pair(y.first, x.end);
    });
    uint64_t length = 0;
    for (const Base& b : bases) {
      if (b.first != length) continue;
      const auto g = grammar_of(b);
      if (!g) continue;
      all.add(*g);
      length = b.end;
    }
    if (seen && length == 0)
      out_.damage.push_back(of_thread(owner) + ": no part of its grammar is sound");
    return length;
  }

  static std::string of_thread(uint32_t thread) { return "thread " + std::to_string(thread); }

  // Appends what the log has behind the calls that are there. False: the rest makes no sense.
  bool replay(const Piece& p, const Covered& covered, Replay& r) {
    uint64_t at = p.chunk.position;
    LoggedCall call;
    for (LogWords log(p.data); log.next(call);) {
      const uint64_t written = uint64_t{p.chunk.first_terminal} + call.index;
      if (written >= unique_.terminals()) return false;
      const uint32_t terminal = unique_.numbers()[written];
      const uint64_t now = r.base + r.builder.length();
      if (at++ < now) continue;
      if (at - 1 > now || !r.builder.append(terminal)) return false;
      r.last = terminal;
      r.last_ticks = call.ticks;
      if (now < covered.calls) continue;
      const uint64_t ns = to_ns(call.ticks);
      add_duration(out_.record.durations[r.last], ns);
      if (!out_.record.gaps.empty()) add_duration(out_.record.gaps[r.last], to_ns(call.gap));
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
    if (!r.whole) out_.damage.push_back(of_thread(owner) + ": its log is damaged");
    if (r.base > covered.calls)
      out_.damage.push_back(of_thread(owner) + ": durations of some calls are missing");
    if (r.base + r.builder.length() > 0) {
      calls.add(r.builder.finish());
      out_.record.threads.push_back({owner, calls.finish()});
    }
    const uint64_t last = last_ticks(covered, r, state);
    add_totals(covered, r, last);
    out_.threads.push_back(progress(owner, r, state, last));
  }

  static uint32_t last_of(const grammar::Grammar& g, uint64_t length) {
    grammar::TerminalCursor cursor(g);
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
    r.signatures.shrink_to(used);
    r.durations.resize(used);
    if (!r.gaps.empty()) r.gaps.resize(used);
    std::sort(r.threads.begin(), r.threads.end(),
              [](const auto& a, const auto& b) { return a.thread < b.thread; });
  }

  RankSpool out_;
  std::vector<Piece> pieces_;
  bool reads_times_;
  UniqueSignatures unique_;
  OwnPieces own_pieces_;
  std::set<uint64_t> first_calls_;  // terminals from which those are there
  std::map<uint32_t, Covered> covered_;
  std::map<uint32_t, bool> owners_;
};

}  // namespace

base::Result<RankSpool> read(std::string_view bytes) {
  const auto header = read_header(bytes);
  if (!header.ok()) return header.error();
  return Reader(*header, bytes).run();
}

RankSpool read_pieces(const Header& header, std::vector<Piece> pieces) {
  return Reader(header, std::move(pieces)).run();
}

}  // namespace refrain::format::spool
