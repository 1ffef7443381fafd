// Times of single calls in the spool: blocks that are full, and the row of calls behind them.
#include <algorithm>
#include <cstring>

#include "format/places.h"
#include "format/spool/time_chunks.h"
#include "tracer/spool/spool.h"
#include "tracer/state/in_order.h"
#include "tracer/state/keep_errno.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"
#include "tracer/times/time_log.h"

namespace refrain::tracer {

namespace spool = format::spool;
using spool::Chunk;
using spool::ChunkType;

namespace {

constexpr uint64_t kTimesChunk = 256 * 1024;

}  // namespace

// Lock held. Without room for it the row stays in memory.
void Spool::attach_row(Location& l) {
  if (l.times == nullptr || !l.times->has_row()) return;
  Chunk* const row =
      file_.add(ChunkType::kTimeRow, l.thread,
                sizeof(spool::TimeRowHead) + l.times->row_calls() * sizeof(spool::TimeRowCall));
  if (row == nullptr) return;
  reinterpret_cast<spool::TimeRowHead*>(row + 1)->ns_per_tick =
      process_.times->ns_per_tick(process_);
  l.times->move_row(row, l.first_terminal);
}

bool Spool::times(Location& l, const format::TimeBlock& block, std::string_view bytes) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  SpoolThread* const t = l.spool.thread;
  if (stopped_ || t == nullptr) return false;
  const uint64_t need = sizeof(spool::TimeBlockHead) + spool::padded(bytes.size());
  if (t->times == nullptr || t->times->used + need > room_of(t->times)) {
    Chunk* const next = file_.add(ChunkType::kTimes, l.thread, std::max(kTimesChunk, need));
    if (next == nullptr) return false;
    if (t->times != nullptr) file_.release(t->times);
    t->times = next;
    t->time_chunks.push_back({next->offset, next->bytes, 0});
  }
  char* const at = data_of(t->times) + t->times->used;
  spool::TimeBlockHead head;
  head.begin_ns = block.begin_ns;
  head.end_ns = block.end_ns;
  head.calls = block.calls;
  head.bytes = block.bytes;
  head.checksum = block.checksum;
  head.coding = static_cast<uint32_t>(block.coding);
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + sizeof head, bytes.data(), bytes.size());
  in_order();
  t->times->used += need;
  return true;
}

bool Spool::each_run_of_times(const Location& l, const TimeVisit& visit) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto mine = std::find_if(threads_.begin(), threads_.end(),
                                 [&l](const auto& t) { return t->location == &l; });
  if (mine == threads_.end()) return true;
  std::string chunk, bytes;
  for (const SpoolThread::Part& part : (*mine)->time_chunks) {
    if (!file_.read_back(part.offset, part.bytes, chunk) || chunk.size() < sizeof(Chunk))
      return false;
    std::vector<format::TimeBlock> blocks;
    bytes.clear();
    if (!spool::read_time_blocks(chunk, blocks, bytes)) return false;
    visit(std::move(blocks), bytes);
  }
  return true;
}

// Whether what was written is likely to come back.
bool Spool::has_times(const Location& l) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& t : threads_)
    if (t->location == &l && !t->time_chunks.empty())
      return file_.is_there(t->time_chunks.back().offset + t->time_chunks.back().bytes);
  return true;
}

void Spool::clock_point(const format::ClockPoint& point) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(spool::RecordKind::kClock));
  out.put_zigzag(point.local_ns);
  out.put_zigzag(point.common_ns);
  if (!stopped_ && !append(out.view())) stop();
}

void Spool::own_piece(uint32_t thread, uint64_t call, uint64_t ns) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(spool::RecordKind::kOwnPiece));
  out.put_varint(thread);
  out.put_varint(call);
  out.put_varint(ns);
  if (!stopped_ && !append(out.view())) stop();
}

void Spool::place(const format::RankPlace& place) {
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(spool::RecordKind::kPlace));
  format::put(out, place);
  if (!stopped_ && !append(out.view())) stop();
}

}  // namespace refrain::tracer
