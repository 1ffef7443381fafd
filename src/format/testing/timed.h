// Puts times of single calls into a trace that was made by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/time/block_encoder.h"
#include "format/trace_data.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format {

struct TimedChunk {
  TimeChunk chunk;
  std::string bytes;
};

// Begin and end of every call of a location, in order, in ns since the rank's MPI_Init.
inline TimedChunk make_times(const TraceData& trace, const TimeSpec& spec, uint64_t rank,
                             uint32_t thread,
                             const std::vector<std::pair<uint64_t, uint64_t>>& times,
                             size_t calls_per_block = kCallsPerBlock) {
  TimedChunk out;
  out.chunk.rank = rank;
  out.chunk.thread = thread;
  for (const Group& group : trace.groups) {
    if (group.ranks.find(static_cast<int64_t>(rank)) < 0) continue;
    for (const ThreadGrammar& location : group.locations) {
      if (location.thread != thread) continue;
      BlockEncoder encoder(spec);
      for (uint32_t t = 0; t < group.signatures.size(); ++t)
        encoder.set_call(
            t, static_cast<uint16_t>(
                   base::ByteReader(trace.signatures[group.signatures[t]].shape).varint()));
      std::vector<TimedCall> calls;
      calls.reserve(times.size());
      grammar::TerminalCursor cursor(trace.grammars[location.grammar]);
      EXPECT_LE(times.size(), cursor.remaining());
      for (const auto& [begin, end] : times) calls.push_back({cursor.next(), begin, end});
      for (size_t i = 0; i < calls.size(); i += calls_per_block)
        out.chunk.blocks.push_back(encoder.encode(
            {calls.data() + i, std::min(calls_per_block, calls.size() - i)}, out.bytes));
      return out;
    }
  }
  ADD_FAILURE() << "no thread " << thread << " of rank " << rank;
  return out;
}

// The same, into trace.times. The first use says which spec.
inline void add_times(TraceData& trace, uint64_t rank, uint32_t thread,
                      const std::vector<std::pair<uint64_t, uint64_t>>& times,
                      std::string_view spec = "exact", size_t calls_per_block = kCallsPerBlock) {
  if (trace.times.empty()) trace.times.index.spec = TimeSpec::parse(spec).value();
  TimedChunk made = make_times(trace, trace.times.index.spec, rank, thread, times, calls_per_block);
  trace.times.index.chunks.push_back(std::move(made.chunk));
  trace.times.bytes += made.bytes;
}

}  // namespace refrain::format
