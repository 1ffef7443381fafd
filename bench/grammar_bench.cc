// ns per append of grammar::Builder, and per step of grammar::TerminalCursor.
//   ./bench/grammar_bench
// Instructions instead of time, one kind, without Google Benchmark's own:
//   valgrind --tool=callgrind --toggle-collect='append_all*' ./bench/grammar_bench --count loop
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "grammar/builder.h"
#include "grammar/fold.h"
#include "grammar/terminal_cursor.h"

namespace refrain::grammar {
namespace {

using Sequence = std::vector<Terminal>;

constexpr size_t kLength = 120000;

Sequence make(const std::string& kind) {
  std::mt19937 random(1);
  Sequence s;
  while (s.size() < kLength) {
    if (kind == "loop") {  // 12 different calls
      for (Terminal t = 0; t < 12; ++t) s.push_back(t);
    } else if (kind == "nested") {  // ((4 calls)^10 3 calls)
      for (int i = 0; i < 10; ++i)
        for (Terminal t = 0; t < 4; ++t) s.push_back(t);
      for (Terminal t = 4; t < 7; ++t) s.push_back(t);
    } else if (kind == "poll") {  // one call
      s.push_back(3);
    } else if (kind == "choice") {  // 12 calls, one of them different each time
      for (Terminal t = 0; t < 11; ++t) s.push_back(t);
      s.push_back(20 + static_cast<Terminal>(random() % 8));
    } else if (kind == "random") {
      s.push_back(static_cast<Terminal>(random() % 100));
    } else {  // "new": every call a new signature
      s.push_back(static_cast<Terminal>(s.size()));
    }
  }
  s.resize(kLength);
  return s;
}

}  // namespace

// Not inlined, so that callgrind can be told to count in here only.
__attribute__((noinline)) void append_all(Builder& builder, const Terminal* begin,
                                          const Terminal* end) {
  for (; begin != end; ++begin) builder.append(*begin);
}

namespace {

void append(benchmark::State& state, const char* kind) {
  const Sequence s = make(kind);
  size_t bytes = 0;
  for (auto _ : state) {
    Builder builder;
    append_all(builder, s.data(), s.data() + s.size());
    bytes = builder.memory_bytes();
  }
  state.counters["per_append"] = benchmark::Counter(
      static_cast<double>(s.size()),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["memory_bytes"] = static_cast<double>(bytes);
}
BENCHMARK_CAPTURE(append, loop, "loop");
BENCHMARK_CAPTURE(append, nested, "nested");
BENCHMARK_CAPTURE(append, poll, "poll");
BENCHMARK_CAPTURE(append, choice, "choice");
BENCHMARK_CAPTURE(append, random, "random");
BENCHMARK_CAPTURE(append, new, "new");

void walk(benchmark::State& state) {
  Builder builder;
  for (const Terminal t : make("nested")) builder.append(t);
  const Grammar g = builder.finish();
  uint64_t sum = 0;
  for (auto _ : state) {
    for (TerminalCursor cursor(g); !cursor.at_end();) sum += cursor.next();
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kLength));
}
BENCHMARK(walk);

// Counts of every terminal in 10^9 calls.
void count_a_billion(benchmark::State& state) {
  const Grammar g{{{1, true, 25000000},
                   {2, true, 10},
                   {3, false, 1},
                   {4, false, 1},
                   {5, false, 1},
                   {6, false, 1},
                   {0, false, 1},
                   {1, false, 1},
                   {2, false, 2},
                   {7, false, 32}},
                  {1, 6, 10}};
  for (auto _ : state) benchmark::DoNotOptimize(occurrences(g, 8));
}
BENCHMARK(count_a_billion);

}  // namespace
}  // namespace refrain::grammar

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--count") == 0) {
    const auto s = refrain::grammar::make(argv[2]);
    refrain::grammar::Builder builder;
    refrain::grammar::append_all(builder, s.data(), s.data() + s.size());
    std::printf("%llu terminals\n", static_cast<unsigned long long>(builder.length()));
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
