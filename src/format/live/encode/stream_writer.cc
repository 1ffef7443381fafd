#include "format/live/encode/stream_writer.h"

#include <algorithm>
#include <bit>

#include "format/codes/checksum.h"
#include "format/posix.h"

namespace refrain::format::live {

namespace {

void put_double(base::ByteWriter& out, double value) {
  out.put_u64(std::bit_cast<uint64_t>(value));
}

// Modulo 2^64, as it is added again.
int64_t difference(uint64_t from, uint64_t to) { return static_cast<int64_t>(to - from); }

bool is_equal(const DurationStats& a, const DurationStats& b) {
  if (a.count != b.count || a.min_ns != b.min_ns || a.max_ns != b.max_ns || a.sum_ns != b.sum_ns)
    return false;
  for (size_t i = 0; i < Histogram::kBuckets; ++i)
    if (a.histogram[i] != b.histogram[i]) return false;
  return true;
}

}  // namespace

// ---- blocks ----

void StreamWriter::put_record(uint8_t kind, std::string_view bytes) {
  payload_.put_u8(kind);
  payload_.put_string(bytes);
  if (payload_.size() >= kBlockBytes) end_block();
}

void StreamWriter::put(StreamRecord kind, std::string_view bytes) {
  put_record(static_cast<uint8_t>(kind), bytes);
}

void StreamWriter::end_block() {
  base::ByteWriter head;
  head.put_u32(kBlockMagic);
  head.put_u32(kVersion);  // and the reserved bytes
  head.put_u64(writer_);
  head.put_u64(number_++);
  head.put_u32(static_cast<uint32_t>(payload_.size()));
  head.put_u32(checksum32(payload_.view()));
  head.put_u32(checksum32(head.view()));
  blocks_ += head.view();
  blocks_ += payload_.view();
  bytes_ += kBlockHeadBytes + payload_.size();
  payload_bytes_ += payload_.size();
  payload_.clear();
}

std::string StreamWriter::take() {
  if (payload_.size() > 0) end_block();
  return std::exchange(blocks_, {});
}

// ---- records ----

void StreamWriter::hello(const Hello& hello) {
  const spool::Header& h = hello.header;
  base::ByteWriter out;
  out.put_string(std::string_view(hello.job).substr(0, kMaxNameBytes));
  out.put_u32(h.version);
  out.put_u64(h.run);
  out.put_varint(static_cast<uint64_t>(h.rank));
  out.put_varint(h.world_size);
  out.put_zigzag(h.pid);
  out.put_string(h.host);
  out.put_u64(h.opened_realtime_ns);
  out.put_u64(h.opened_ticks);
  out.put_u64(h.init_ticks);
  put_double(out, h.ns_per_tick);
  put(StreamRecord::kHello, out.view());
}

void StreamWriter::table(std::string_view record) {
  put_record(static_cast<uint8_t>(record[0]), record.substr(1));
}

void StreamWriter::calls(uint32_t thread, std::span<const uint32_t> terminals) {
  Thread& t = threads_[thread];
  while (!terminals.empty()) {
    const auto some = terminals.first(std::min<size_t>(terminals.size(), kMaxCallsPerRecord));
    terminals = terminals.subspan(some.size());
    base::ByteWriter out;
    out.put_varint(thread);
    out.put_varint(t.before + t.builder.length());
    uint64_t expected = 0;
    for (const uint32_t terminal : some) {
      if (t.builder.expected() == terminal) {
        t.builder.append_expected();
        ++expected;
        continue;
      }
      out.put_varint(expected);
      out.put_varint(uint64_t{terminal} + 1);
      expected = 0;
      t.builder.append(terminal);
    }
    if (expected > 0) {
      out.put_varint(expected);
      out.put_varint(0);
    }
    calls_ += some.size();
    put(StreamRecord::kCalls, out.view());
  }
}

bool StreamWriter::snapshot(uint32_t thread, uint64_t n, const grammar::Grammar& grammar) {
  base::ByteWriter out;
  out.put_varint(thread);
  out.put_varint(n);
  grammar::write(grammar, out);
  if (out.size() > kMaxBlockBytes / 2) return false;
  put(StreamRecord::kSnapshot, out.view());
  Thread& t = threads_[thread];
  calls_ += n - t.before - t.builder.length();
  t.before = n;
  t.builder = grammar::Builder();
  return true;
}

void StreamWriter::part(uint32_t thread) {
  Thread& t = threads_[thread];
  t.before += t.builder.length();
  t.builder = grammar::Builder();
  base::ByteWriter out;
  out.put_varint(thread);
  put(StreamRecord::kPart, out.view());
}

uint64_t StreamWriter::memory_bytes(uint32_t thread) const {
  const auto t = threads_.find(thread);
  return t == threads_.end() ? 0 : t->second.builder.memory_bytes();
}

void StreamWriter::put_change(base::ByteWriter& out, uint64_t step, const DurationStats& from,
                              const DurationStats& to) {
  out.put_varint(step);
  out.put_zigzag(difference(from.count, to.count));
  out.put_zigzag(difference(from.min_ns, to.min_ns));
  out.put_zigzag(difference(from.max_ns, to.max_ns));
  put_double(out, to.sum_ns);
  uint8_t buckets = 0;
  base::ByteWriter changed;
  for (size_t i = 0; i < Histogram::kBuckets; ++i) {
    const uint64_t before = from.histogram[i], now = to.histogram[i];
    if (before == now) continue;
    ++buckets;
    changed.put_u8(static_cast<uint8_t>(i));
    changed.put_zigzag(difference(before, now));
  }
  out.put_u8(buckets);
  out.put_bytes(changed.view().data(), changed.size());
}

void StreamWriter::statistics(Statistic which, const std::deque<DurationStats>& now) {
  std::deque<DurationStats>& sent = sent_[static_cast<size_t>(which)];
  if (sent.size() < now.size()) sent.resize(now.size());
  base::ByteWriter out;
  uint64_t last = UINT64_MAX;
  const auto flush = [&] {
    if (out.size() > 1) put(StreamRecord::kStatistics, out.view());
    out.clear();
    out.put_u8(static_cast<uint8_t>(which));
    last = UINT64_MAX;
  };
  flush();
  for (uint64_t i = 0; i < now.size(); ++i) {
    if (is_equal(sent[i], now[i])) continue;
    put_change(out, i - last, sent[i], now[i]);
    sent[i] = now[i];
    last = i;
    if (out.size() >= kBlockBytes) flush();
  }
  flush();
}

void StreamWriter::times(uint32_t thread, const TimeBlock& block, std::string_view bytes) {
  base::ByteWriter out;
  out.put_varint(thread);
  out.put_varint(block.calls);
  out.put_varint(block.begin_ns);
  out.put_varint(block.end_ns);
  out.put_u32(block.checksum);
  out.put_u8(static_cast<uint8_t>(block.coding));
  out.put_bytes(bytes.data(), bytes.size());
  put(StreamRecord::kTimes, out.view());
}

void StreamWriter::early_times(uint32_t thread, uint64_t first_call,
                               std::span<const TimedCall> calls) {
  if (calls.empty()) return;
  base::ByteWriter out;
  out.put_varint(thread);
  out.put_varint(first_call);
  uint64_t before_ns = 0;
  for (const TimedCall& call : calls) {
    out.put_zigzag(difference(before_ns, call.begin_ns));
    out.put_varint(call.end_ns - call.begin_ns);
    before_ns = call.end_ns;
  }
  put(StreamRecord::kEarlyTimes, out.view());
}

void StreamWriter::looked(uint64_t realtime_ns) {
  base::ByteWriter out;
  out.put_varint(realtime_ns);
  put(StreamRecord::kLooked, out.view());
}

void StreamWriter::posix(const std::vector<PosixUse>& uses) {
  if (uses == sent_posix_) return;
  base::ByteWriter out;
  format::put(out, uses);
  put(StreamRecord::kPosix, out.view());
  sent_posix_ = uses;
}

void StreamWriter::state(const State& s) {
  base::ByteWriter out;
  out.put_varint(static_cast<uint32_t>(s.state));
  out.put_zigzag(s.error);
  put_double(out, s.ns_per_tick);
  for (const uint64_t v : {s.in_mpi_ns, s.outside_ns, s.duration_ns, s.own_ns, s.switches,
                           s.cost.memory_bytes, s.cost.time_ns})
    out.put_varint(v);
  out.put_varint(s.threads.size());
  for (const spool::Progress& p : s.threads)
    for (const uint64_t v : {uint64_t{p.thread}, p.calls, p.held_calls, uint64_t{p.open_call},
                             uint64_t{p.last_call}, p.last_time_ns})
      out.put_varint(v);
  put(StreamRecord::kState, out.view());
}

void StreamWriter::end(EndReason reason) {
  // Payloads before this record, in whichever block it stands.
  const uint64_t before = payload_bytes_ + payload_.size();
  base::ByteWriter out;
  out.put_u8(static_cast<uint8_t>(reason));
  out.put_varint(calls_);
  out.put_varint(before);
  put(StreamRecord::kEnd, out.view());
}

}  // namespace refrain::format::live
