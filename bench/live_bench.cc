// What it costs to feed and to receive the stream of a rank that still runs: calls a second of a
// core, and bytes of the stream.
//
//   ./dev bench live
//
// A loop of 12 calls with a change every 1000 passes (a regular rank), and calls of which none
// repeats (the worst case). 10^6 calls in looks of 10^5.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/live/decode/receiver.h"
#include "format/live/encode/stream_writer.h"

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

}  // namespace

BENCHMARK_MAIN();
