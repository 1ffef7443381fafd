#include "tracer/finish/time_handover.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "format/limits.h"
#include "format/time/clocks.h"
#include "mpi_runtime/rank_exchange.h"
#include "tracer/finish/segment_handover.h"
#include "tracer/state/abandon.h"
#include "tracer/state/complain.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"
#include "tracer/times/segment_times.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

namespace {

constexpr int kTag = 2;
// Ranks that are asked while one is being received from: who waits sleeps, and takes a while to
// wake up.
constexpr int kAhead = 16;
// Asks for no times, but that a rank takes part in making segments.
constexpr uint64_t kReduce = 100;

using Points = std::vector<format::ClockPoint>;

// ---- as bytes ----

void put_points(const Points& points, base::ByteWriter& out) {
  out.put_varint(points.size());
  for (const format::ClockPoint& p : points) {
    out.put_zigzag(p.local_ns);
    out.put_zigzag(p.common_ns);
  }
}

Points get_points(base::ByteReader& in) {
  Points points(in.count(format::kMaxClockPoints));
  for (format::ClockPoint& p : points) {
    p.local_ns = in.zigzag();
    p.common_ns = in.zigzag();
  }
  return in.ok() ? points : Points();
}

std::string piece_of(uint32_t thread, const std::vector<format::TimeBlock>& blocks,
                     std::string_view bytes) {
  base::ByteWriter out;
  out.put_varint(thread);
  out.put_varint(blocks.size());
  for (const format::TimeBlock& b : blocks) {
    out.put_u8(static_cast<uint8_t>(b.coding));
    out.put_varint(b.calls);
    out.put_varint(b.bytes);
    out.put_u32(b.checksum);
    out.put_varint(b.begin_ns);
    out.put_varint(b.end_ns);
  }
  out.put_bytes(bytes.data(), bytes.size());
  return out.take();
}

// False: the bytes make no piece.
bool take_piece(uint64_t rank, std::string_view piece, const TimeSource::Take& take, bool* wanted) {
  base::ByteReader in(piece);
  format::TimeChunk chunk;
  chunk.rank = rank;
  chunk.thread = static_cast<uint32_t>(in.varint());
  const uint64_t n = in.count(piece.size());
  uint64_t sum = 0;
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    format::TimeBlock b;
    b.coding = static_cast<format::BlockCoding>(in.u8());
    b.calls = static_cast<uint32_t>(in.varint());
    b.bytes = static_cast<uint32_t>(in.varint());
    b.checksum = in.u32();
    b.begin_ns = in.varint();
    b.end_ns = in.varint();
    sum += b.bytes;
    chunk.blocks.push_back(b);
  }
  if (!in.ok() || in.remaining() != sum) return false;
  if (*wanted) *wanted = take(std::move(chunk), in.bytes(sum));
  return true;
}

template <class Put>
void each_own_piece(const Process& p, TimeLog::Which which, Put put) {
  if (is_abandoned()) return;
  if (which == TimeLog::Which::kSegments)
    return p.times->segments()->each(
        [&](uint32_t thread, const auto& blocks, std::string_view bytes) {
          put(piece_of(thread, blocks, bytes));
        });
  for (const Location* l : p.locations) {
    if (l->times == nullptr) continue;
    const bool whole =
        l->times->for_each_run(*l, which, [&](const auto& blocks, std::string_view bytes) {
          put(piece_of(l->thread, blocks, bytes));
        });
    if (!whole) complain(p, "cannot read times of its calls back from the spool");
  }
}

// ---- as messages, by send_bytes(): length 0 ends them ----

// Without memory for it, it is taken all the same, and empty.
bool receive_message(int from, std::string& bytes, bool* end) {
  uint64_t n = 0;
  if (!receive_patiently(recorders(), &n, sizeof n, from, kTag)) return false;
  *end = n == 0;
  const bool room = memory_for(n);
  bytes.resize(room ? n : 0);
  char nowhere = 0;
  const bool came = n == 0 || receive_patiently(recorders(), room ? bytes.data() : &nowhere,
                                                room ? static_cast<int>(n) : 1, from, kTag);
  return came || !room;
}

class TimesOfRanks final : public TimeSource {
 public:
  explicit TimesOfRanks(Process& p) : p_(p) {}

  // Once, and first of all: the ranks send theirs without being asked. Of ranks that are not
  // recorded there are none.
  std::vector<Points> clocks() override {
    if (!clocks_.empty()) return clocks_;
    std::vector<Points> clocks(static_cast<size_t>(p_.size));
    clocks[static_cast<size_t>(p_.rank)] = p_.times->points();
    for (int peer = 1; peer < peers().count; ++peer) {
      std::string bytes;
      bool end = false;
      const bool came = receive_message(peer, bytes, &end);
      base::ByteReader in(came ? std::string_view(bytes) : std::string_view());
      clocks[static_cast<size_t>(peers().rank_of(peer))] = get_points(in);
    }
    return clocks_ = std::move(clocks);
  }
  int first_rank() const { return p_.rank; }

  void each(TimeLog::Which which, const Take& take) override {
    bool wanted = true;
    const auto take_of = [&](int rank, std::string_view piece) {
      return take_piece(static_cast<uint64_t>(rank), piece, take, &wanted);
    };
    if (is_wanted(p_.rank))
      each_own_piece(p_, which, [&](const std::string& piece) { take_of(p_.rank, piece); });
    const uint64_t word = word_of(which);
    int next = 1;
    for (int peer = 1; peer < peers().count; ++peer) {
      for (; next < peers().count && next <= peer + kAhead; ++next)
        if (is_wanted(peers().rank_of(next)))
          send_patiently(recorders(), &word, sizeof word, next, kTag);
      if (!is_wanted(peers().rank_of(peer))) continue;
      std::string bytes;
      bool end = false;
      while (receive_message(peer, bytes, &end) && !end)
        if (!take_of(peers().rank_of(peer), bytes)) wanted = false;
    }
  }

  // With clocks as they stand in a file.
  base::Result<format::ReducedTimes> reduce_with(const format::TraceData& trace,
                                                 const std::vector<Points>& clocks) {
    for (int peer = 1; peer < peers().count; ++peer)
      send_patiently(recorders(), &kReduce, sizeof kReduce, peer, kTag);
    return reduce_all(p_, trace, clocks);
  }

  // Nobody may be left waiting.
  void end() {
    const uint64_t no_more = 0;
    for (int peer = 1; peer < peers().count; ++peer)
      send_patiently(recorders(), &no_more, sizeof no_more, peer, kTag);
  }

  // What a rank is asked with.
  static uint64_t word_of(TimeLog::Which which) { return static_cast<uint64_t>(which) + 1; }

 private:
  Process& p_;
  std::vector<Points> clocks_;
};

void send_times(Process& p) {
  base::ByteWriter points;
  put_points(p.times->points(), points);
  if (!send_bytes(recorders(), points.view(), 0, kTag)) return;
  for (;;) {
    uint64_t word = 0;
    if (!receive_patiently(recorders(), &word, sizeof word, 0, kTag) || word == 0) return;
    if (word == kReduce) {
      take_part_in_reducing(p);
      continue;
    }
    for (const TimeLog::Which which :
         {TimeLog::Which::kKept, TimeLog::Which::kExactCopy, TimeLog::Which::kSegments})
      if (word == TimesOfRanks::word_of(which))
        each_own_piece(p, which,
                       [](const std::string& piece) { send_bytes(recorders(), piece, 0, kTag); });
    send_bytes(recorders(), {}, 0, kTag);
  }
}

// Without a clock of the first rank there is no common one.
std::vector<Points> clocks_from_zero(std::vector<Points> clocks, int first) {
  const auto at = static_cast<size_t>(first);
  if (clocks.size() <= at || clocks[at].empty()) return {};
  return format::from_zero(std::move(clocks));
}

class FromZero final : public TimeSource {
 public:
  explicit FromZero(TimesOfRanks& source) : source_(source) {}
  std::vector<Points> clocks() override {
    return clocks_from_zero(source_.clocks(), source_.first_rank());
  }
  void only(std::vector<bool> ranks) override { source_.only(std::move(ranks)); }
  void each(TimeLog::Which which, const Take& take) override { source_.each(which, take); }
  base::Result<format::ReducedTimes> reduce(const format::TraceData& trace) override {
    return source_.reduce_with(trace, clocks());
  }

 private:
  TimesOfRanks& source_;
};

}  // namespace

void hand_times_over(Process& p, const std::function<void(TimeSource&)>& write) {
  if (peers().mine != 0) return send_times(p);
  TimesOfRanks times(p);
  FromZero source(times);
  times.clocks();
  write(source);
  times.end();
}

// ---- as files: points, and then pieces, each with its length before it ----

std::string times_to_bytes(Process& p) {
  base::ByteWriter out;
  put_points(p.times->points(), out);
  each_own_piece(p, TimeLog::Which::kKept,
                 [&out](const std::string& piece) { out.put_string(piece); });
  return out.take();
}

TimesOfFiles::TimesOfFiles(int ranks, std::function<std::string(int)> read)
    : ranks_(ranks), read_(std::move(read)) {
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string bytes = read_(rank);
    base::ByteReader in(bytes);
    clocks_.push_back(get_points(in));
  }
  clocks_ = clocks_from_zero(std::move(clocks_), 0);
}

void TimesOfFiles::each(TimeLog::Which which, const Take& take) {
  bool wanted = which == TimeLog::Which::kKept;
  for (int rank = 0; rank < ranks_ && wanted; ++rank) {
    const std::string bytes = read_(rank);
    base::ByteReader in(bytes);
    get_points(in);
    while (in.ok() && in.remaining() > 0 && wanted)
      if (!take_piece(static_cast<uint64_t>(rank), in.string(bytes.size()), take, &wanted)) break;
  }
}

}  // namespace refrain::tracer
