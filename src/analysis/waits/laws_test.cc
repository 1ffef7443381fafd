// What holds for the cause of every single wait, whatever the program: on random programs, against
// paths that are walked to their ends and compared part by part.

#include <map>

#include "analysis/waits/paths.h"
#include "analysis/waits/testing/random_program.h"

namespace refrain::analysis::waits {
namespace {

std::vector<PathPart> whole(Path& path) {
  std::vector<PathPart> out;
  PathPart part;
  while (path.next(part)) out.push_back(part);
  return out;
}

// Nanoseconds of each stretch on a path, of the time that is not on the other one.
std::map<Stretch, double> without(const std::vector<PathPart>& of,
                                  const std::vector<PathPart>& other) {
  std::map<Stretch, double> out;
  for (const PathPart& part : of) {
    uint64_t low = part.low;
    for (const PathPart& o : other)
      if (o.location == part.location && o.high > low && o.low < part.high)
        low = std::max(low, std::min(o.high, part.high));
    out[part.stretch] += static_cast<double>(part.high - low);
  }
  return out;
}

class Laws {
 public:
  explicit Laws(Sweep& sweep) : log_(sweep.log()), later_(log_), earlier_(log_) {}

  void check(const Wait& wait) {
    if (wait.causer == kNoNode || wait.ns == 0) return;
    later_.start(wait.causer, wait.end);
    earlier_.start(wait.waiter, wait.begin);
    const std::vector<PathPart> there = whole(later_), here = whole(earlier_);
    expect_path(there, wait.end);
    expect_path(here, wait.begin);
    later_.start(wait.causer, wait.end);
    earlier_.start(wait.waiter, wait.begin);
    const std::vector<Share> shares = difference_.shares(later_, earlier_, 1 << 20);
    const std::map<Stretch, double> more = without(there, here), less = without(here, there);
    std::map<Stretch, double> sums;
    double sum = 0;
    for (const Share& share : shares) {
      const auto ns = static_cast<double>(share.part.high - share.part.low);
      ASSERT_GT(share.ns, 0);
      ASSERT_LE(share.ns, ns + 1e-6);  // what it took, in the window
      sums[share.part.stretch] += share.ns;
      sum += share.ns;
      if (share.part.node == kNoNode || !share.part.stretch.is_call) continue;
      const Node call = log_.nodes.get(share.part.node);
      // Of a poll the calls alone were waited in.
      const double of_ns =
          static_cast<double>(wait.ns) / static_cast<double>(wait.end - wait.begin);
      charged_[{share.part.node, log_.nodes.get(wait.waiter).location}] += share.ns * of_ns;
      const double in_calls = 1 - static_cast<double>(call.between);
      ASSERT_LE(share.ns, in_calls * static_cast<double>(call.end - call.begin) + 1);
    }
    // They add up to the wait.
    ASSERT_NEAR(sum, static_cast<double>(wait.end - wait.begin), 1e-3);
    for (const auto& [stretch, ns] : sums) {
      const auto own = less.find(stretch);
      const double excess = more.at(stretch) - (own == less.end() ? 0 : own->second);
      if (stretch.from != kEdge) {
        ASSERT_LE(ns, excess + 1e-3);
      }
    }
    ++checked;
  }

  // However many waits a rank has, a call costs it at most what it took.
  void expect_calls_paid_once() {
    for (const auto& [key, ns] : charged_) {
      const Node call = log_.nodes.get(key.first);
      ASSERT_LE(ns, static_cast<double>(call.end - call.begin) + 1e-3);
    }
  }

  int checked = 0;

 private:
  // Every moment once, without gaps.
  static void expect_path(const std::vector<PathPart>& parts, uint64_t from) {
    for (const PathPart& part : parts) {
      ASSERT_EQ(part.high, from);
      ASSERT_LT(part.low, part.high);
      from = part.low;
    }
  }

  WaitLog& log_;
  Path later_, earlier_;
  Difference difference_;
  std::map<std::pair<NodeId, uint32_t>, double> charged_;  // by call and location that waited
};

TEST(Laws, HoldForEveryWait) {
  int checked = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgram p(seed, 3 + static_cast<int>(seed % 6), 40 + static_cast<int>(seed % 7) * 60);
    p.program.sweep({}, [&](Sweep& sweep) {
      Laws laws(sweep);
      for (WaitId id = 0; id < sweep.log().waits.size(); ++id)
        laws.check(Wait(sweep.log().waits.get(id)));
      laws.expect_calls_paid_once();
      checked += laws.checked;
    });
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(checked, 1000);
}

// However little of the paths is looked at.
TEST(Laws, SharesAddUpWithAnyBudget) {
  RandomProgram p(11, 6, 2000);
  p.program.sweep({}, [&](Sweep& sweep) {
    Path later(sweep.log()), earlier(sweep.log());
    Difference difference;
    for (WaitId id = 0; id < sweep.log().waits.size(); ++id) {
      const Wait wait = sweep.log().waits.get(id);
      if (wait.causer == kNoNode || wait.ns == 0) continue;
      for (const int budget : {1, 2, 5, 17}) {
        later.start(wait.causer, wait.end);
        earlier.start(wait.waiter, wait.begin);
        double sum = 0;
        for (const Share& share : difference.shares(later, earlier, budget)) sum += share.ns;
        ASSERT_NEAR(sum, static_cast<double>(wait.end - wait.begin), 1e-3);
      }
    }
  });
}

// The costs of all delays are the waits, and no call costs one rank more than it took.
TEST(Laws, CostsAreTheWaits) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    RandomProgram p(seed, 5, 400);
    const WaitStates w = p.program.analyse();
    double costs = 0, waited = 0;
    std::map<std::pair<Rank, CallId>, double> in_calls, took;
    for (const Delay& d : w.delays) {
      costs += d.short_term_ns + d.long_term_ns;
      if (d.is_call) in_calls[{d.rank, d.to_call}] += d.short_term_ns + d.long_term_ns;
    }
    for (const RankTime& time : w.ranks) waited += static_cast<double>(time.waiting_ns);
    EXPECT_NEAR(costs, waited - static_cast<double>(w.counts.unassigned_ns), 1e-3 * waited + 1);
    for (size_t r = 0; r < p.calls.size(); ++r)
      for (const TrueCall& call : p.calls[r])
        took[{static_cast<Rank>(r), call.call}] += static_cast<double>(call.end - call.begin);
    for (const auto& [key, ns] : in_calls) EXPECT_LE(ns, 4 * took[key] + 1e-3 * waited);
  }
}

}  // namespace
}  // namespace refrain::analysis::waits
