// Profile and matrix of the same loops with 10^3 to 10^9 calls: what they cost must not depend on
// it.
//
//   ninja fold_bench && bench/fold_bench
//
// 64 ranks in a ring: per time step four sends to either side and an Allreduce, time steps in loops
// of 10. The expanded walk over 10^6 calls stands beside it for comparison.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "analysis/matrix.h"
#include "analysis/profile/profile.h"
#include "base/bytes.h"
#include "format/definitions.h"
#include "format/trace_data.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace {

using refrain::format::DefinitionKind;
using refrain::format::FieldTag;
using refrain::format::RankExpr;
using refrain::format::TraceData;

constexpr uint64_t kRanks = 64;
constexpr uint64_t kCallsPerStep = 5;

class Shape {
 public:
  explicit Shape(std::string_view call) { out_.put_varint(refrain::mpi::find_call(call)->id); }
  Shape& none() { return put(FieldTag::kNone); }
  Shape& slot(FieldTag tag, RankExpr e) { return slots_.push_back(e), put(tag); }
  Shape& integer(int64_t v) { return slot(FieldTag::kInt, {RankExpr::Kind::kConst, v, 0, 0}); }
  Shape& object(int64_t id) { return slot(FieldTag::kObject, {RankExpr::Kind::kConst, id, 0, 0}); }
  refrain::format::StoredSignature take() { return {out_.take(), slots_}; }

 private:
  Shape& put(FieldTag tag) {
    out_.put_u8(static_cast<uint8_t>(tag));
    return *this;
  }
  refrain::base::ByteWriter out_;
  std::vector<RankExpr> slots_;
};

refrain::Trace ring(uint64_t calls) {
  TraceData data;
  data.meta.ranks = kRanks;
  data.meta.hosts = {"host"};
  for (uint64_t r = 0; r < kRanks; ++r) data.meta.host_of_rank.append(0);
  data.totals.resize(kRanks);
  refrain::format::CommDefinition comm;
  comm.constant = refrain::mpi::constant_id("MPI_COMM_WORLD");
  data.definitions.push_back({DefinitionKind::kComm, refrain::format::write_comm(comm), {}});
  refrain::format::DatatypeDefinition type;
  type.constant = refrain::mpi::constant_id("MPI_DOUBLE");
  type.size_bytes = type.extent_bytes = 8;
  data.definitions.push_back(
      {DefinitionKind::kDatatype, refrain::format::write_datatype(type), {}});
  for (const int64_t to : {1, -1, 2, -2}) {
    Shape send("MPI_Send");
    send.none().none().integer(100 * to * to).object(1);
    send.slot(FieldTag::kInt, {RankExpr::Kind::kMod, to, 0, 0}).integer(0).object(0);
    data.signatures.push_back(send.take());
  }
  Shape all("MPI_Allreduce");
  data.signatures.push_back(all.none().none().none().integer(1).object(1).none().object(0).take());
  data.durations.resize(data.signatures.size());
  const uint64_t steps = calls / kRanks / kCallsPerStep;
  for (auto& d : data.durations)
    d.count = steps * kRanks, d.sum_ns = 1000.0 * static_cast<double>(d.count);

  refrain::grammar::Grammar grammar;
  grammar.symbols = {{1, true, steps / 10 + 1}, {2, true, 10}};
  grammar.rule_end = {1, 2};
  for (uint32_t t = 0; t < kCallsPerStep; ++t) grammar.symbols.push_back({t, false, 1});
  grammar.rule_end.push_back(static_cast<uint32_t>(grammar.symbols.size()));
  data.grammars = {grammar};
  auto& group = data.groups.emplace_back();
  group.ranks.append_run(0, 1, kRanks);
  group.locations = {{0, 0}};
  for (uint32_t t = 0; t < kCallsPerStep; ++t) group.signatures.push_back(t);
  auto trace = refrain::reader::trace_of(std::move(data), "ring", 0);
  if (!trace.ok()) {
    std::cerr << trace.error().to_string() << '\n';
    std::exit(1);
  }
  return *trace;
}

void profile(benchmark::State& state) {
  const refrain::Trace trace = ring(static_cast<uint64_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(refrain::analysis::profile(trace));
  state.counters["calls"] = static_cast<double>(trace.call_count());
}
BENCHMARK(profile)->Arg(1000)->Arg(1000000)->Arg(1000000000)->Unit(benchmark::kMicrosecond);

void matrix(benchmark::State& state) {
  const refrain::Trace trace = ring(static_cast<uint64_t>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(refrain::analysis::matrix(trace, refrain::analysis::MatrixKind::kP2p));
  state.counters["calls"] = static_cast<double>(trace.call_count());
}
BENCHMARK(matrix)->Arg(1000)->Arg(1000000)->Arg(1000000000)->Unit(benchmark::kMicrosecond);

void walk_every_call(benchmark::State& state) {
  const refrain::Trace trace = ring(static_cast<uint64_t>(state.range(0)));
  for (auto _ : state) {
    uint64_t calls = 0;
    for (refrain::Rank r = 0; r < trace.rank_count(); ++r) {
      refrain::RankReader reader(trace, r);
      const auto done = reader.for_each_call(0, [&](const refrain::Call&) { return ++calls > 0; });
      benchmark::DoNotOptimize(done.ok());
    }
    benchmark::DoNotOptimize(calls);
  }
  state.counters["calls"] = static_cast<double>(trace.call_count());
}
BENCHMARK(walk_every_call)->Arg(1000)->Arg(1000000)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
