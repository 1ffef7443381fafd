#include "format/spool/read_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "format/limits.h"
#include "format/spool/matched.h"
#include "format/spool/time_chunks.h"
#include "format/time/block_encoder.h"

namespace refrain::format::spool {

namespace {

bool is_matched(const TimeBlock& b) { return b.coding == BlockCoding::kMatched; }

// What there is of a thread.
struct TimePieces {
  std::vector<std::string_view> chunks;  // headers included, in the order of the file
  std::string_view row;
};

// Of the first calls of a thread, of which `calls` are known.
ThreadTimes read_thread(const RankSpool& rank, const std::vector<uint32_t>& number_of,
                        const TimePieces& pieces, uint64_t calls, bool* damaged) {
  ThreadTimes all;
  *damaged = false;
  for (const std::string_view chunk : pieces.chunks)
    if (!*damaged && !read_time_blocks(chunk, all.blocks, all.bytes)) *damaged = true;
  // Blocks of calls that did not come back.
  MatchedReader matched;
  uint64_t bytes = 0;
  for (size_t i = 0; i < all.blocks.size(); ++i) {
    const TimeBlock& b = all.blocks[i];
    const bool in_order = i == 0 || b.end_ns >= all.blocks[i - 1].end_ns;
    const auto coded = std::string_view(all.bytes).substr(bytes, b.bytes);
    if (in_order && b.calls <= calls - all.calls &&
        (!is_matched(b) || matched.read(b, coded, nullptr))) {
      all.calls += b.calls;
      bytes += b.bytes;
      continue;
    }
    *damaged = true;
    all.blocks.resize(i);
    all.bytes.resize(bytes);
  }
  const TimeRow row = read_time_row(pieces.row);
  if (!*damaged && row.position == all.calls)
    encode_row(rank.header, rank.timing, number_of, row, calls - all.calls, all);
  return all;
}

}  // namespace

uint64_t time_of_ticks(const Header& header, uint64_t ticks, double ns_per_tick) {
  if (ticks <= header.init_ticks) return 0;
  const double ns = static_cast<double>(ticks - header.init_ticks) * ns_per_tick;
  return ns < 0x1p61 ? static_cast<uint64_t>(ns) : 0;
}

void encode_row(const Header& header, const TimeSpec& timing,
                const std::vector<uint32_t>& number_of, const TimeRow& row, uint64_t room,
                ThreadTimes& to) {
  BlockEncoder encoder(timing);
  encoder.begin_at(to.blocks.empty() ? 0 : to.blocks.back().end_ns);
  const bool by_function = row.first_terminal != 0;
  // Of what becomes segments; and the row of a matcher has calls from before tables began anew.
  const bool plainly = timing.mode == TimeMode::kSegments;
  std::vector<format::TimedCall> calls;
  for (const TimeRowCall& c : row.calls) {
    const uint64_t terminal = uint64_t{row.first_terminal} + c.terminal - 1;
    if (calls.size() >= std::min(room, kMaxCallsPerBlock) || c.call > UINT16_MAX) break;
    if (!plainly && terminal >= number_of.size()) break;
    const uint32_t kind_of_call = plainly ? 0 : by_function ? c.call : number_of[terminal];
    if (!plainly) encoder.set_call(kind_of_call, static_cast<uint16_t>(c.call));
    calls.push_back({kind_of_call, time_of_ticks(header, c.begin_ticks, row.ns_per_tick),
                     time_of_ticks(header, c.end_ticks, row.ns_per_tick)});
  }
  if (calls.empty()) return;
  to.blocks.push_back(encoder.encode(calls, to.bytes,
                                     plainly       ? BlockCoding::kPlain
                                     : by_function ? BlockCoding::kByFunction
                                                   : BlockCoding::kBySignature));
  to.calls += calls.size();
}

bool has_matched(const ThreadTimes& times) {
  return std::any_of(times.blocks.begin(), times.blocks.end(), is_matched);
}

bool for_each_run(const ThreadTimes& times, const VisitTimes& visit) {
  if (!has_matched(times)) return times.blocks.empty() || visit(times.blocks, times.bytes);
  constexpr size_t kBlocksAtOnce = 64;
  TimeSpec exact;
  exact.mode = TimeMode::kExact;
  BlockEncoder encoder(exact);
  MatchedReader matched;
  std::vector<format::TimedCall> calls;
  std::vector<TimeBlock> blocks;
  std::string bytes;
  std::string_view left = times.bytes;
  for (const TimeBlock& b : times.blocks) {
    const std::string_view coded = left.substr(0, b.bytes);
    left.remove_prefix(b.bytes);
    if (is_matched(b)) {
      if (!matched.read(b, coded, &calls)) break;  // it would not have been kept
      blocks.push_back(encoder.encode(calls, bytes, BlockCoding::kPlain));
    } else {
      blocks.push_back(b);
      bytes += coded;
      encoder.begin_at(b.end_ns);
    }
    if (blocks.size() < kBlocksAtOnce) continue;
    if (!visit(std::exchange(blocks, {}), bytes)) return false;
    bytes.clear();
  }
  return blocks.empty() || visit(std::move(blocks), bytes);
}

void read_times(const std::vector<Piece>& pieces, const std::vector<uint32_t>& number_of,
                RankSpool& rank) {
  rank.timing = TimeSpec::of_run(rank.record.text);
  if (!rank.timing.has_times()) return;
  std::map<uint32_t, TimePieces> of;
  for (const Piece& p : pieces) {
    // With the header, which stands right before the data.
    const std::string_view chunk(p.data.data() - sizeof(Chunk), p.data.size() + sizeof(Chunk));
    if (p.chunk.type == ChunkType::kTimes) of[p.chunk.owner].chunks.push_back(chunk);
    if (p.chunk.type == ChunkType::kTimeRow) of[p.chunk.owner].row = chunk;
  }
  uint64_t missing = 0;
  for (const Progress& p : rank.threads) {
    if (p.calls == 0) continue;
    bool damaged = false;
    rank.times.push_back(read_thread(rank, number_of, of[p.thread], p.calls, &damaged));
    rank.times.back().thread = p.thread;
    if (damaged)
      rank.damage.push_back("thread " + std::to_string(p.thread) + ": its times are damaged");
    missing += p.calls - rank.times.back().calls;
  }
  if (missing > 0 && rank.record.losses.size() < kMaxTexts)
    rank.record.losses.push_back(
        {"times_missing", missing, rank.header.rank, "their times were not in the spool"});
}

}  // namespace refrain::format::spool
