// The comparison against the slow way: expand every call of every rank of both runs, and count.

#include "analysis/diff/diff.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/diff/test_runs.h"
#include "analysis/diff/threshold.h"
#include "refrain/calls.h"

namespace refrain::analysis::diff {
namespace {

Diff compared(const Trace& a, const Trace& b) {
  reader::Symbols symbols;
  return diff(a, b, symbols, {});
}

bool is_anywhere(const CallChange&, const std::string&) { return true; }

// Without analysis/: what these few functions do, straight from their parameters.
struct Expanded {
  struct Row {
    double calls = 0, polls = 0, bytes = 0, messages = 0;
    std::set<std::string> signatures;
    bool operator==(const Row&) const = default;
  };
  std::map<std::pair<int64_t, std::string>, Row> rows;                   // by offset and function
  std::map<std::pair<Rank, Rank>, std::pair<uint64_t, uint64_t>> pairs;  // messages, bytes

  explicit Expanded(const Trace& trace) {
    for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
      RankReader reader(trace, rank);
      const auto visit = [&](const Call& call) { return add(trace, call), true; };
      const Status done = reader.for_each_call(0, visit);
      EXPECT_TRUE(done.ok());
    }
  }

 private:
  void add(const Trace& trace, const Call& call) {
    const Signature& s = *call.signature;
    Row& row = rows[{trace.site(s.site)->offset, std::string(s.name)}];
    const auto number = [&s](const char* name) { return s.find(name)->number; };
    if (s.name == "MPI_Test") {
      row.polls += 1;
      row.signatures.insert("test");
      return;
    }
    row.calls += 1;
    const uint64_t bytes = static_cast<uint64_t>(number("count")) * 8;
    std::string text = std::to_string(bytes);
    if (s.name == "MPI_Send") {
      row.messages += 1;
      row.bytes += static_cast<double>(bytes);
      auto& [messages, of_pair] = pairs[{call.rank, number("dest")}];
      messages += 1;
      of_pair += bytes;
      text +=
          ' ' + std::to_string(number("dest") - call.rank) + ' ' + std::to_string(number("tag"));
    } else if (s.name == "MPI_Bcast") {
      if (number("root") == call.rank) row.bytes += static_cast<double>(bytes);
      text += " root " + std::to_string(number("root"));
    } else {
      row.bytes += static_cast<double>(bytes);
    }
    row.signatures.insert(text);
  }
};

class RandomRuns : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomRuns, EqualTheExpandedCalls) {
  const Trace a = random_run(GetParam(), 6).open(), b = random_run(GetParam() + 1000, 6).open();
  const Expanded before(a), after(b);
  const Diff d = compared(a, b);
  ASSERT_TRUE(d.same_ranks);
  std::map<std::pair<int64_t, std::string>, Expanded::Row> rows_before, rows_after;
  for (const CallChange& c : d.calls) {
    const std::string name(mpi::find_call(c.call)->name);
    const auto take = [&](const Trace& t, DefinitionId path, const Amounts& n, uint64_t signatures,
                          const Expanded& expected, auto& rows) {
      Expanded::Row& row = rows[{t.site(path)->offset, name}];
      row = {n.calls, n.polls, n.bytes, n.messages, {}};
      const auto& there = expected.rows.at({t.site(path)->offset, name});
      EXPECT_EQ(signatures, there.signatures.size());
      row.signatures = there.signatures;
    };
    if (c.is_before) take(a, c.path_before, c.before, c.signatures_before, before, rows_before);
    if (c.is_after) take(b, c.path_after, c.after, c.signatures_after, after, rows_after);
    if (c.is_before && c.is_after) {
      // The same build: the same place is the same address.
      EXPECT_EQ(a.site(c.path_before)->offset, b.site(c.path_after)->offset);
      const auto& x = before.rows.at({a.site(c.path_before)->offset, name});
      const auto& y = after.rows.at({a.site(c.path_before)->offset, name});
      if (c.change == Change::kSame) {
        EXPECT_EQ(x.signatures, y.signatures);
        EXPECT_EQ(x.calls, y.calls);
        EXPECT_EQ(x.bytes, y.bytes);
      }
      if (x.signatures != y.signatures || x.calls != y.calls || x.bytes != y.bytes) {
        EXPECT_EQ(c.change, Change::kChanged);
      }
    } else {
      EXPECT_EQ(c.is_before, c.change == Change::kVanished);
      EXPECT_EQ(before.rows.count(
                    {(c.is_before ? a.site(c.path_before) : b.site(c.path_after))->offset, name}),
                c.is_before ? 1u : 0u);
    }
  }
  EXPECT_EQ(rows_before, before.rows);
  EXPECT_EQ(rows_after, after.rows);
}

TEST_P(RandomRuns, PartnersEqualTheExpandedMessages) {
  const Trace a = random_run(GetParam(), 6).open(), b = random_run(GetParam() + 1000, 6).open();
  const Expanded before(a), after(b);
  std::set<std::tuple<Rank, Rank, double, double, double, double>> expected, found;
  std::set<std::pair<Rank, Rank>> all;
  for (const auto& [pair, n] : before.pairs) all.insert(pair);
  for (const auto& [pair, n] : after.pairs) all.insert(pair);
  for (const auto& pair : all) {
    const auto of = [&pair](const Expanded& run) {
      const auto at = run.pairs.find(pair);
      return at == run.pairs.end() ? std::pair<uint64_t, uint64_t>() : at->second;
    };
    const auto x = of(before), y = of(after);
    if (x != y) expected.emplace(pair.first, pair.second, x.first, y.first, x.second, y.second);
  }
  const Diff d = compared(a, b);
  for (const PartnerChange& p : d.partners)
    found.emplace(p.source, p.dest, p.messages_before, p.messages_after, p.bytes_before,
                  p.bytes_after);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(d.sides[0].partners, before.pairs.size());
  EXPECT_EQ(d.sides[1].partners, after.pairs.size());
}

TEST_P(RandomRuns, TheSameRunHasNoDifference) {
  const Trace a = random_run(GetParam(), 5).open(), b = random_run(GetParam(), 5).open();
  const Diff d = compared(a, b);
  EXPECT_TRUE(d.is_same());
  for (const CallChange& c : d.calls) {
    EXPECT_EQ(c.change, Change::kSame);
    EXPECT_TRUE(c.signatures.empty());
    EXPECT_EQ(c.weight, 0);
  }
  for (const Threshold& t : default_thresholds()) {
    const auto verdict = judge(d, t, is_anywhere);
    ASSERT_TRUE(verdict.ok());
    EXPECT_FALSE(verdict->is_crossed) << t.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRuns, testing::Range(uint32_t{1}, uint32_t{31}));

TEST(Diff, AnotherNumberOfIterationsIsALoopThatChanged) {
  const auto run = [](size_t iterations) {
    MadeRun r(4);
    const uint32_t send = r.send(0x10, me_plus_mod_size(1), 8), all = r.allreduce(0x20, 1);
    const uint32_t first = r.barrier(0x30);
    r.program(joined({first}, repeat(joined(repeat({send}, 9), {all}), iterations)));
    return r.open();
  };
  const Diff d = compared(run(40), run(50));
  ASSERT_EQ(d.loops.size(), 1u);  // the inner one goes round nine times, as before
  EXPECT_EQ(d.loops[0].change, Change::kChanged);
  EXPECT_EQ(d.loops[0].iterations_before, 40);
  EXPECT_EQ(d.loops[0].iterations_after, 50);
  EXPECT_EQ(d.loops[0].entries_before, 1);
  EXPECT_EQ(d.loops[0].calls_before.size(), 2u);
  EXPECT_EQ(d.before.calls, 4 * (1 + 40 * 10));
  EXPECT_EQ(d.after.calls, 4 * (1 + 50 * 10));
}

TEST(Diff, ALongLoopCostsWhatAShortOneDoes) {
  const auto run = [](uint64_t iterations) {
    MadeRun r(2);
    const uint32_t send = r.send(0x10, me_plus_mod_size(1), 8), all = r.allreduce(0x20, 1);
    r.program(repeat({send, all}, 4));
    for (grammar::Grammar& g : r.builder().data().grammars)
      for (grammar::Symbol& s : g.symbols)
        if (s.count == 4) s.count = iterations;
    return r.open();
  };
  const Diff d = compared(run(4), run(1'000'000'000));
  EXPECT_EQ(d.after.calls, 4e9);
  ASSERT_EQ(d.loops.size(), 1u);
  EXPECT_EQ(d.loops[0].iterations_after, 1e9);
}

TEST(Diff, AChangedParameterIsNamed) {
  const auto run = [](int64_t count) {
    MadeRun r(4);
    r.program(repeat({r.send(0x10, me_plus_mod_size(1), count), r.barrier(0x20)}, 10));
    return r.open();
  };
  const Diff d = compared(run(48), run(96));
  ASSERT_EQ(d.calls.size(), 2u);
  EXPECT_EQ(d.calls[0].change, Change::kChanged);
  EXPECT_EQ(d.calls[1].change, Change::kSame);
  // Rank 3 sends to 0, which is me-3: two signatures.
  ASSERT_EQ(d.calls[0].signatures.size(), 2u);
  EXPECT_EQ(d.calls[0].signatures[0].before, (Words{"count=48", "datatype=MPI_DOUBLE", "dest=me+1",
                                                    "tag=7", "comm=MPI_COMM_WORLD"}));
  EXPECT_EQ(d.calls[0].signatures[0].after, (Words{"count=96", "datatype=MPI_DOUBLE", "dest=me+1",
                                                   "tag=7", "comm=MPI_COMM_WORLD"}));
  EXPECT_EQ(d.before.bytes * 2, d.after.bytes);
  EXPECT_TRUE(d.loops.empty());
  EXPECT_EQ(d.partners.size(), 4u);
}

// An index in a table of the MPI library: with other options of the recorder it is another one.
TEST(Diff, TheNumberOfAFortranHandleIsNone) {
  const auto run = [](int64_t handle) {
    MadeRun r(2);
    ShapeWriter s = r.at("MPI_Comm_f2c", 0x10);
    s.integer(handle);
    r.program({r.builder().signature(s), r.barrier(0x20)});
    return r.open();
  };
  EXPECT_TRUE(compared(run(13), run(14)).is_same());
}

// The same program, built anew: every address is another, and one call was put in.
TEST(Diff, PlacesOfAnotherBuildAreFound) {
  const auto run = [](const char* build, int64_t moved, bool has_more) {
    MadeRun r(4, build);
    const uint32_t send = r.send(0x10 + moved, me_plus_mod_size(1), 8);
    const uint32_t first = r.allreduce(0x20 + moved, 1);
    const uint32_t more = has_more ? r.allreduce(0x28 + moved, 5) : 0;
    const uint32_t last = r.allreduce(0x30 + 2 * moved, 2);
    std::vector<uint32_t> body = {send, first};
    if (has_more) body.push_back(more);
    body.push_back(last);
    r.program(repeat(body, 10));
    return r.open();
  };
  EXPECT_TRUE(compared(run("ab", 0, false), run("cd", 0x100, false)).is_same());
  EXPECT_TRUE(compared(run("ab", 0, false), run("cd", -8, false)).is_same());
  const Diff d = compared(run("ab", 0, false), run("cd", 0x100, true));
  ASSERT_EQ(d.calls.size(), 4u);
  EXPECT_EQ(d.calls[0].change, Change::kAppeared);
  EXPECT_EQ(d.calls[0].after.bytes, 4 * 10 * 5 * 8);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(d.calls[i].change, Change::kSame);
  ASSERT_EQ(d.loops.size(), 1u);
  EXPECT_EQ(d.loops[0].change, Change::kChanged);  // its body
  EXPECT_EQ(d.loops[0].calls_after.size(), d.loops[0].calls_before.size() + 1);
  // In the same build another address is another place.
  EXPECT_FALSE(compared(run("ab", 0, false), run("ab", 0x100, false)).is_same());
}

TEST(Diff, RunsOnOtherNumbersOfRanksAreComparedByRank) {
  const auto run = [](uint64_t ranks, int64_t distance) {
    MadeRun r(ranks);
    r.program(joined(repeat({r.send(0x10, me_plus_mod_size(distance), 8)}, 10),
                     {r.bcast(0x20, 0, 4 * static_cast<int64_t>(ranks)), r.barrier(0x30)}));
    return r.open();
  };
  const Diff same = compared(run(4, 1), run(16, 1));
  EXPECT_FALSE(same.same_ranks);
  EXPECT_FALSE(same.is_same());  // the number of ranks itself
  EXPECT_EQ(same.before.calls, 12);
  EXPECT_EQ(same.after.calls, 12);
  EXPECT_TRUE(same.partners.empty());
  for (const CallChange& c : same.calls)
    EXPECT_EQ(c.change,
              mpi::find_call(c.call)->name == "MPI_Bcast" ? Change::kChanged : Change::kSame);
  const Diff other = compared(run(4, 1), run(16, 3));
  ASSERT_EQ(other.partners.size(), 2u);
  EXPECT_EQ(other.partners[0].distance, "me+1");
  EXPECT_EQ(other.partners[0].change, Change::kVanished);
  EXPECT_EQ(other.partners[1].distance, "me+3");
  EXPECT_EQ(other.partners[1].messages_after, 10);
}

// On two ranks the one before and the one behind are one.
TEST(Diff, RanksBeforeAndBehindAreOneOfTwo) {
  const auto run = [](uint64_t ranks, int64_t distance) {
    MadeRun r(ranks);
    r.program(repeat({r.send(0x10, me_plus_mod_size(distance), 8)}, 10));
    return r.open();
  };
  for (const int64_t distance : {1, -1}) {
    const Diff same = compared(run(2, distance), run(6, distance));
    for (const CallChange& c : same.calls) EXPECT_EQ(c.change, Change::kSame);
    EXPECT_TRUE(same.partners.empty());
    EXPECT_TRUE(same.is_same_of_a_rank());
    EXPECT_FALSE(same.is_same());
  }
  const Diff other = compared(run(2, 1), run(6, 2));
  ASSERT_EQ(other.partners.size(), 2u);
  EXPECT_EQ(other.partners[0].distance, "me+/-1");
  EXPECT_EQ(other.partners[1].distance, "me+2");
}

TEST(Diff, HowOftenAProgramPollsIsNoDifference) {
  const auto run = [](size_t polls) {
    MadeRun r(2);
    r.program(joined(repeat({r.test(0x10)}, polls), {r.barrier(0x20)}));
    return r.open();
  };
  const Diff d = compared(run(10), run(1000));
  EXPECT_TRUE(d.is_same());
  EXPECT_EQ(d.before.polls, 20);
  EXPECT_EQ(d.after.polls, 2000);
  EXPECT_EQ(d.after.calls, 2);
}

TEST(Diff, TimeIsComparedWithTheSpreadOfCalls) {
  const auto run = [](double mean_ns, bool is_steady) {
    MadeRun r(4);
    r.program(repeat({r.barrier(0x10)}, 1000));
    format::DurationStats& stats = r.builder().data().durations[0];
    stats.sum_ns = mean_ns * 4000;
    if (is_steady) {
      stats.histogram.add(10, 4000);
    } else {
      stats.histogram.add(3, 3990);
      stats.histogram.add(20, 10);
    }
    for (format::RankTotals& t : r.builder().data().totals)
      t.in_mpi_ns = static_cast<uint64_t>(mean_ns * 1000);
    return r.open();
  };
  const auto is_noise = [](const Diff& d) {
    const CallChange& c = d.calls.at(0);
    return Measure{c.before.time_ns, c.after.time_ns, c.time_noise_ns}.is_noise();
  };
  EXPECT_TRUE(is_noise(compared(run(1000, true), run(1010, true))));
  EXPECT_FALSE(is_noise(compared(run(1000, true), run(1500, true))));
  EXPECT_TRUE(is_noise(compared(run(1000, false), run(1500, false))));
  EXPECT_TRUE(compared(run(1000, true), run(1500, true)).is_same());
}

TEST(Diff, TracesWithoutCalls) {
  const auto incomplete = [](uint64_t ranks, bool has_call) {
    MadeRun made(ranks);
    made.builder().data().meta.complete = false;
    if (has_call) made.group({0}, {made.barrier(0x10)});  // of the others nothing is known
    return made.open();
  };
  const Trace none = incomplete(2, false), one = incomplete(2, true);
  EXPECT_TRUE(compared(none, none).is_same());
  const Diff d = compared(none, one);
  ASSERT_EQ(d.calls.size(), 1u);
  EXPECT_EQ(d.calls[0].change, Change::kAppeared);
  EXPECT_EQ(compared(one, incomplete(3, false)).calls.at(0).change, Change::kVanished);
}

}  // namespace
}  // namespace refrain::analysis::diff
