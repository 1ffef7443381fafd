// What matching a segment costs, per event: the building of its vector, its structure key and the
// match, for each method.
//
//   ninja similarity_bench && bench/similarity_bench
//
// steady: every segment matches the first representative that is tried. mixed: ten kinds of
// segments in random order. The counter ns_per_event is what the recorder pays for an event.

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "similarity/store.h"

namespace {

using namespace refrain::similarity;  // NOLINT(google-build-using-namespace)

std::vector<std::vector<double>> kinds(size_t events, size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> out(count);
  double length = 1000;
  for (auto& stamps : out) {
    double at = 0;
    for (size_t i = 0; i < 2 * events + 1; ++i)
      stamps.push_back(at += length * (1 + static_cast<double>(random() % 100) / 1000));
    length *= 2;
  }
  return out;
}

void match(benchmark::State& state) {
  StoreOptions options;
  options.method = default_spec(static_cast<Method>(state.range(0)));
  const auto events = static_cast<size_t>(state.range(1));
  const auto shapes = kinds(events, static_cast<size_t>(state.range(2)));
  SegmentStore store(options);
  SegmentBuilder builder;
  std::mt19937 random(2);
  int64_t now = 0;
  uint64_t matched = 0;
  for (auto _ : state) {
    const auto& stamps = shapes[shapes.size() == 1 ? 0 : random() % shapes.size()];
    builder.begin(1, now);
    for (size_t e = 0; e < events; ++e)
      builder.event(e, now + static_cast<int64_t>(stamps[2 * e]),
                    now + static_cast<int64_t>(stamps[2 * e + 1]));
    const SegmentView view = builder.end(now + static_cast<int64_t>(stamps.back()));
    matched += store.match(view).outcome == SegmentStore::Outcome::kMatched ? 1 : 0;
    now += static_cast<int64_t>(stamps.back());
  }
  state.SetLabel(method_name(options.method.method));
  state.counters["ns_per_event"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(events),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["matched"] =
      static_cast<double>(matched) / static_cast<double>(state.iterations());
}
void arguments(benchmark::internal::Benchmark* b) {
  for (const int kind_count : {1, 10})
    for (int m = 0; m < kMethodCount; ++m) b->Args({m, 12, kind_count});
}
BENCHMARK(match)->Apply(arguments)->ArgNames({"method", "events", "kinds"});

}  // namespace

BENCHMARK_MAIN();
