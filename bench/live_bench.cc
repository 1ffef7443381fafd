// What it costs to feed and to receive the stream of a rank that still runs: calls a second of a
// core, and bytes of the stream. And how many entries a second a blackboard takes through a chain
// of two knowledge sources.
//
//   ./dev bench live
//
// A loop of 12 calls with a change every 1000 passes (a regular rank), and calls of which none
// repeats (the worst case). 10^6 calls in looks of 10^5.

#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/live/decode/receiver.h"
#include "format/live/encode/stream_writer.h"
#include "refrain/blackboard.h"

namespace {

namespace live = refrain::format::live;

constexpr uint32_t kCalls = 1'000'000, kLook = 100'000, kSignatures = 64;

std::vector<uint32_t> calls_of(bool is_regular) {
  std::vector<uint32_t> calls;
  std::mt19937 random(1);
  for (uint32_t i = 0; i < kCalls; ++i)
    calls.push_back(!is_regular                         ? random() % kSignatures
                    : i % 12 == 0 && i / 12 % 1000 == 0 ? 12u
                                                        : i % 12);
  return calls;
}

void put_tables(live::StreamWriter& out) {
  live::Hello hello;
  hello.header.world_size = 1;
  out.hello(hello);
  for (uint32_t i = 0; i < kSignatures; ++i) {
    refrain::base::ByteWriter s;
    s.put_u8(static_cast<uint8_t>(refrain::format::spool::RecordKind::kSignature));
    s.put_varint(1);
    s.put_u8(0);
    s.put_u8(1);
    s.put_zigzag(i);
    out.table(s.view());
  }
}

// Blocks of the stream, look by look.
std::vector<std::string> stream_of(const std::vector<uint32_t>& calls) {
  live::StreamWriter out(1);
  put_tables(out);
  std::vector<std::string> looks;
  for (uint32_t at = 0; at < kCalls; at += kLook) {
    out.calls(0, std::span(calls).subspan(at, kLook));
    looks.push_back(out.take());
  }
  return looks;
}

void Feed(benchmark::State& state) {
  const std::vector<uint32_t> calls = calls_of(state.range(0) != 0);
  uint64_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (const std::string& look : stream_of(calls)) bytes += look.size();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kCalls);
  state.counters["stream_bytes"] = static_cast<double>(bytes);
}
BENCHMARK(Feed)->ArgName("regular")->Arg(1)->Arg(0);

void Receive(benchmark::State& state) {
  const std::vector<std::string> looks = stream_of(calls_of(state.range(0) != 0));
  for (auto _ : state) {
    live::Receiver receiver;
    for (const std::string& look : looks)
      if (!receiver.receive(look).ok()) state.SkipWithError("refused");
    benchmark::DoNotOptimize(receiver.calls());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kCalls);
}
BENCHMARK(Receive)->ArgName("regular")->Arg(1)->Arg(0);

// ---- blackboard ----

constexpr uint32_t kEntries = 200'000;

void pass_on(refrain_blackboard* board, refrain_entry* const* entries, int, void*) {
  uint64_t number = 0;
  std::memcpy(&number, refrain_entry_data(entries[0]), sizeof number);
  ++number;
  (void)refrain_blackboard_submit_copy(board, 2, &number, sizeof number);
}
void sum_up(refrain_blackboard*, refrain_entry* const* entries, int, void* sum) {
  uint64_t number = 0;
  std::memcpy(&number, refrain_entry_data(entries[0]), sizeof number);
  static_cast<std::atomic<uint64_t>*>(sum)->fetch_add(number, std::memory_order_relaxed);
}

// Each number is submitted, passed on with 1 more, and summed up: two entries.
void Blackboard(benchmark::State& state) {
  for (auto _ : state) {
    std::atomic<uint64_t> sum{0};
    refrain_blackboard* const board =
        refrain_blackboard_new(static_cast<int>(state.range(0)), size_t{1} << 24);
    const refrain_type first = 1, second = 2;
    refrain_source_add(board, "pass on", &first, 1, pass_on, nullptr);
    refrain_source_add(board, "sum up", &second, 1, sum_up, &sum);
    for (uint64_t i = 0; i < kEntries; ++i)
      (void)refrain_blackboard_submit_copy(board, 1, &i, sizeof i);
    refrain_blackboard_wait(board);
    refrain_blackboard_free(board);
    if (sum != uint64_t{kEntries} * (kEntries + 1) / 2) state.SkipWithError("entries were lost");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * 2 * kEntries);
}
BENCHMARK(Blackboard)->ArgName("workers")->Arg(0)->Arg(1)->Arg(2)->MeasureProcessCPUTime();

}  // namespace

BENCHMARK_MAIN();
