#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "sim/engine/testing/script.h"
#include "sim/network/fair_network.h"
#include "sim/network/routes.h"

namespace refrain::sim {
namespace {

TEST(FairNetwork, FlowsOfALinkShareIt) {
  FairNetwork network;
  const uint32_t link = network.add_link(1e9);  // 1 byte a ns
  network.start(0, 1, 1000, 0, {link});
  EXPECT_EQ(network.next(), 1000);
  network.start(500, 2, 1000, 0, {link});  // the first has 500 left: both have half
  EXPECT_EQ(network.next(), 1500);
  EXPECT_EQ(network.end(), 1U);
  EXPECT_EQ(network.next(), 2000);  // the second had 500 left
  EXPECT_EQ(network.end(), 2U);
  EXPECT_EQ(network.next(), FairNetwork::kNever);
  EXPECT_EQ(network.use(link).bytes, 2000);
  EXPECT_EQ(network.use(link).busy_ns, 2000);
}

TEST(FairNetwork, WhatALimitedFlowLeavesGoesToTheOthers) {
  FairNetwork network;
  const uint32_t wide = network.add_link(1e9), narrow = network.add_link(0.25e9);
  network.start(0, 1, 1000, 0, {wide, narrow});  // 0.25
  network.start(0, 2, 1000, 0.125, {wide});      // 0.125
  network.start(0, 3, 1000, 0, {wide});          // 0.625
  EXPECT_EQ(network.next(), 1600);
  EXPECT_EQ(network.end(), 3U);
  EXPECT_EQ(network.next(), 4000);
}

// A flow over two links gets half of what one over one link gets; what a limit leaves goes on.
TEST(FairNetwork, FlowsShareInTheRatioOfTheirWeights) {
  FairNetwork network;
  const uint32_t one = network.add_link(1e9), other = network.add_link(1e9);
  network.start(0, 1, 1000, 0, {one}, 1);
  network.start(0, 2, 1000, 0, {one, other}, 0.5);
  EXPECT_EQ(network.next(), 1500);  // 2/3 and 1/3
  EXPECT_EQ(network.end(), 1U);
  EXPECT_EQ(network.next(), 2000);  // 500 left
  EXPECT_EQ(network.end(), 2U);
  network.start(2000, 3, 1000, 0.25, {one}, 1);
  network.start(2000, 4, 1000, 0, {one, other}, 0.5);
  EXPECT_EQ(network.next(), 3334);  // 3/4
  EXPECT_EQ(network.end(), 4U);
}

TEST(FairNetwork, WithoutALinkAFlowHasItsLimit) {
  FairNetwork network;
  network.start(7, 1, 1000, 0.5, {});
  EXPECT_EQ(network.next(), 2007);
  EXPECT_EQ(network.end(), 1U);
  network.start(3000, 2, 1000, 0, {});
  EXPECT_EQ(network.next(), 3000);
}

struct RandomFlow {
  double left = 0, most = 0;
  std::vector<uint32_t> route;
  double rate = 0;
};

// What flows of `open` take of a link.
double used(const std::vector<RandomFlow>& flows, const std::set<uint32_t>& open, uint32_t link) {
  double sum = 0;
  for (const uint32_t i : open)
    if (std::count(flows[i].route.begin(), flows[i].route.end(), link) > 0) sum += flows[i].rate;
  return sum;
}

// All rates grow by small steps until something is full.
void grow(std::vector<RandomFlow>& flows, const std::set<uint32_t>& open,
          const std::vector<double>& capacity) {
  for (RandomFlow& flow : flows) flow.rate = 0;
  std::set<uint32_t> growing = open;
  while (!growing.empty()) {
    double step = 1e9;
    for (uint32_t link = 0; link < capacity.size(); ++link) {
      const auto count = std::count_if(growing.begin(), growing.end(), [&](uint32_t i) {
        return std::count(flows[i].route.begin(), flows[i].route.end(), link) > 0;
      });
      if (count > 0)
        step =
            std::min(step, (capacity[link] - used(flows, open, link)) / static_cast<double>(count));
    }
    for (const uint32_t i : growing)
      if (flows[i].most > 0) step = std::min(step, flows[i].most - flows[i].rate);
    for (const uint32_t i : growing) flows[i].rate += step;
    std::set<uint32_t> still;
    for (const uint32_t i : growing) {
      bool is_full = flows[i].most > 0 && flows[i].rate >= flows[i].most - 1e-9;
      for (const uint32_t link : flows[i].route)
        is_full = is_full || used(flows, open, link) >= capacity[link] - 1e-9;
      if (!is_full) still.insert(i);
    }
    growing = still;
  }
}

// A network, and what max-min fair rates make of the same flows beside it.
class WatchedNetwork {
 public:
  uint32_t add_link(double rate) {
    capacity_.push_back(rate);
    return network_.add_link(rate * 1e9);
  }
  size_t flows() const { return flows_.size(); }
  bool is_idle() const { return open_.empty(); }

  void start(const std::set<uint32_t>& route, uint64_t bytes, double most) {
    const auto name = static_cast<uint32_t>(flows_.size());
    flows_.push_back({static_cast<double>(bytes), most, {route.begin(), route.end()}, 0});
    network_.start(static_cast<int64_t>(now_), name, bytes, most, flows_.back().route);
    open_.insert(name);
  }
  // When the network says that the next flow ends, which has to be when the fair rates do.
  double next() {
    grow(flows_, open_, capacity_);
    double ends = 1e18;
    for (const uint32_t i : open_) ends = std::min(ends, now_ + flows_[i].left / flows_[i].rate);
    const auto next = static_cast<double>(network_.next());
    if (!is_idle()) {
      EXPECT_NEAR(next, ends, 2 + 1e-9 * ends) << flows_.size();
    }
    return next;
  }
  // Takes the time of the network, which is whole.
  void pass_to(double then) {
    for (const uint32_t i : open_) flows_[i].left -= flows_[i].rate * (then - now_);
    now_ = then;
  }
  void end() {
    const uint32_t name = network_.end();
    ASSERT_EQ(open_.erase(name), 1U);
    ASSERT_LT(flows_[name].left, 20);
  }

 private:
  FairNetwork network_;
  std::vector<double> capacity_;
  std::vector<RandomFlow> flows_;
  std::set<uint32_t> open_;
  double now_ = 0;
};

TEST(FairNetwork, RandomFlowsEndWhenMaxMinFairRatesSay) {
  std::mt19937 random(7);
  for (int round = 0; round < 64; ++round) {
    const bool is_large = round >= 60;  // links are full at many rates
    const uint32_t links = is_large ? 40 : 6;
    WatchedNetwork network;
    for (uint32_t i = 0; i < links; ++i) network.add_link(1 + static_cast<double>(random() % 8));
    for (uint32_t i = 0; i < 2 * links; ++i) {
      std::set<uint32_t> route;
      for (uint32_t k = 0; k <= random() % 3; ++k) route.insert(random() % links);
      const uint64_t bytes = 1000 + random() % 100000;
      network.start(route, bytes, random() % 3 == 0 ? 0.7 : 0);
    }
    while (!network.is_idle()) {
      network.pass_to(network.next());
      network.end();
      ASSERT_FALSE(HasFailure()) << round;
    }
  }
}

// Flows begin while others are on their way, on a network where most have no link in common: the
// rates of those that are far away stay.
TEST(FairNetwork, RatesAreFairWhereFlowsComeAndGo) {
  constexpr uint32_t kLinks = 60, kFlows = 300;
  std::mt19937 random(11);
  WatchedNetwork network;
  for (uint32_t i = 0; i < kLinks; ++i) network.add_link(1 + static_cast<double>(random() % 4));
  double begins = 0;
  while (network.flows() < kFlows || !network.is_idle()) {
    const double next = network.next();
    ASSERT_FALSE(HasFailure());
    if (network.flows() == kFlows || begins > next) {
      network.pass_to(next);
      network.end();
      continue;
    }
    network.pass_to(begins);
    // On links that are near to each other.
    const uint32_t first = random() % (kLinks - 4);
    std::set<uint32_t> route;
    for (uint32_t k = 0; k <= random() % 3; ++k) route.insert(first + random() % 4);
    const uint64_t bytes = 1000 + random() % 20000;
    network.start(route, bytes, random() % 3 == 0 ? 0.7 : 0.0);
    begins += static_cast<double>(random() % 800);
  }
}

Topology fat_tree() {
  Topology out;
  out.kind = Topology::Kind::kFatTree;
  out.down = {4, 3};
  out.up = {1, 2};
  out.parallel = {1, 1};
  out.link_bandwidth.value = 1e9;
  return out;
}

TEST(Routes, FatTreeGoesUpAndDown) {
  FairNetwork network;
  const Routes routes(fat_tree(), 0, network);
  EXPECT_EQ(network.links(), 2 * (12 + 3 * 2));
  EXPECT_EQ(routes.hops(0, 3), 2U);
  EXPECT_EQ(routes.hops(0, 4), 4U);
  std::vector<uint32_t> route;
  routes.route(1, 9, route);
  ASSERT_EQ(route.size(), 4U);
  EXPECT_EQ(routes.link_name(route[0]), "node 1 up 0");
  EXPECT_EQ(routes.link_name(route[1]), "level 1 switch 0 up 1");
  EXPECT_EQ(routes.link_name(route[2]), "level 1 switch 2 down 1");
  EXPECT_EQ(routes.link_name(route[3]), "node 9 down 0");
}

TEST(Routes, TorusTakesTheShorterWay) {
  Topology torus;
  torus.kind = Topology::Kind::kTorus;
  torus.down = {5, 4};
  torus.link_bandwidth.value = 1e9;
  FairNetwork network;
  const Routes routes(torus, 0, network);
  for (uint32_t a = 0; a < 20; ++a)
    for (uint32_t b = 0; b < 20; ++b) {
      const auto way = [](uint32_t x, uint32_t y, uint32_t n) {
        const uint32_t up = (y + n - x) % n;
        return std::min(up, n - up);
      };
      EXPECT_EQ(routes.hops(a, b), way(a % 5, b % 5, 5) + way(a / 5, b / 5, 4));
    }
  // Where both are as long: as SimGrid goes. The second dimension has four places.
  const auto goes_up = [&](uint32_t a, uint32_t b) {
    std::vector<uint32_t> route;
    routes.route(5 * a, 5 * b, route);
    EXPECT_EQ(route.size(), 2U);
    return route[0] % 2 == 0;
  };
  EXPECT_TRUE(goes_up(0, 2));
  EXPECT_TRUE(goes_up(1, 3));
  EXPECT_FALSE(goes_up(2, 0));
  EXPECT_TRUE(goes_up(3, 1));
}

TEST(Routes, DragonflyHasAtMostOneGlobalLink) {
  Topology dragonfly;
  dragonfly.kind = Topology::Kind::kDragonfly;
  dragonfly.down = {5, 4, 2};
  dragonfly.link_bandwidth.value = 1e9;
  FairNetwork network;
  const Routes routes(dragonfly, 0, network);
  for (uint32_t a = 0; a < 40; ++a)
    for (uint32_t b = 0; b < 40; ++b) {
      std::vector<uint32_t> route;
      routes.route(a, b, route);
      const std::set<uint32_t> different(route.begin(), route.end());
      EXPECT_EQ(different.size(), route.size());
      const size_t global =
          static_cast<size_t>(std::count_if(route.begin(), route.end(), [&](uint32_t link) {
            return routes.link_name(link).rfind("group", 0) == 0;
          }));
      EXPECT_EQ(global, a / 8 == b / 8 ? 0U : 1U);
      EXPECT_LE(route.size(), 5U);
    }
  std::vector<uint32_t> route;
  routes.route(0, 39, route);  // group 0 to 4: router 3 of group 0, router 0 of group 4
  ASSERT_EQ(route.size(), 5U);
  EXPECT_EQ(routes.link_name(route[1]), "router 0 to 3");
  EXPECT_EQ(routes.link_name(route[3]), "router 16 to 19");
}

// Two ranks of a node send over its one link at the same time: half as fast.
TEST(Contention, MessagesShareLinks) {
  Machine machine = testing::plain_machine();
  machine.topology.kind = Topology::Kind::kCrossbar;
  machine.topology.cores = 2;
  machine.topology.link_bandwidth.value = 2e9;
  const uint64_t bytes = 100000;
  const auto run = [&](bool has_contention) {
    testing::Script script;
    for (uint32_t r = 0; r < 4; ++r) {
      const bool sends = r < 2;
      script.ranks.push_back({{0, {{sends, r % 2, r + 2, 0, bytes}}, {0}}});
    }
    return testing::simulate(machine, script, nullptr, has_contention);
  };
  const Time begins = 100 + 10000, ends = 1000 + 200 + 10000;
  EXPECT_EQ(run(false).calls[2][0].end, begins + 50000 + ends);
  const testing::ScriptTimes shared = run(true);
  EXPECT_EQ(shared.calls[2][0].end, begins + 100000 + ends);
  EXPECT_EQ(shared.calls[3][0].end, begins + 100000 + ends);
}

// A message of a rank to itself takes none of its node's links: the other one is as fast as alone.
TEST(Contention, MessagesWithinANodeTakeNoLink) {
  Machine machine = testing::plain_machine();
  machine.topology.kind = Topology::Kind::kCrossbar;
  machine.topology.link_bandwidth.value = 1e9;  // 1 ns a byte; within a node G, half of that
  const uint64_t bytes = 1000;
  testing::Script script;
  script.ranks = {{{0, {{false, 1, 0, 1, 0}}, {}},
                   {0, {{true, 0, 1, 0, bytes}}, {0}},
                   {0, {{true, 1, 0, 2, bytes}}, {1, 2}}},
                  {{0, {{false, 0, 0, 0, 0}}, {0}}}};
  const testing::ScriptTimes found = testing::simulate(machine, script, nullptr, true);
  const Time sent = testing::kSend + testing::copied(bytes);
  const Time taken = testing::kReceive + testing::copied(bytes);
  EXPECT_EQ(found.calls[1][0].end, sent + testing::kL + 1000 + taken);
  EXPECT_EQ(found.calls[0][2].end, 2 * sent + testing::kL + testing::stream(bytes) + taken);
}

// Links carry the header with each message.
TEST(Contention, MessagesHaveHeaders) {
  Machine machine = testing::plain_machine();
  machine.topology.link_bandwidth.value = 1e8;  // 10 ns a byte
  testing::Script script;
  script.ranks = {{{0, {{true, 0, 1, 0, 50}}, {0}}}, {{0, {{false, 0, 0, 0, 0}}, {0}}}};
  const Time plain = testing::simulate(machine, script, nullptr, true).calls[1][0].end;
  machine.topology.header = 16;
  EXPECT_EQ(testing::simulate(machine, script, nullptr, true).calls[1][0].end, plain + 160);
}

// One message is as long with contention as without it; where it waited for its receiver, its
// sender learns that the last byte has come.
TEST(Contention, OneMessageAlone) {
  Machine machine = testing::plain_machine();
  machine.topology.link_bandwidth.value = 1e12;
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{77}, uint64_t{1000}, uint64_t{30000}}) {
    testing::Script script;
    script.ranks = {{{0, {{true, 0, 1, 0, bytes}}, {0}}}, {{0, {{false, 0, 0, 0, 0}}, {0}}}};
    testing::ScriptTimes alone = testing::simulate(machine, script, nullptr, false);
    if (bytes == 30000)
      alone.calls[0][0].end += rounded(machine.distances[2].ranges[0].latency.value);
    EXPECT_EQ(testing::simulate(machine, script, nullptr, true).calls, alone.calls) << bytes;
  }
}

}  // namespace
}  // namespace refrain::sim
