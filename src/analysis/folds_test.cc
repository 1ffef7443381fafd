// The folds against the slow way: expand every call of every rank and count.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/matrix.h"
#include "analysis/profile/profile.h"
#include "reader/test_trace.h"
#include "refrain/calls.h"

namespace refrain::analysis {
namespace {

using reader::me_plus_mod_size;
using reader::ShapeWriter;
using reader::TraceBuilder;

constexpr Rank kRanks = 6;

// A trace of two groups (even and odd ranks, each with a communicator of its own) whose ranks make
// random loops of random calls, in one or two threads.
class RandomTrace {
 public:
  explicit RandomTrace(uint32_t seed) : random_(seed), builder_(kRanks) {
    world_ = builder_.world();
    halves_[0] = builder_.comm(1, {0, 2, 4});
    halves_[1] = builder_.comm(1, {1, 3, 5});
    type_ = builder_.predefined_type("MPI_DOUBLE", 8);
    sites_[0] = builder_.site("/app", "", 0x10);
    sites_[1] = builder_.site("/app", "", 0x20);
    for (int half = 0; half < 2; ++half) {
      const std::vector<uint32_t> signatures = some_signatures(halves_[half]);
      std::vector<uint32_t> calls;
      loop(signatures, 3, calls);
      const std::vector<int64_t> ranks =
          half == 0 ? std::vector<int64_t>{0, 2, 4} : std::vector<int64_t>{1, 3, 5};
      builder_.group(ranks, calls);
      if (below(2) == 1)  // a second thread that does the same
        builder_.data().groups.back().locations.push_back(
            {1, static_cast<uint32_t>(builder_.data().grammars.size() - 1)});
    }
    for (format::DurationStats& stats : builder_.data().durations) {
      stats.min_ns = below(50);
      stats.max_ns = 100 + below(1000);
      stats.sum_ns = static_cast<double>(stats.count * (50 + below(50)));
    }
    for (format::RankTotals& totals : builder_.data().totals)
      totals = {1000 + below(1000), 5000 + below(1000)};
  }

  Trace open() const { return builder_.open(); }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  ShapeWriter begin(const char* call) {
    ShapeWriter shape(call);
    if (below(3) == 0)
      shape.none();
    else
      shape.object(sites_[below(2)]);  // the field of the site is a kObject, too
    return shape;
  }

  // count, datatype, dest, tag, comm
  void message(ShapeWriter& shape, uint32_t comm) {
    shape.none().integer(static_cast<int64_t>(below(100))).object(type_);
    switch (below(3)) {
      case 0: shape.constant("MPI_PROC_NULL"); break;
      case 1: shape.integer(static_cast<int64_t>(below(3))); break;
      default: shape.integer(me_plus_mod_size(static_cast<int64_t>(below(3))));
    }
    shape.integer(7).object(comm);
  }

  std::vector<uint32_t> some_signatures(uint32_t half) {
    std::vector<uint32_t> out;
    for (int i = 0; i < 6; ++i) {
      const uint32_t comm = below(2) == 0 ? world_ : half;
      switch (below(5)) {
        case 0:
        case 1: {
          ShapeWriter shape = begin("MPI_Send");
          message(shape, comm);
          out.push_back(builder_.signature(shape));
          break;
        }
        case 2: {
          ShapeWriter init = begin("MPI_Send_init");
          message(init, comm);
          init.new_request(0);
          out.push_back(builder_.signature(init));
          ShapeWriter start = begin("MPI_Start");
          start.request(out.back());
          out.push_back(builder_.signature(start));
          ShapeWriter all = begin("MPI_Startall");
          all.integer(3).array(3).repeat(3).request(out[out.size() - 2]);
          out.push_back(builder_.signature(all));
          break;
        }
        case 3: {
          ShapeWriter shape = begin("MPI_Allreduce");
          shape.none().none().integer(static_cast<int64_t>(below(9))).object(type_).none();
          shape.object(comm);
          out.push_back(builder_.signature(shape));
          break;
        }
        default: {
          ShapeWriter shape = begin("MPI_Bcast");
          shape.none().integer(5).object(type_).integer(static_cast<int64_t>(below(3)));
          shape.object(comm);
          out.push_back(builder_.signature(shape));
        }
      }
    }
    return out;
  }

  void loop(const std::vector<uint32_t>& signatures, int depth, std::vector<uint32_t>& calls) {
    std::vector<uint32_t> body;
    for (uint64_t i = 0; i < 1 + below(4); ++i) {
      if (depth > 0 && below(2) == 0)
        loop(signatures, depth - 1, body);
      else
        body.push_back(signatures[below(signatures.size())]);
    }
    for (uint64_t i = 0; i < 1 + below(8); ++i) calls.insert(calls.end(), body.begin(), body.end());
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  uint32_t world_ = 0, halves_[2] = {}, type_ = 0, sites_[2] = {};
};

// Written without analysis/: what these few functions move, straight from their parameters.
struct Expanded {
  std::map<std::string, std::pair<uint64_t, uint64_t>> functions;        // calls, bytes
  std::map<std::pair<DefinitionId, std::string>, uint64_t> sites;        // calls
  std::map<std::pair<Rank, Rank>, std::pair<uint64_t, uint64_t>> pairs;  // messages, bytes
  std::vector<uint64_t> calls_of_rank = std::vector<uint64_t>(kRanks, 0);
  std::vector<uint64_t> bytes_of_rank = std::vector<uint64_t>(kRanks, 0);

  explicit Expanded(const Trace& trace) {
    for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
      RankReader ranks_calls(trace, rank);
      for (const Location& location : trace.locations(rank)) {
        const Status done = ranks_calls.for_each_call(location.thread, [&](const Call& call) {
          add(trace, ranks_calls, call);
          return true;
        });
        EXPECT_TRUE(done.ok());
      }
    }
  }

 private:
  void add(const Trace& trace, RankReader& reader, const Call& call) {
    const Signature& s = *call.signature;
    uint64_t bytes = 0;
    if (s.name == "MPI_Send") bytes = send(trace, s, call.rank);
    if (s.name == "MPI_Start")
      bytes = send(trace, reader.signature(s.find("request")->id), call.rank);
    if (s.name == "MPI_Startall")
      s.find("array_of_requests")->for_each([&](const Value& request) {
        bytes += send(trace, reader.signature(request.id), call.rank);
      });
    if (s.name == "MPI_Allreduce") bytes = count_bytes(s);
    if (s.name == "MPI_Bcast") {
      const auto comm = trace.communicator(s.find("comm")->id, call.rank);
      if (comm->member(s.find("root")->number) == call.rank) bytes = count_bytes(s);
    }
    functions[std::string(s.name)].first += 1;
    functions[std::string(s.name)].second += bytes;
    sites[{s.site, std::string(s.name)}] += 1;
    calls_of_rank[static_cast<size_t>(call.rank)] += 1;
    bytes_of_rank[static_cast<size_t>(call.rank)] += bytes;
  }

  static uint64_t count_bytes(const Signature& s) {
    return static_cast<uint64_t>(s.find("count")->number) * 8;
  }

  uint64_t send(const Trace& trace, const Signature& s, Rank rank) {
    const Value* dest = s.find("dest");
    if (!dest->is_integer()) return 0;
    const auto comm = trace.communicator(s.find("comm")->id, rank);
    auto& [messages, bytes] = pairs[{rank, comm->member(dest->number)}];
    messages += 1;
    bytes += count_bytes(s);
    return count_bytes(s);
  }
};

class Folds : public testing::TestWithParam<uint32_t> {};

TEST_P(Folds, ProfileEqualsTheExpandedCalls) {
  const Trace trace = RandomTrace(GetParam()).open();
  const Expanded expected(trace);
  const Profile profile = analysis::profile(trace);
  std::map<std::string, std::pair<uint64_t, uint64_t>> functions;
  double time_ns = 0;
  for (const FunctionRow& row : profile.functions) {
    const mpi::CallInfo* info = mpi::find_call(row.call);
    functions[std::string(info->name)] = {row.totals.calls, row.totals.bytes};
    time_ns += row.totals.time_ns;
  }
  EXPECT_EQ(functions, expected.functions);
  std::map<std::pair<DefinitionId, std::string>, uint64_t> sites;
  double site_time_ns = 0;
  for (const SiteRow& row : profile.sites) {
    sites[{row.site, std::string(mpi::find_call(row.call)->name)}] = row.totals.calls;
    site_time_ns += row.totals.time_ns;
  }
  EXPECT_EQ(sites, expected.sites);
  EXPECT_NEAR(time_ns, site_time_ns, 1e-6 * time_ns);
  EXPECT_NEAR(time_ns, profile.all.time_ns, 1e-6 * time_ns);
  for (const RankRow& row : profile.ranks) {
    EXPECT_EQ(row.calls, expected.calls_of_rank[static_cast<size_t>(row.rank)]);
    EXPECT_EQ(row.bytes, expected.bytes_of_rank[static_cast<size_t>(row.rank)]);
  }
  EXPECT_EQ(profile.all.calls, trace.call_count());
}

TEST_P(Folds, MatrixEqualsTheExpandedCalls) {
  const Trace trace = RandomTrace(GetParam()).open();
  const Expanded expected(trace);
  std::map<std::pair<Rank, Rank>, std::pair<uint64_t, uint64_t>> pairs;
  for (const MatrixEntry& e : matrix(trace, MatrixKind::kP2p).entries)
    pairs[{e.source, e.dest}] = {e.messages, e.bytes};
  EXPECT_EQ(pairs, expected.pairs);
  EXPECT_TRUE(matrix(trace, MatrixKind::kRma).entries.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Folds, testing::Range(uint32_t{1}, uint32_t{41}));

}  // namespace
}  // namespace refrain::analysis
