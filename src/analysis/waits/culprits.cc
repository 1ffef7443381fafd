// Culprits: the stretches that explain much of all waiting, with what tells them from others. The
// log of calls is read once more for these stretches alone.

#include <algorithm>

#include "analysis/waits/backward.h"
#include "mpi/call_table.h"

namespace refrain::analysis::waits {
namespace {

// Limits for what is worth a sentence in the report; everything else is in the tables.
constexpr double kLeastShare = 0.1;      // of all waiting, for a stretch on all ranks
constexpr double kLeastOfGroup = 0.1;    // of what it costs on its worst rank
constexpr double kLeastOfTypical = 0.1;  // of what an iteration costs, to be counted
constexpr size_t kMostCulprits = 16;
// A rank is as slow as a culprit from this part of its time on, if the ranks that are faster take
// less than the second part.
constexpr double kAsSlow = 0.9, kFaster = 0.8;

// A time that a stretch made others wait: what that cost, and how long it took.
struct Pass {
  float cost = 0, ns = 0;
};

struct Measured {
  StretchCost cost;
  std::vector<Pass> passes;
};

// What ranks spend in one stretch.
struct Group {
  Stretch stretch;
  double cost_ns = 0, much_ns = 0;
  size_t much_ranks = 0;
  std::vector<Measured> culprits;  // the largest first
  std::vector<uint8_t> is_much;    // by rank
  std::vector<size_t> culprit_of;  // by rank
  std::vector<double> ns;          // by rank
  std::vector<uint64_t> passes;    // by rank
};

std::vector<Group> groups_of(const std::vector<StretchCost>& costs, double all_ns, size_t ranks) {
  std::vector<Group> out;
  for (size_t i = 0; i < costs.size();) {
    Group group;
    group.stretch = costs[i].stretch;
    for (; i < costs.size() && costs[i].stretch == group.stretch; ++i) {
      group.cost_ns += costs[i].ns();
      group.culprits.push_back({costs[i], {}});
    }
    // Costs are sorted by stretch, so a group is complete here, and at most nine of them pass.
    if (group.cost_ns <= kLeastShare * all_ns) continue;
    std::stable_sort(
        group.culprits.begin(), group.culprits.end(),
        [](const Measured& a, const Measured& b) { return a.cost.ns() > b.cost.ns(); });
    // Ranks with small costs are the others that the culprits are compared with.
    const double least = kLeastOfGroup * group.culprits[0].cost.ns();
    while (group.culprits.back().cost.ns() < least) group.culprits.pop_back();
    group.is_much.resize(ranks);
    for (const Measured& m : group.culprits) {
      group.much_ns += m.cost.ns();
      group.is_much[static_cast<size_t>(m.cost.rank)] = 1;
    }
    group.much_ranks = group.culprits.size();
    // After the sums: `much` is about all of them, also those that are not shown.
    if (group.culprits.size() > kMostCulprits) group.culprits.resize(kMostCulprits);
    group.culprit_of.assign(ranks, kMostCulprits);
    for (size_t c = 0; c < group.culprits.size(); ++c)
      group.culprit_of[static_cast<size_t>(group.culprits[c].cost.rank)] = c;
    if (group.much_ns > kLeastShare * all_ns) out.push_back(std::move(group));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Group& a, const Group& b) { return a.cost_ns > b.cost_ns; });
  return out;
}

// Reads the log, and adds up what each rank spends in the groups' stretches.
class Measure {
 public:
  Measure(Sweep& sweep, std::vector<Group>& groups) : sweep_(sweep), groups_(groups) {
    uint32_t places = 0;
    for (Group& group : groups) {
      group.ns.resize(sweep.rank_count());
      group.passes.resize(sweep.rank_count());
      places = std::max(places, group.stretch.to + 1);
    }
    ends_at_.resize(places);
    for (size_t i = 0; i < groups.size(); ++i) ends_at_[groups[i].stretch.to].push_back(i);
  }

  void run() {
    const WaitLog& log = sweep_.log();
    SpillLog<Node>& nodes = sweep_.log().nodes;
    const size_t locations = sweep_.location_names().size();
    // In the order of the log, which is that of time: one pass over what may be on the disk, and of
    // each location only the last call has to be remembered.
    struct Last {
      PlaceId place = kEdge;
      uint64_t end = 0;  // of the call, and of what the recorder did behind it
    };
    std::vector<Last> last(locations);
    for (NodeId id = 0; id < nodes.size(); ++id) {
      const Node node = nodes.get(id);
      Last& before = last[node.location];
      if (before.place == kEdge && node.back > 0) {  // the first call of a thread
        const Node main = nodes.get(previous_of(id, node));
        before = {main.place, main.end};
      }
      if (node.place < ends_at_.size())
        for (const size_t i : ends_at_[node.place])
          look(groups_[i], node, before.place, before.end);
      before = {node.place, log.end_of_own_work(node.location, node.end)};
    }
  }

 private:
  void look(Group& group, const Node& node, PlaceId from, uint64_t since) {
    const bool is_call = group.stretch.is_call;
    if (!sweep_.window().has(node.begin)) return;
    // A gap is named by both of its ends, a call by its place.
    if (!is_call && group.stretch.from != from) return;
    uint64_t ns = 0;
    if (is_call)
      // Work of the call itself: what it waited is somebody else's doing.
      ns = node.end - node.begin - waited(node);
    else if (from != kEdge && node.begin > since)
      ns = node.begin - since;
    const auto rank = static_cast<size_t>(sweep_.location_names()[node.location].rank);
    group.ns[rank] += static_cast<double>(ns);
    ++group.passes[rank];
    const float cost = is_call ? node.cost_in : node.cost_before;
    const size_t culprit = group.culprit_of[rank];
    if (cost > 0 && culprit < group.culprits.size())
      group.culprits[culprit].passes.push_back({cost, static_cast<float>(ns)});
  }

  uint64_t waited(const Node& node) {
    uint64_t ns = 0;
    for (WaitId w = node.waits; w != kNoWait;) {
      const Wait wait = sweep_.log().waits.get(w);
      if (wait.end > node.begin) ns += wait.end - std::max(wait.begin, node.begin);
      w = wait.earlier;
    }
    return std::min(ns, node.end - node.begin);
  }

  Sweep& sweep_;
  std::vector<Group>& groups_;
  std::vector<std::vector<size_t>> ends_at_;  // by place: which groups
};

// Those that cost about as much as others do: noise makes somebody wait a little every time.
void count_iterations(const std::vector<Pass>& passes, Culprit& out) {
  double sum = 0, squares = 0;
  for (const Pass& pass : passes) sum += pass.cost, squares += double{pass.cost} * pass.cost;
  // The mean weighted by cost, so that thousands of small costs do not pull the typical one down.
  const double least = sum > 0 ? kLeastOfTypical * squares / sum : 0;
  double ns = 0;
  for (const Pass& pass : passes) {
    if (pass.cost < least) continue;
    ++out.iterations;
    ns += pass.ns;
  }
  out.slow_ns = ns / static_cast<double>(std::max<uint64_t>(out.iterations, 1));
}

double mean_of(const Group& group, size_t rank) {
  return group.ns[rank] / static_cast<double>(std::max<uint64_t>(group.passes[rank], 1));
}

struct Others {
  double ns = 0;
  uint64_t passes = 0, ranks = 0;

  void add(const Group& group, size_t rank) {
    ns += group.ns[rank];
    passes += group.passes[rank];
    ++ranks;
  }
  double mean() const { return passes > 0 ? ns / static_cast<double>(passes) : 0; }
};

// Compares the culprits with the ranks that do the same work and cost little.
void compare(const Group& group, Culprit& out) {
  const double least = kAsSlow * mean_of(group, static_cast<size_t>(group.culprits[0].cost.rank));
  Others all, faster;
  std::vector<Rank> as_slow;
  for (size_t r = 0; r < group.ns.size(); ++r) {
    if (group.passes[r] == 0 || group.is_much[r] != 0) continue;
    all.add(group, r);
    if (mean_of(group, r) < least)
      faster.add(group, r);
    else
      as_slow.push_back(static_cast<Rank>(r));
  }
  // If all take about as long, nobody is slow.
  const bool has_faster = faster.passes > 0 && faster.mean() < kFaster * least / kAsSlow;
  const Others& others = has_faster ? faster : all;
  out.others_ns = others.mean();
  out.others = others.ranks;
  if (!has_faster) return;
  out.as_slow_ranks = as_slow.size();
  if (as_slow.size() > kMostCulprits) as_slow.resize(kMostCulprits);
  out.as_slow = std::move(as_slow);
}

// How much of which type, and what is done with it: what a call's duration can depend on.
bool is_given_as_much(const Signature& a, const Signature& b, const mpi::CallInfo& info) {
  for (size_t i = 0; i < std::min({info.params.size(), a.args.size(), b.args.size()}); ++i) {
    using mpi::ParamKind;
    const ParamKind kind = info.params[i].kind;
    const auto at = static_cast<int>(i);
    const bool matters = kind == ParamKind::kCount || kind == ParamKind::kDatatype ||
                         kind == ParamKind::kOp || at == info.count_param || at == info.times_param;
    if (matters && a.args[i].value != b.args[i].value) return false;
  }
  return true;
}

bool is_given_alike(const Decoder& decoder, const Stretch& stretch) {
  const Signature* first = nullptr;
  for (const auto& op : decoder.ops()) {
    if (op->place != stretch.to) continue;
    const mpi::CallInfo* info = mpi::find_call(op->call);
    if (info == nullptr || info->type_param < 0) return false;
    if (first == nullptr) first = op->signature;
    if (!is_given_as_much(*first, *op->signature, *info)) return false;
  }
  return first != nullptr;
}

}  // namespace

void find_culprits(Sweep& sweep, const std::vector<StretchCost>& costs, WaitStates& out) {
  std::vector<Group> groups =
      groups_of(costs, static_cast<double>(out.ns_of(Pattern::kAll)), sweep.rank_count());
  if (groups.empty()) return;
  Measure(sweep, groups).run();
  for (const Group& group : groups) {
    Culprit common;
    compare(group, common);
    common.group_ns = group.cost_ns;
    common.much_ns = group.much_ns;
    common.much_ranks = group.much_ranks;
    for (const Measured& measured : group.culprits) {
      Culprit& culprit = out.culprits.emplace_back(common);
      const auto rank = static_cast<size_t>(measured.cost.rank);
      put_stretch(sweep, measured.cost.rank, group.stretch, culprit.stretch);
      culprit.stretch.short_term_ns = measured.cost.short_term_ns;
      culprit.stretch.long_term_ns = measured.cost.long_term_ns;
      count_iterations(measured.passes, culprit);
      culprit.passes = group.passes[rank];
      culprit.mean_ns = mean_of(group, rank);
      culprit.is_given_alike =
          group.stretch.is_call && is_given_alike(sweep.decoder(measured.cost.rank), group.stretch);
    }
  }
  if (out.culprits.size() > kMostCulprits) out.culprits.resize(kMostCulprits);
}

}  // namespace refrain::analysis::waits
