// Delays: for each wait, what the rank that was waited for did longer than the one that waited,
// since the two synchronised last; and where that rank waited itself meanwhile, the cost goes on to
// what those waits go back to. Waits are taken the last one first, so that all that a wait costs
// others is known when its turn comes. D. Boehme et al., ICPP 2010, sections 3 and 4.

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "analysis/waits/backward.h"

namespace refrain::analysis::waits {
namespace {

// No interval is looked at further back than so many calls: one that never ends costs no more than
// one that is long.
constexpr int kMostCalls = 4096;
constexpr WaitId kAhead = 4;
constexpr PlaceId kEdge = UINT32_MAX;  // begin or end of a location

using Stretch = std::pair<PlaceId, PlaceId>;  // from one call to the next; a call: itself twice

struct Interval {
  std::vector<std::pair<Stretch, uint64_t>> work;  // each stretch once, sorted
  std::vector<std::pair<WaitId, uint64_t>> waits;
  void clear() { work.clear(), waits.clear(); }
  void sum_up() {
    std::sort(work.begin(), work.end());
    size_t kept = 0;
    for (size_t i = 0; i < work.size(); ++i)
      if (kept > 0 && work[kept - 1].first == work[i].first)
        work[kept - 1].second += work[i].second;
      else
        work[kept++] = work[i];
    work.resize(kept);
  }
};

// Who pays, for which pattern.
struct CostKey {
  Pattern pattern = Pattern::kAll;
  Rank rank = -1;
  Stretch stretch;
  bool operator==(const CostKey&) const = default;
  bool operator<(const CostKey& o) const {
    return std::tie(pattern, rank, stretch) < std::tie(o.pattern, o.rank, o.stretch);
  }
};
struct CostHash {
  size_t operator()(const CostKey& k) const {
    const uint64_t who = static_cast<uint64_t>(k.rank) << 8 | static_cast<uint8_t>(k.pattern);
    const uint64_t where = uint64_t{k.stretch.first} << 32 | k.stretch.second;
    return IntegerHash()(IntegerHash()(who) ^ where);
  }
};
struct Cost {
  double short_term = 0, long_term = 0;
};

class Causes {
 public:
  Causes(Sweep& sweep, const Options& options, WaitStates& out)
      : sweep_(sweep), log_(sweep.log()), options_(options), out_(out) {}

  void run() {
    choose();
    for (WaitId id = log_.waits.size(); id-- > 0;) {
      fetch(id);
      distribute(id);
    }
    std::vector<std::pair<CostKey, Cost>> costs;
    costs_.for_each([&](const CostKey& key, const Cost& cost) { costs.emplace_back(key, cost); });
    std::sort(costs.begin(), costs.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, cost] : costs) {
      Delay delay;
      name(delay, key.pattern, key.rank, key.stretch);
      delay.short_term_ns = cost.short_term;
      delay.long_term_ns = cost.long_term;
      out_.delays.push_back(delay);
    }
    std::stable_sort(out_.delays.begin(), out_.delays.end(), [](const Delay& a, const Delay& b) {
      return a.short_term_ns + a.long_term_ns > b.short_term_ns + b.long_term_ns;
    });
  }

 private:
  void name(Delay& delay, Pattern pattern, Rank rank, Stretch stretch) const {
    delay.pattern = pattern;
    delay.rank = rank;
    const auto put = [&](PlaceId place, DefinitionId& path, CallId& call) {
      if (place == kEdge) return;
      path = sweep_.places().place(place).path;
      call = sweep_.places().place(place).call;
    };
    put(stretch.first, delay.from_path, delay.from_call);
    put(stretch.second, delay.to_path, delay.to_call);
  }

  Rank rank_of(const Node& node) const { return sweep_.location_names()[node.location].rank; }

  // What a location did in [since, until), where `id` is the call that is under way or begins then.
  void look_at(NodeId id, uint64_t since, uint64_t until, Interval& out) {
    out.clear();
    const auto part = [&](uint64_t from, uint64_t to) {
      from = std::max(from, since);
      to = std::min(to, until);
      return to > from ? to - from : 0;
    };
    const auto add = [&](PlaceId from, PlaceId to, uint64_t ns) {
      if (ns > 0) out.work.emplace_back(Stretch(from, to), ns);
    };
    Node node = log_.nodes.get(id);
    for (int i = 0; i < kMostCalls; ++i) {
      uint64_t waited = 0;
      for (WaitId w = node.waits; w != kNoWait;) {
        const Wait wait = log_.waits.get(w);
        const uint64_t ns = part(wait.begin, wait.end);
        if (ns > 0) out.waits.emplace_back(w, ns);
        waited += ns;
        w = wait.earlier;
      }
      const uint64_t inside = part(node.begin, node.end);
      add(node.place, node.place, inside > waited ? inside - waited : 0);
      if (node.begin <= since || node.previous == kNoNode) break;
      const Node previous = log_.nodes.get(node.previous);
      add(previous.place, node.place, part(previous.end, node.begin));
      if (previous.end <= since) break;
      node = previous;
    }
    out.sum_up();
  }

  // Asks the memory for what the waits after this one need.
  void fetch(WaitId id) {
    if (id < kAhead) return;
    const Wait* const soon = log_.waits.in_memory(id - kAhead);
    if (soon == nullptr) return;
    for (const NodeId node : {soon->waiter, soon->causer})
      if (const Node* const at = log_.nodes.in_memory(node); at != nullptr) __builtin_prefetch(at);
  }

  void distribute(WaitId id) {
    const Wait wait = log_.waits.get(id);
    const auto own = static_cast<double>(wait.end - wait.begin);
    if (wait.causer == kNoNode) return pay(id, wait, -1, {kEdge, kEdge}, 1);
    const Node causer = log_.nodes.get(wait.causer);
    const Rank rank = rank_of(causer);
    look_at(wait.causer, wait.since_causer, wait.end, there_);
    look_at(wait.waiter, wait.since_waiter, wait.begin, here_);
    uint64_t excess = 0, waited = 0;
    longer_.clear();
    auto same = here_.work.begin();
    for (const auto& [stretch, ns] : there_.work) {
      while (same != here_.work.end() && same->first < stretch) ++same;
      const bool is_same = same != here_.work.end() && same->first == stretch;
      const uint64_t less = is_same ? same->second : 0;
      if (ns <= less) continue;
      longer_.emplace_back(stretch, ns - less);
      excess += ns - less;
    }
    for (const auto& [w, ns] : there_.waits) waited += ns;
    const auto whole = static_cast<double>(excess) + static_cast<double>(waited);
    if (excess + waited == 0) return pay(id, wait, rank, {causer.place, causer.place}, 1);
    for (const auto& [stretch, ns] : longer_)
      pay(id, wait, rank, stretch, static_cast<double>(ns) / whole);
    for (const auto& [w, ns] : there_.waits)
      log_.waits.change(w).cost += (own + wait.cost) * static_cast<double>(ns) / whole;
  }

  // `share` of what a wait costs goes back to this.
  void pay(WaitId id, const Wait& wait, Rank rank, Stretch stretch, double share) {
    Cost& cost = costs_[{wait.pattern, rank, stretch}];
    const double short_term = static_cast<double>(wait.end - wait.begin) * share;
    cost.short_term += short_term;
    cost.long_term += wait.cost * share;
    if (chosen_.empty()) return;
    const auto chosen = chosen_.find(id);
    if (chosen == chosen_.end()) return;
    std::optional<Delay>& delay = out_.explained[chosen->second].delay;
    if (delay && delay->short_term_ns >= short_term) return;
    delay.emplace();
    name(*delay, wait.pattern, rank, stretch);
    delay->short_term_ns = short_term;
    delay->long_term_ns = wait.cost * share;
  }

  bool is_asked_for(const Wait& wait) {
    if (!contains(*options_.explain, wait.pattern)) return false;
    const Node node = log_.nodes.get(wait.waiter);
    if (options_.explain_rank >= 0 && rank_of(node) != options_.explain_rank) return false;
    const std::vector<DefinitionId>& paths = options_.explain_paths;
    return paths.empty() || std::find(paths.begin(), paths.end(),
                                      sweep_.places().place(node.place).path) != paths.end();
  }

  // The longest waits of those that were asked for.
  void choose() {
    if (!options_.explain || options_.explain_count == 0) return;
    using Candidate = std::pair<uint64_t, WaitId>;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> longest;
    for (WaitId id = 0; id < log_.waits.size(); ++id) {
      const Wait wait = log_.waits.get(id);
      const uint64_t ns = wait.end - wait.begin;
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
    e.wait_ns = wait.end - wait.begin;
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
  // Of the wait that is looked at; kept for their memory.
  Interval there_, here_;
  std::vector<std::pair<Stretch, uint64_t>> longer_;
};

}  // namespace

void find_causes(Sweep& sweep, const Options& options, WaitStates& out) {
  Causes(sweep, options, out).run();
}

}  // namespace refrain::analysis::waits
