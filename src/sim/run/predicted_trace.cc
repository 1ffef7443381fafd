#include "sim/run/predicted_trace.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/encode/trace_file_writer.h"
#include "format/time/block_encoder.h"
#include "format/trace_data.h"
#include "grammar/terminal_cursor.h"
#include "reader/internal.h"

namespace refrain::sim {
namespace {

void add_duration(format::DurationStats& stats, uint64_t ns) {
  stats.min_ns = stats.count == 0 ? ns : std::min(stats.min_ns, ns);
  stats.max_ns = std::max(stats.max_ns, ns);
  ++stats.count;
  stats.sum_ns += static_cast<double>(ns);
  stats.histogram.add(format::Histogram::bucket_of(ns), 1);
}

format::TimeSpec exact() {
  format::TimeSpec spec;
  spec.mode = format::TimeMode::kExact;
  return spec;
}

}  // namespace

// A location: calls come in about their order, and leave in it, block by block.
struct PredictedTrace::Thread {
  Thread(const format::TraceData& from, const format::Group& g, const format::ThreadGrammar& at)
      : group(g), encoder(exact()), cursor(from.grammars[at.grammar]) {
    for (uint32_t t = 0; t < g.signatures.size(); ++t)
      encoder.set_call(t, static_cast<uint16_t>(
                              base::ByteReader(from.signatures[g.signatures[t]].shape).varint()));
  }
  const format::Group& group;
  format::BlockEncoder encoder;
  grammar::TerminalCursor cursor;
  bool has_begun = false;
  uint64_t next = 0, last_end = 0;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> early;  // calls after one that has not come
  std::vector<format::TimedCall> calls;
  format::TimeChunk chunk;
  std::string bytes;
  uint64_t in_mpi_ns = 0, own_end = 0;
};

struct PredictedTrace::Impl {
  Impl(const Trace& t, std::string m) : trace(t), machine(std::move(m)), data(reader::data_of(t)) {
    durations.resize(data.durations.size());
    for (const format::Group& group : data.groups)
      for (uint64_t i = 0; i < group.ranks.size(); ++i)
        for (const format::ThreadGrammar& at : group.locations) {
          const auto rank = static_cast<Rank>(group.ranks.at(i));
          auto thread = std::make_unique<Thread>(data, group, at);
          thread->chunk.rank = static_cast<uint64_t>(rank);
          thread->chunk.thread = at.thread;
          threads[{rank, at.thread}] = std::move(thread);
        }
  }

  void put(Thread& thread, uint64_t begin, uint64_t end) {
    const uint32_t terminal = thread.cursor.next();
    begin = std::min(begin, end);
    thread.calls.push_back({terminal, begin, end});
    ++thread.next;
    thread.last_end = std::max(thread.last_end, end);
    add_duration(durations[thread.group.signatures[terminal]], end - begin);
    const uint64_t from = std::max(begin, thread.own_end);  // not within another call
    if (end > from) thread.in_mpi_ns += end - from;
    thread.own_end = std::max(thread.own_end, end);
    if (thread.calls.size() == format::kCallsPerBlock) flush(thread);
  }
  void flush(Thread& thread) {
    if (thread.calls.empty()) return;
    thread.chunk.blocks.push_back(thread.encoder.encode(thread.calls, thread.bytes));
    thread.calls.clear();
  }
  // Calls that have come, in order.
  void take_early(Thread& thread) {
    while (!thread.early.empty() && thread.early.begin()->first == thread.next) {
      const auto [begin, end] = thread.early.begin()->second;
      thread.early.erase(thread.early.begin());
      put(thread, begin, end);
    }
  }

  Trace trace;
  std::string machine;
  const format::TraceData& data;
  std::deque<format::DurationStats> durations;
  std::map<std::pair<Rank, uint32_t>, std::unique_ptr<Thread>> threads;
};

PredictedTrace::PredictedTrace(const Trace& trace, std::string machine)
    : impl_(std::make_unique<Impl>(trace, std::move(machine))) {}
PredictedTrace::~PredictedTrace() = default;

void PredictedTrace::add(Rank rank, uint32_t thread, uint64_t seq, Time begin, Time end) {
  const auto known = impl_->threads.find({rank, thread});
  if (known == impl_->threads.end()) return;
  Thread& of = *known->second;
  of.early[seq] = {static_cast<uint64_t>(begin), static_cast<uint64_t>(end)};
  // Nobody simulates the calls before MPI_Init has returned: the first that comes shows how many.
  while (!of.has_begun && of.next < of.early.begin()->first) impl_->put(of, 0, 0);
  of.has_begun = true;
  impl_->take_early(of);
}

base::Status PredictedTrace::write(const std::string& path) {
  format::TraceData out = impl_->data;
  out.times = {};
  out.gaps.clear();
  out.own_work.clear();
  out.posix.clear();  // times of the machine that it was recorded on
  out.meta.text.erase("posix");
  out.cost = {};
  out.places.clear();  // cores of the computer that it was recorded on
  out.place_of_rank = {};
  out.totals.assign(static_cast<size_t>(out.meta.ranks), {});
  out.meta.text["timing"] = exact().to_string();
  out.meta.text["predicted_on"] = impl_->machine;
  out.meta.duration_ns = 0;
  for (auto& [place, thread] : impl_->threads) {
    // Calls that were not simulated: before MPI_Init has returned, and from MPI_Finalize on.
    while (thread->cursor.remaining() > 0) {
      impl_->take_early(*thread);
      if (thread->cursor.remaining() == 0) break;
      impl_->put(*thread, thread->last_end, thread->last_end);
    }
    impl_->flush(*thread);
    out.meta.duration_ns = std::max(out.meta.duration_ns, thread->last_end);
    if (place.second != 0) continue;
    format::RankTotals& totals = out.totals[static_cast<size_t>(place.first)];
    totals.in_mpi_ns = thread->in_mpi_ns;
    totals.outside_ns = thread->last_end - std::min(thread->last_end, thread->in_mpi_ns);
  }
  out.durations = std::move(impl_->durations);
  out.durations_precision = {};
  auto writer = format::TraceFileWriter::create(path, out, exact(), {});
  if (!writer.ok()) return writer.error();
  for (auto& [place, thread] : impl_->threads)
    if (const base::Status done = writer->append(std::move(thread->chunk), thread->bytes);
        !done.ok())
      return done;
  return writer->finish();
}

}  // namespace refrain::sim
