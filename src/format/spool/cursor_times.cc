// Times of single calls in a spool file that grows.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/limits.h"
#include "format/spool/cursor.h"
#include "format/spool/read_times.h"
#include "format/spool/time_chunks.h"

namespace refrain::format::spool {

TimeSpec Cursor::timing() const { return TimeSpec::of_run(tables_of_.text); }

void Cursor::read_times(const std::vector<Chunk>& chunks, CursorSink& sink) {
  read_blocks(chunks, sink);
  read_rows(chunks, sink);
}

// Blocks of calls that are there; others wait for the next look, and what the thread has behind
// them.
void Cursor::read_blocks(const std::vector<Chunk>& chunks, CursorSink& sink) {
  std::set<uint32_t> waiting;  // threads
  for (const Chunk& c : chunks) {
    if (c.type != ChunkType::kTimes || waiting.contains(c.owner)) continue;
    Thread& t = threads_[c.owner];
    const uint64_t from = consumed(c), end = std::min(c.used, c.bytes - sizeof(Chunk));
    if (end <= from || t.times_are_damaged) continue;
    // As a chunk that has these alone.
    Chunk some = c;
    some.used = end - from;
    std::string bytes(reinterpret_cast<const char*>(&some), sizeof some);
    bytes += file_.read_at(c.offset + sizeof(Chunk) + from, end - from);
    std::vector<TimeBlock> blocks;
    std::string coded;
    bool is_good = read_time_blocks(bytes, blocks, coded);
    uint64_t at = 0, taken = 0;
    for (const TimeBlock& b : blocks) {
      is_good = is_good && b.end_ns >= t.timed_until_ns;
      if (b.end_ns < t.timed_until_ns || b.calls > t.calls - t.timed_calls) break;
      sink.times(c.owner, b, std::string_view(coded).substr(at, b.bytes));
      t.timed_calls += b.calls;
      t.timed_until_ns = b.end_ns;
      t.has_new_block = true;
      at += b.bytes;
      taken += sizeof(TimeBlockHead) + padded(b.bytes);
    }
    consumed_[c.offset] = from + taken;
    if (!is_good) {
      t.times_are_damaged = true;
      damage_.insert("thread " + std::to_string(c.owner) + ": its times are damaged");
    }
    if (at < coded.size()) waiting.insert(c.owner);
  }
}

// A thread that makes few calls fills a block in minutes: who analyses them wants their times now.
// Those of the row are exact, so only of exact times they are what the block will say. A thread
// that has just filled a block makes so many calls that the next one comes soon.
void Cursor::read_rows(const std::vector<Chunk>& chunks, CursorSink& sink) {
  if (timing().mode != TimeMode::kExact) return;
  for (const Chunk& c : chunks) {
    if (c.type != ChunkType::kTimeRow) continue;
    Thread& t = threads_[c.owner];
    if (t.early_calls < t.timed_calls)
      t.early_calls = t.timed_calls, t.early_until_ns = t.timed_until_ns;
    if (std::exchange(t.has_new_block, false) || t.times_are_damaged ||
        c.position != t.timed_calls || t.calls <= t.early_calls)
      continue;
    const std::vector<TimedCall> calls = read_row(c, t);
    // The thread clears a full row, and says so before it writes the next call there.
    if (calls.empty() || !file_.is_unchanged(c)) continue;
    sink.early_times(c.owner, t.early_calls, calls);
    t.early_calls += calls.size();
    t.early_until_ns = calls.back().end_ns;
  }
}

// Calls that are known and have come into the row since the last look. A row that is being cleared
// has calls without a begin or without an end.
std::vector<TimedCall> Cursor::read_row(const Chunk& c, const Thread& t) {
  const uint64_t data = c.offset + sizeof(Chunk), first = t.early_calls - t.timed_calls;
  const uint64_t space = c.bytes - sizeof(Chunk) - sizeof(TimeRowHead);
  const uint64_t end =
      std::min({t.calls - t.timed_calls, space / sizeof(TimeRowCall), uint64_t{kMaxCallsPerBlock}});
  TimeRowHead head;
  const std::string head_bytes = file_.read_at(data, sizeof head);
  if (end <= first || head_bytes.size() < sizeof head) return {};
  std::memcpy(&head, head_bytes.data(), sizeof head);
  if (!(head.ns_per_tick > 0 && head.ns_per_tick < 1e6)) return {};
  const std::string bytes = file_.read_at(data + sizeof head + first * sizeof(TimeRowCall),
                                          (end - first) * sizeof(TimeRowCall));
  std::vector<TimedCall> calls;
  uint64_t before_ns = t.early_until_ns;
  for (uint64_t at = 0; at + sizeof(TimeRowCall) <= bytes.size(); at += sizeof(TimeRowCall)) {
    TimeRowCall call;
    std::memcpy(&call, bytes.data() + at, sizeof call);
    if (call.terminal == 0 || call.begin_ticks < header_.init_ticks ||
        call.end_ticks < call.begin_ticks)
      break;
    const uint64_t begin_ns = time_of_ticks(header_, call.begin_ticks, head.ns_per_tick);
    const uint64_t end_ns = time_of_ticks(header_, call.end_ticks, head.ns_per_tick);
    if (end_ns < before_ns) break;  // the block sets right what a clock did that went backwards
    calls.push_back({0, begin_ns, end_ns});
    before_ns = end_ns;
  }
  return calls;
}

void Cursor::tell_taken() {
  uint64_t calls = 0;
  for (const auto& [owner, t] : threads_) calls += t.timed_calls;
  if (calls > 0) file_.take_calls(calls);
}

void Cursor::last_times(CursorSink& sink) {
  const TimeSpec spec = timing();
  if (!spec.has_times()) return;
  std::vector<Chunk> chunks;
  (void)file_.find_chunks(chunks);
  for (const Chunk& c : chunks) {
    if (c.type != ChunkType::kTimeRow) continue;
    Thread& t = threads_[c.owner];
    const TimeRow row = read_time_row(file_.read_at(c.offset, c.bytes));
    if (t.times_are_damaged || row.position != t.timed_calls) continue;
    ThreadTimes tail;
    if (t.timed_calls > 0) tail.blocks.push_back({0, 0, 0, 0, t.timed_until_ns});
    const size_t before = tail.blocks.size();
    encode_row(header_, spec, tables_.unique.numbers(), row, t.calls - t.timed_calls, tail);
    if (tail.blocks.size() == before) continue;
    sink.times(c.owner, tail.blocks.back(), tail.bytes);
    t.timed_calls += tail.blocks.back().calls;
  }
}

// Counters that only grow: what one look misses, the next one has.
void Cursor::read_posix(const std::vector<Chunk>& chunks) {
  for (const Chunk& c : chunks)
    if (c.type == ChunkType::kPosix)
      posix_ =
          posix_uses(file_.read_at(c.offset + sizeof(Chunk), c.bytes - sizeof(Chunk)), header_);
}

}  // namespace refrain::format::spool
