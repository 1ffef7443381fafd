#include "online/recorded_rank.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "format/merge/unique.h"
#include "format/places.h"
#include "format/posix.h"
#include "format/signatures/slot_evaluator.h"
#include "format/signatures/walk.h"

namespace refrain::online {

namespace {

namespace live = format::live;
using format::spool::RecordKind;

constexpr size_t kCallsAtOnce = 65536;

std::string record_of(RecordKind kind, std::string_view bytes) {
  return std::string(1, static_cast<char>(kind)) + std::string(bytes);
}

// A part of statistics, which are never less than 0 nor more than all.
format::DurationStats share_of(const format::DurationStats& all, double share) {
  if (share >= 1) return all;
  format::DurationStats part = all;
  part.count = static_cast<uint64_t>(static_cast<double>(all.count) * share);
  part.sum_ns = all.sum_ns * share;
  part.histogram = format::Histogram();
  for (size_t i = 0; i < format::Histogram::kBuckets; ++i)
    part.histogram.add(i, static_cast<uint64_t>(static_cast<double>(all.histogram[i]) * share));
  return part;
}

const format::Group* group_of(const format::TraceData& data, uint64_t rank, int64_t* place) {
  for (const format::Group& g : data.groups)
    if ((*place = g.place_of(static_cast<int64_t>(rank))) >= 0) return &g;
  return nullptr;
}

}  // namespace

base::Result<RecordedRun> RecordedRun::of(const Trace& trace) {
  RecordedRun run(trace);
  const format::TraceData& data = reader::data_of(trace);
  run.senders_.assign(data.signatures.size(), UINT64_MAX);
  for (const format::Group& g : data.groups) {
    const auto lowest = static_cast<uint64_t>(g.ranks.at(0));
    for (const uint32_t s : g.signatures) run.senders_[s] = std::min(run.senders_[s], lowest);
  }
  if (!trace.has_times()) return run;
  auto parts = reader::time_parts_of(trace);
  if (!parts.ok()) return parts.error();
  // Of segments there is what stands for them, which is no stream.
  if (parts->index.spec.mode == format::TimeMode::kSegments) return run;
  run.decoder_ = std::make_shared<format::BlockDecoder>(parts->index.spec);
  run.parts_ = std::move(*parts);
  return run;
}

base::Result<RecordedRank> RecordedRank::of(const RecordedRun& run, uint64_t rank,
                                            uint64_t begin_ns) {
  RecordedRank out(run, rank, begin_ns);
  if (const base::Status good = out.open(); !good.ok()) return good.error();
  return out;
}

base::Status RecordedRank::open() {
  const format::TraceData& data = reader::data_of(run_->trace());
  int64_t place = -1;
  const format::Group* const group = group_of(data, rank_, &place);
  if (group == nullptr)
    return base::fail("the trace has no calls of rank " + std::to_string(rank_));
  live::Hello hello;
  hello.job = run_->trace().name();
  format::spool::Header& h = hello.header;
  h.world_size = static_cast<uint32_t>(data.meta.ranks);
  h.rank = static_cast<int32_t>(rank_);
  h.run = 1;
  h.opened_realtime_ns = begin_ns_;
  if (!data.meta.host_of_rank.empty()) {
    const int64_t host = data.meta.host_of_rank.at(rank_);
    if (host >= 0 && static_cast<uint64_t>(host) < data.meta.hosts.size()) {
      const std::string& name = data.meta.hosts[static_cast<size_t>(host)];
      std::memcpy(h.host, name.data(), std::min(name.size(), sizeof h.host - 1));
    }
  }
  out_.hello(hello);
  put_tables();
  if (const base::Status good = put_signatures(*group, static_cast<uint64_t>(place)); !good.ok())
    return good;
  for (const format::ThreadGrammar& l : group->locations)
    threads_.emplace(l.thread, Thread(grammar::TerminalCursor(data.grammars[l.grammar])));
  add_times();
  return base::Done{};
}

void RecordedRank::put_text(std::string_view key, std::string_view value) {
  base::ByteWriter out;
  out.put_string(key);
  out.put_string(value);
  out_.table(record_of(RecordKind::kText, out.view()));
}

// Everything but signatures.
void RecordedRank::put_tables() {
  const format::TraceData& data = reader::data_of(run_->trace());
  for (const format::Definition& d : data.definitions) {
    base::ByteWriter out;
    out.put_u8(static_cast<uint8_t>(d.kind));
    out.put_varint(d.refs.size());
    for (const uint32_t ref : d.refs) out.put_varint(ref);
    out.put_bytes(d.payload.data(), d.payload.size());
    out_.table(record_of(RecordKind::kDefinition, out.view()));
  }
  for (const auto& [key, value] : data.meta.text)
    if (key != "timing") put_text(key, value);
  put_text("timing", run_->has_times() ? run_->parts().index.spec.to_string() : "stats");
  if (!data.gaps.empty()) put_text("gaps", "on");
  for (const format::LossRecord& l : data.losses) {
    if (l.rank != static_cast<int64_t>(rank_) && (l.rank >= 0 || rank_ != 0)) continue;
    base::ByteWriter out;
    out.put_string(l.reason);
    out.put_varint(l.calls);
    out.put_string(l.detail);
    out_.table(record_of(RecordKind::kLoss, out.view()));
  }
  if (run_->has_times() && rank_ < run_->parts().index.clocks.size())
    for (const format::ClockPoint& p : run_->parts().index.clocks[rank_]) {
      base::ByteWriter out;
      out.put_zigzag(p.local_ns);
      out.put_zigzag(p.common_ns);
      out_.table(record_of(RecordKind::kClock, out.view()));
    }
  for (const format::OwnWork& w : data.own_work)
    for (const format::OwnPiece& piece : w.pieces) {
      if (w.rank != rank_) break;
      base::ByteWriter out;
      for (const uint64_t v : {uint64_t{w.thread}, piece.call, piece.ns}) out.put_varint(v);
      out_.table(record_of(RecordKind::kOwnPiece, out.view()));
    }
  if (data.places.empty()) return;
  const int64_t place = data.place_of_rank.at(rank_);
  if (place < 0) return;
  base::ByteWriter out;
  format::put(out, data.places[static_cast<size_t>(place)]);
  out_.table(record_of(RecordKind::kPlace, out.view()));
}

// With the values of this rank, and requests by the numbers of its own signatures.
base::Status RecordedRank::put_signatures(const format::Group& group, uint64_t place) {
  const format::TraceData& data = reader::data_of(run_->trace());
  std::vector<uint32_t> terminal_of(data.signatures.size(), 0);
  for (uint32_t t = 0; t < group.signatures.size(); ++t) terminal_of[group.signatures[t]] = t;
  format::SlotEvaluator evaluator(data);
  format::UniqueSignatures unique;
  for (const uint32_t s : group.signatures) {
    const auto shape = format::renumber_requests(data.signatures[s].shape, terminal_of);
    const auto bytes =
        shape ? format::join_signature(*shape, evaluator.values(s, {rank_, place})) : std::nullopt;
    const size_t known = unique.signatures().size();
    if (!bytes || !unique.add(*bytes))
      return base::fail("signature " + std::to_string(s) + " cannot be taken apart",
                        "rank " + std::to_string(rank_));
    if (unique.signatures().size() == known) continue;
    out_.table(record_of(RecordKind::kSignature, unique.signatures()[known]));
    in_trace_.push_back(s);
    base::ByteReader in(*bytes);
    functions_.push_back(static_cast<uint32_t>(in.varint()));
  }
  number_of_ = unique.numbers();
  for (const uint32_t number : number_of_)
    call_of_.push_back(static_cast<uint16_t>(functions_[number]));
  return base::Done{};
}

void RecordedRank::add_times() {
  if (!run_->has_times()) return;
  uint64_t offset = 0;
  for (const format::TimeChunk& chunk : run_->parts().index.chunks) {
    const auto t = threads_.find(chunk.thread);
    if (chunk.rank == rank_ && t != threads_.end()) {
      t->second.chunks.push_back(chunk);
      t->second.offsets.push_back(offset);
    }
    for (const format::TimeBlock& b : chunk.blocks) offset += b.bytes;
  }
}

// How many calls of the thread had been made by then: known as far as there are times, and behind
// them as if calls took equally long.
uint64_t RecordedRank::due(const Thread& t, uint64_t at_ns, bool is_last) const {
  const uint64_t all = t.calls.position() + t.calls.remaining();
  if (is_last) return all;
  if (t.chunk < t.chunks.size()) return t.timed + t.early;
  const uint64_t begin_ns = t.before_ns;
  const uint64_t end_ns = reader::data_of(run_->trace()).meta.duration_ns;
  const uint64_t calls = all - t.timed;
  if (at_ns <= begin_ns) return t.timed;
  if (at_ns >= end_ns || end_ns <= begin_ns) return t.timed + calls;
  const double share =
      static_cast<double>(at_ns - begin_ns) / static_cast<double>(end_ns - begin_ns);
  return t.timed + static_cast<uint64_t>(static_cast<double>(calls) * share);
}

void RecordedRank::send_calls(uint32_t number, Thread& t, uint64_t until) {
  std::vector<uint32_t> calls;
  for (; t.sent < until && !t.calls.at_end(); ++t.sent) {
    calls.push_back(number_of_[t.calls.next()]);
    if (calls.size() < kCallsAtOnce) continue;
    out_.calls(number, calls);
    calls.clear();
  }
  out_.calls(number, calls);
}

// Blocks that are over, each behind its calls, and what is over of the next one.
base::Status RecordedRank::send_times(uint32_t number, Thread& t, uint64_t at_ns, bool is_last) {
  while (t.chunk < t.chunks.size()) {
    const format::TimeChunk& chunk = t.chunks[t.chunk];
    if (t.block == chunk.blocks.size()) {
      ++t.chunk;
      t.block = 0;
      t.bytes_before = 0;
      continue;
    }
    const format::TimeBlock& b = chunk.blocks[t.block];
    if (b.end_ns > at_ns && !is_last) break;
    const auto bytes = run_->parts().read(t.offsets[t.chunk] + t.bytes_before, b.bytes);
    if (!bytes.ok()) return bytes.error();
    send_calls(number, t, t.timed + b.calls);
    out_.times(number, b, *bytes);
    t.timed += b.calls;
    t.before_ns = b.end_ns;
    t.bytes_before += b.bytes;
    ++t.block;
    t.early = 0;
    std::vector<format::TimedCall>().swap(t.open);
  }
  if (const base::Status good = send_early(number, t, at_ns); !good.ok()) return good;
  send_calls(number, t, due(t, at_ns, is_last));
  return base::Done{};
}

base::Status RecordedRank::open_block(Thread& t) {
  const format::TimeBlock& b = t.chunks[t.chunk].blocks[t.block];
  const auto bytes = run_->parts().read(t.offsets[t.chunk] + t.bytes_before, b.bytes);
  if (!bytes.ok()) return bytes.error();
  grammar::TerminalCursor terminals = t.calls;
  terminals.seek(t.timed);
  if (terminals.remaining() < b.calls) return base::fail("there are more times than calls");
  t.open.resize(b.calls);
  for (format::TimedCall& call : t.open) call.terminal = terminals.next();
  return run_->decoder().decode(b, *bytes, t.before_ns, call_of_, t.open);
}

base::Status RecordedRank::send_early(uint32_t number, Thread& t, uint64_t at_ns) {
  if (t.chunk == t.chunks.size() || t.chunks[t.chunk].blocks[t.block].begin_ns > at_ns)
    return base::Done{};
  if (t.open.empty())
    if (const base::Status good = open_block(t); !good.ok()) return good;
  uint64_t over = t.early;
  while (over < t.open.size() && t.open[over].end_ns <= at_ns) ++over;
  send_calls(number, t, t.timed + over);
  out_.early_times(number, t.timed + t.early, std::span(t.open).subspan(t.early, over - t.early));
  t.early = over;
  return base::Done{};
}

void RecordedRank::send_statistics(double share) {
  const format::TraceData& data = reader::data_of(run_->trace());
  const auto send = [&](live::Statistic which, const std::deque<format::DurationStats>& all) {
    std::deque<format::DurationStats> mine(in_trace_.size());
    for (size_t i = 0; i < mine.size(); ++i)
      if (run_->sender(in_trace_[i]) == rank_) mine[i] = share_of(all[in_trace_[i]], share);
    out_.statistics(which, mine);
  };
  send(live::Statistic::kDurations, data.durations);
  if (!data.gaps.empty()) send(live::Statistic::kGaps, data.gaps);
}

void RecordedRank::send_state(uint64_t at_ns, bool is_last) {
  const format::TraceData& data = reader::data_of(run_->trace());
  live::State s;
  if (run_->has_times()) out_.looked(begin_ns_ + at_ns);
  s.state = is_last ? format::spool::State::kDone : format::spool::State::kRunning;
  s.duration_ns = std::min(at_ns, data.meta.duration_ns);
  if (is_last) s.duration_ns = data.meta.duration_ns;
  if (rank_ < data.totals.size()) {
    const double share =
        is_last || data.meta.duration_ns == 0
            ? 1
            : static_cast<double>(s.duration_ns) / static_cast<double>(data.meta.duration_ns);
    const format::RankTotals& all = data.totals[rank_];
    // The receiver takes the recorder's pieces of work out of the time outside of MPI.
    uint64_t pieces = 0;
    for (const format::OwnWork& w : data.own_work)
      for (const format::OwnPiece& piece : w.pieces) pieces += w.rank == rank_ ? piece.ns : 0;
    const auto part = [share](uint64_t v) {
      return share >= 1 ? v : static_cast<uint64_t>(static_cast<double>(v) * share);
    };
    s.in_mpi_ns = part(all.in_mpi_ns);
    s.outside_ns = part(all.outside_ns + pieces);
    s.own_ns = part(all.own_ns - std::min(all.own_ns, pieces));
    s.switches = part(all.switches);
    s.cost = all.cost;
  }
  for (const auto& [number, t] : threads_) {
    format::spool::Progress p;
    p.thread = number;
    p.calls = t.sent;
    p.last_time_ns = begin_ns_ + s.duration_ns;
    if (t.timed + t.early > 0 && t.timed + t.early == t.sent)
      p.last_time_ns = begin_ns_ + (t.early > 0 ? t.open[t.early - 1].end_ns : t.before_ns);
    // The call that is under way.
    if (t.early < t.open.size() && t.open[t.early].begin_ns <= at_ns && !is_last) {
      p.open_call = call_of_[t.open[t.early].terminal];
      p.last_time_ns = begin_ns_ + t.open[t.early].begin_ns;
    }
    s.threads.push_back(p);
  }
  out_.state(s);
}

base::Result<std::string> RecordedRank::until(uint64_t at_ns, bool is_last) {
  uint64_t sent = 0, all = 0;
  for (auto& [number, t] : threads_) {
    if (const base::Status good = send_times(number, t, at_ns, is_last); !good.ok())
      return good.error();
    sent += t.sent;
    all += t.calls.position() + t.calls.remaining();
  }
  send_statistics(is_last || all == 0 ? 1 : static_cast<double>(sent) / static_cast<double>(all));
  // When they were called is not known.
  if (is_last) out_.posix(format::posix_of_rank(reader::data_of(run_->trace()), rank_));
  send_state(at_ns, is_last);
  if (is_last) out_.end(live::EndReason::kFinished);
  return out_.take();
}

}  // namespace refrain::online
