#include "format/spool/read.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "format/limits.h"
#include "format/merge/group.h"
#include "format/spool/parts.h"
#include "format/spool/pieces.h"
#include "format/spool/read_times.h"
#include "format/spool/tables.h"
#include "grammar/builder.h"
#include "grammar/concatenate.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format::spool {

namespace {

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
      if (p.chunk.type == ChunkType::kTables && !read_tables(p)) {
        out_.damage.emplace_back("a table is damaged");
        break;
      }
    out_.clock = std::move(tables_.clock);
    r.signatures = tables_.unique.take();
    stats();
    for (const Piece& p : pieces_)
      if (p.chunk.type == ChunkType::kLocation)
        location(p);
      else if (p.chunk.type == ChunkType::kPosix)
        r.posix = posix_uses(p.data, out_.header);
    read_times(pieces_, tables_.unique.numbers(), out_);
    trim(r);
    tables_.own_pieces.put(r);
    if (tables_.end) tables_.end->put(r);
    return std::move(out_);
  }

 private:
  // -- tables --

  bool read_tables(const Piece& p) {
    const uint64_t used = p.chunk.used;
    if (used > p.data.size()) return false;
    for (uint64_t at = 0; at + sizeof(Record) <= used;) {
      const auto r = load<Record>(p.data, at);
      at += sizeof(Record);
      if (r.bytes == 0 || r.bytes > used - at) return false;
      const std::string_view bytes = p.data.substr(at, r.bytes);
      if (checksum32(bytes) != r.check || !tables_.read(bytes, out_.header.rank, out_.record))
        return false;
      at += padded(r.bytes);
    }
    return true;
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
    StatList list;
    const bool is_good = read_list(in, list);
    if (seen != nullptr && !list.all.empty() && !seen->insert(list.first).second) return is_good;
    const std::vector<uint32_t>& number_of = tables_.unique.numbers();
    for (uint64_t i = 0; i < list.all.size(); ++i)
      if (list.first + i < number_of.size() && !to.empty())
        add_durations(to[number_of[list.first + i]], list.all[i]);
    return is_good;
  }

  uint64_t to_ns(uint64_t ticks) const { return spool::to_ns(out_.header, ticks); }

  // -- threads --

  struct Replay {
    grammar::Builder builder;
    uint64_t base = 0;  // calls of the base
    uint64_t in_mpi_ns = 0;
    uint32_t last = UINT32_MAX;  // terminal of the log's last call
    uint64_t last_ticks = 0;     // its duration
    bool whole = true;
  };

  static std::string of_thread(uint32_t thread) { return "thread " + std::to_string(thread); }

  // Appends what the log has behind the calls that are there. False: the rest makes no sense.
  bool replay(const Piece& p, const Covered& covered, Replay& r) {
    uint64_t at = p.chunk.position;
    LoggedCall call;
    for (LogWords log(p.data); log.next(call);) {
      const uint64_t written = uint64_t{p.chunk.first_terminal} + call.index;
      if (written >= tables_.unique.terminals()) return false;
      const uint32_t terminal = tables_.unique.numbers()[written];
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
    bool seen = false;
    r.base = add_bases(bases_of(pieces_, owner, &seen), tables_.unique.numbers(), calls);
    if (seen && r.base == 0)
      out_.damage.push_back(of_thread(owner) + ": no part of its grammar is sound");
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

  RankSpool out_;
  std::vector<Piece> pieces_;
  Tables tables_;
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

}  // namespace refrain::format::spool
