// Causes: for each wait, what the path to the call that ended it has more of than the path to its
// begin. The first is on the rank that was waited for, and goes on where that waited itself, so it
// comes to those that are to blame in the end; the second is what the waiting rank did meanwhile.
//
// After the critical paths of D. Boehme et al. (IPDPS 2012); their delays (ICPP 2010) are shares of
// what one rank did longer than the other since the two synchronised last, and are handed on to
// what its own waits go back to. Where an interval holds waits that had passed when the delay
// happened, such shares go to the wrong ranks; paths leave those waits out.

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "analysis/waits/backward.h"
#include "analysis/waits/paths.h"

namespace refrain::analysis::waits {
namespace {

// Far enough that memory has answered by then, near enough that it is still in the cache.
constexpr WaitId kAhead = 4;
// How many parts of paths are looked at: for all waits together, each by its length, and at least
// and at most for one. So the time that it takes is that of the waits, however long paths are.
constexpr double kBudget = 16e6, kLeastBudget = 64, kMostBudget = 1 << 20;

// Who pays, for which waiting. Costs are in ns, as double: shares of a wait are no whole numbers.
struct CostKey {
  Pattern pattern = Pattern::kAll;
  Rank rank = -1;
  Stretch stretch;
  PlaceId place = 0;  // where it is waited
  bool operator==(const CostKey&) const = default;
  bool operator<(const CostKey& o) const {
    return std::tie(pattern, rank, stretch, place) <
           std::tie(o.pattern, o.rank, o.stretch, o.place);
  }
};
struct CostHash {
  size_t operator()(const CostKey& k) const {
    const uint64_t who = static_cast<uint64_t>(k.rank) << 8 | static_cast<uint8_t>(k.pattern);
    const uint64_t where = uint64_t{k.stretch.from} << 32 | k.stretch.to;
    return IntegerHash()(IntegerHash()(who ^ uint64_t{k.place} << 40) ^ where);
  }
};
struct Cost {
  double short_term = 0, long_term = 0;
};

class Causes {
 public:
  Causes(Sweep& sweep, const Options& options, WaitStates& out)
      : sweep_(sweep),
        log_(sweep.log()),
        options_(options),
        out_(out),
        there_(sweep.log()),
        here_(sweep.log()) {}

  // From the last wait to the first: neighbours in the log share a path to the same causing call,
  // and the log may be on the disk, where it is read in one direction. Then the sums are sorted, so
  // that the results do not depend on a hash.
  void run() {
    choose();
    for (const RankTime& time : out_.ranks) waited_ns_ += static_cast<double>(time.waiting_ns);
    for (WaitId id = log_.waits.size(); id-- > 0;) {
      fetch(id);
      distribute(id);
    }
    // Before the sums are sorted into results: what the recorder made others wait is in none of
    // them.
    take_off_waits_for_recorder();
    costs_.for_each([&](const CostKey& key, const Cost& cost) { sorted_.emplace_back(key, cost); });
    std::sort(sorted_.begin(), sorted_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    put_delays();
    put_causes();
    put_culprits();
  }

 private:
  static void add(const Cost& cost, Delay& to) {
    to.short_term_ns += cost.short_term;
    to.long_term_ns += cost.long_term;
  }
  static double whole(const Delay& delay) { return delay.short_term_ns + delay.long_term_ns; }

  // Severities were counted in the sweep, before it was known whom a wait is due to. What the
  // recorder's own work made others wait is taken off by pattern, place and rank, and reported by
  // itself.
  void take_off_waits_for_recorder() {
    if (waits_for_recorder_.empty()) return;
    std::map<std::tuple<Pattern, DefinitionId, CallId, Rank>, double> off;
    for (const auto& [key, ns] : waits_for_recorder_) {
      const auto& [pattern, place, rank] = key;
      const auto& at = sweep_.places().place(place);
      off[{pattern, at.path, at.call, rank}] += ns;
    }
    for (Severity& s : out_.severities) {
      const auto at = off.find({s.pattern, s.path, s.call, s.rank});
      if (at == off.end()) continue;
      // Shares are floating numbers: rounding must not make a severity negative.
      const uint64_t ns = std::min(s.ns, static_cast<uint64_t>(at->second + 0.5));
      s.ns -= ns;
      uint64_t& waiting_ns = out_.ranks[static_cast<size_t>(s.rank)].waiting_ns;
      waiting_ns -= std::min(waiting_ns, ns);
    }
    out_.severities.erase(std::remove_if(out_.severities.begin(), out_.severities.end(),
                                         [](const Severity& s) { return s.ns == 0; }),
                          out_.severities.end());
    std::stable_sort(out_.severities.begin(), out_.severities.end(),
                     [](const Severity& a, const Severity& b) {
                       return a.pattern != b.pattern ? a.pattern < b.pattern : a.ns > b.ns;
                     });
  }

  // sorted_ has all places of a stretch behind each other: a delay is the sum over where it was
  // waited for.
  void put_delays() {
    const CostKey* last = nullptr;
    for (const auto& [key, cost] : sorted_) {
      const bool is_same = last != nullptr && last->pattern == key.pattern &&
                           last->rank == key.rank && last->stretch == key.stretch;
      if (!is_same) {
        out_.delays.emplace_back().pattern = key.pattern;
        put_stretch(sweep_, key.rank, key.stretch, out_.delays.back());
      }
      add(cost, out_.delays.back());
      last = &key;
    }
    std::stable_sort(out_.delays.begin(), out_.delays.end(),
                     [](const Delay& a, const Delay& b) { return whole(a) > whole(b); });
  }

  // For each place that waits, the one stretch that costs it most.
  void put_causes() {
    std::map<std::pair<Pattern, PlaceId>, size_t> known;
    for (const auto& [key, cost] : sorted_) {
      const auto [at, is_new] = known.try_emplace({key.pattern, key.place}, out_.causes.size());
      if (is_new) {
        const auto& place = sweep_.places().place(key.place);
        out_.causes.push_back({key.pattern, place.path, place.call, {}});
      }
      Delay& largest = out_.causes[at->second].delay;
      if (!is_new && cost.short_term + cost.long_term <= whole(largest)) continue;
      largest = Delay();
      largest.pattern = key.pattern;
      put_stretch(sweep_, key.rank, key.stretch, largest);
      add(cost, largest);
    }
  }

  // Who stands out among the ranks: for each stretch and rank, all that it cost others.
  void put_culprits() {
    std::map<std::pair<Stretch, Rank>, Cost> sums;
    for (const auto& [key, cost] : sorted_) {
      if (key.rank < 0) continue;
      Cost& sum = sums[{key.stretch, key.rank}];
      sum.short_term += cost.short_term;
      sum.long_term += cost.long_term;
    }
    std::vector<StretchCost> costs;
    for (const auto& [key, cost] : sums)
      costs.push_back({key.second, key.first, cost.short_term, cost.long_term});
    find_culprits(sweep_, costs, out_);
  }

  // Asks the memory for what the waits after this one need.
  void fetch(WaitId id) {
    if (id < kAhead) return;
    const Wait* const soon = log_.waits.in_memory(id - kAhead);
    if (soon == nullptr) return;
    for (const NodeId node : {soon->waiter, soon->causer})
      if (const Node* const at = log_.nodes.in_memory(node); at != nullptr) __builtin_prefetch(at);
  }

  // Neighbours in the log often wait for the same call, whose path is then known.
  void distribute(WaitId id) {
    const Wait wait = log_.waits.get(id);
    if (wait.ns == 0) return;
    const auto ns = static_cast<double>(wait.ns);
    const Node waiter = log_.nodes.get(wait.waiter);
    place_ = waiter.place;
    waiter_ = rank_of(waiter);
    // Nobody is known to pay: it is counted as unassigned, so that the sums still add up to all
    // waiting.
    if (wait.causer == kNoNode) return pay(wait, {}, ns);
    if (!there_.begins_at(wait.causer, wait.end)) there_.start(wait.causer, wait.end);
    here_.start(wait.waiter, wait.begin);
    const double budget = kLeastBudget + kBudget * ns / std::max(waited_ns_, 1.0);
    const std::vector<Share>& shares =
        difference_.shares(there_, here_, static_cast<int>(std::min(budget, kMostBudget)));
    // Only a part of the wait may be in the window; all that caused it is charged for that part, in
    // proportion.
    const double of_ns = ns / static_cast<double>(wait.end - wait.begin);
    // The paths do not differ in anything that was looked at.
    if (shares.empty()) pay(wait, {}, ns);
    for (const Share& share : shares) pay(wait, share.part, share.ns * of_ns);
    if (const auto chosen = chosen_.find(id); chosen != chosen_.end())
      explain(wait, shares, of_ns, out_.explained[chosen->second]);
  }

  Rank rank_of(const Node& node) const { return sweep_.location_names()[node.location].rank; }
  Rank rank_of(const PathPart& part) const {
    return part.node == kNoNode ? -1 : sweep_.location_names()[part.location].rank;
  }

  // What the recorder made a rank wait is no waiting of the program.
  void pay(const Wait& wait, const PathPart& part, double ns) {
    if (part.node != kNoNode && part.stretch.is_own) {
      out_.recorder.waiting_ns += ns;
      waits_for_recorder_[{wait.pattern, place_, waiter_}] += ns;
      return;
    }
    const Stretch stretch = part.node == kNoNode ? Stretch() : part.stretch;
    Cost& cost = costs_[{wait.pattern, rank_of(part), stretch, place_}];
    // Short-term: by the rank that was waited for; long-term: by one further back along the path
    // (Boehme et al.).
    (part.is_direct ? cost.short_term : cost.long_term) += ns;
    if (part.node == kNoNode) return;
    // For find_culprits(), which reads the log once more and wants the cost of each passage.
    Node& node = log_.nodes.change(part.node);
    (part.stretch.is_call ? node.cost_in : node.cost_before) += static_cast<float>(ns);
  }

  // The stretch with the largest part of it.
  void explain(const Wait& wait, const std::vector<Share>& shares, double of_ns,
               Explained& out) const {
    std::map<std::pair<Rank, Stretch>, Cost> sums;
    for (const Share& share : shares) {
      Cost& sum = sums[{rank_of(share.part), share.part.stretch}];
      (share.part.is_direct ? sum.short_term : sum.long_term) += share.ns * of_ns;
    }
    for (const auto& [key, sum] : sums) {
      if (out.delay &&
          out.delay->short_term_ns + out.delay->long_term_ns >= sum.short_term + sum.long_term)
        continue;
      out.delay.emplace();
      out.delay->pattern = wait.pattern;
      put_stretch(sweep_, key.first, key.second, *out.delay);
      out.delay->short_term_ns = sum.short_term;
      out.delay->long_term_ns = sum.long_term;
    }
  }

  bool is_asked_for(const Wait& wait) {
    if (!contains(*options_.explain, wait.pattern)) return false;
    const Node node = log_.nodes.get(wait.waiter);
    if (options_.explain_rank >= 0 && rank_of(node) != options_.explain_rank) return false;
    const std::vector<DefinitionId>& paths = options_.explain_paths;
    return paths.empty() || std::find(paths.begin(), paths.end(),
                                      sweep_.places().place(node.place).path) != paths.end();
  }

  // The longest waits of those that were asked for. A queue of explain_count of them is enough for
  // a log of any length; equal ones are ordered by id, so that each run of the analysis explains
  // the same.
  void choose() {
    if (!options_.explain || options_.explain_count == 0) return;
    using Candidate = std::pair<uint64_t, WaitId>;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> longest;
    for (WaitId id = 0; id < log_.waits.size(); ++id) {
      const Wait wait = log_.waits.get(id);
      const uint64_t ns = wait.ns;
      if (ns == 0) continue;
      if (longest.size() >= options_.explain_count && ns <= longest.top().first) continue;
      if (!is_asked_for(wait)) continue;
      longest.emplace(ns, id);
      if (longest.size() > options_.explain_count) longest.pop();
    }
    std::vector<Candidate> sorted;
    for (; !longest.empty(); longest.pop()) sorted.push_back(longest.top());
    std::stable_sort(sorted.begin(), sorted.end(), [](const Candidate& a, const Candidate& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [ns, id] : sorted) {
      chosen_[id] = out_.explained.size();
      out_.explained.push_back(explained(log_.waits.get(id)));
    }
  }

  Explained explained(const Wait& wait) {
    Explained e;
    const Node node = log_.nodes.get(wait.waiter);
    const auto& place = sweep_.places().place(node.place);
    e.rank = rank_of(node);
    e.thread = sweep_.location_names()[node.location].thread;
    e.seq = node.seq;
    e.path = place.path;
    e.call = place.call;
    e.pattern = wait.pattern;
    e.begin_ns = node.begin;
    e.end_ns = node.end;
    e.wait_ns = wait.ns;
    if (wait.causer == kNoNode) return e;
    const Node partner = log_.nodes.get(wait.causer);
    e.partner = rank_of(partner);
    e.partner_seq = partner.seq;
    e.partner_path = sweep_.places().place(partner.place).path;
    e.partner_call = sweep_.places().place(partner.place).call;
    return e;
  }

  Sweep& sweep_;
  WaitLog& log_;
  const Options& options_;
  WaitStates& out_;
  FlatMap<CostKey, Cost, CostHash> costs_;
  std::unordered_map<WaitId, size_t> chosen_;
  std::vector<std::pair<CostKey, Cost>> sorted_;
  double waited_ns_ = 0;  // by all
  PlaceId place_ = 0;     // of the wait that is looked at
  Rank waiter_ = 0;       // who waits there
  std::map<std::tuple<Pattern, PlaceId, Rank>, double> waits_for_recorder_;
  // Of the wait that is looked at; kept for their memory.
  Path there_, here_;
  Difference difference_;
};

}  // namespace

void put_stretch(const Sweep& sweep, Rank rank, const Stretch& stretch, Delay& out) {
  out.rank = rank;
  out.is_call = stretch.is_call;
  const auto put = [&](PlaceId place, DefinitionId& path, CallId& call) {
    if (place == kEdge) return;
    path = sweep.places().place(place).path;
    call = sweep.places().place(place).call;
  };
  put(stretch.from, out.from_path, out.from_call);
  put(stretch.to, out.to_path, out.to_call);
}

void find_causes(Sweep& sweep, const Options& options, WaitStates& out) {
  Causes(sweep, options, out).run();
}

}  // namespace refrain::analysis::waits
