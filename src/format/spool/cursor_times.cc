// Times of single calls in a spool file that grows.
#include <algorithm>
#include <string>
#include <vector>

#include "format/spool/cursor.h"
#include "format/spool/read_times.h"
#include "format/spool/time_chunks.h"

namespace refrain::format::spool {

// Blocks of calls that are there; others wait for the next look.
void Cursor::read_times(const std::vector<Chunk>& chunks, CursorSink& sink) {
  for (const Chunk& c : chunks) {
    if (c.type != ChunkType::kTimes) continue;
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
      at += b.bytes;
      taken += sizeof(TimeBlockHead) + padded(b.bytes);
    }
    consumed_[c.offset] = from + taken;
    if (!is_good) {
      t.times_are_damaged = true;
      damage_.insert("thread " + std::to_string(c.owner) + ": its times are damaged");
    }
    if (at < coded.size()) return;
  }
}

void Cursor::tell_taken() {
  uint64_t calls = 0;
  for (const auto& [owner, t] : threads_) calls += t.timed_calls;
  if (calls > 0) file_.take_calls(calls);
}

void Cursor::last_times(CursorSink& sink) {
  const auto text = tables_of_.text.find("timing");
  if (text == tables_of_.text.end()) return;
  const auto spec = TimeSpec::parse(text->second);
  if (!spec.ok() || !spec->has_times()) return;
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
    encode_row(header_, *spec, tables_.unique.numbers(), row, t.calls - t.timed_calls, tail);
    if (tail.blocks.size() == before) continue;
    sink.times(c.owner, tail.blocks.back(), tail.bytes);
    t.timed_calls += tail.blocks.back().calls;
  }
}

}  // namespace refrain::format::spool
