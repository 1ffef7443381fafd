// Times of single calls in the spool: blocks that are full, and the row of calls behind them.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/no_cancel.h"
#include "format/places.h"
#include "format/spool/run_end.h"
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

uint64_t monotonic_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

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
  file_.header()->timed_calls += block.calls;
  return true;
}

// The analyser writes its word into the header of our file (format/spool/living_file.h). One that
// has not moved while we waited may be gone: it is not waited for until it moves.
bool Spool::may_keep_times() {
  const base::NoCancel no_cancel;
  using Kind = options::LivePolicy::Kind;
  if (flow_.kind == Kind::kSpool) return true;
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  spool::Header* const h = file_.header();
  if (stopped_ || h == nullptr) return true;
  const std::atomic_ref<uint64_t> taken(h->taken_calls);
  const auto is_late = [&] { return h->timed_calls > taken.load() + options::kMostCallsBehind; };
  if (!is_late()) return true;
  if (flow_.kind == Kind::kDrop) return false;
  const uint64_t first = taken.load();
  if (waited_in_vain_at_ == first + 1) return true;
  const uint64_t begin = monotonic_ns(), end = begin + flow_.wait_ms * 1'000'000;
  while (is_late() && monotonic_ns() < end) {
    constexpr timespec kPause{0, 500'000};
    nanosleep(&kPause, nullptr);
  }
  h->waited_ns += monotonic_ns() - begin;
  waited_in_vain_at_ = taken.load() == first ? first + 1 : 0;
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

void Spool::run_end(const format::RankRecord& r) {
  for (const format::OwnWork& work : r.own_work)
    for (const format::OwnPiece& piece : work.pieces) own_piece(work.thread, piece.call, piece.ns);
  const KeepErrno keep;
  const std::lock_guard<std::mutex> lock(mutex_);
  spool::RunEnd end{r.duration_ns, r.totals};
  end.totals.cost = r.cost;
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(spool::RecordKind::kRunEnd));
  end.put(out);
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
