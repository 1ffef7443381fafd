// The reference: each rank goes as far as it can; when none can, the earliest of all things that
// are on their way happens. Everything is a plain list that is searched from its begin.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "sim/engine/testing/script.h"

namespace refrain::sim::testing {
namespace {

struct Transfer {
  uint32_t from = 0, to = 0;
  uint64_t bytes = 0;
  bool is_eager = true, is_acknowledged = false;
  std::optional<Time> sent, requested, posted, asked, agreed, set_out, first_byte, shared_end;
  std::optional<Time> available, sender_done;
  std::optional<Time> begins;  // eager: the sender's call, which gives it to the interface
  uint64_t first_bytes = 0;    // that need no call
};

class Reference {
 public:
  Reference(const Machine& machine, const Script& script)
      : script_(script),
        costs_(machine, *machine.places_for(script.ranks.size())),
        ranks_(script.ranks.size()) {}

  ScriptTimes run(bool& has_tie) {
    do {
      while (advance()) {
      }
    } while (happen(has_tie));
    ScriptTimes out;
    for (size_t r = 0; r < ranks_.size(); ++r) {
      out.calls.push_back(ranks_[r].calls);
      out.is_stuck = out.is_stuck || ranks_[r].next < script_.ranks[r].size();
    }
    return out;
  }

 private:
  struct Rank {
    Time now = 0, out_free = 0, in_free = 0;
    Time sending_until = INT64_MIN;
    size_t next = 0;
    bool is_posted = false;  // the posts of the next call
    Time entered = 0;
    std::vector<ScriptTimes::Call> calls;
    std::map<uint32_t, std::pair<size_t, bool>> requests;  // transfer, and whether it sends
  };

  Transfer& end_of(const ScriptEnd& end, uint32_t me) {
    const uint64_t key = uint64_t{end.channel} << 1 | (end.sends ? 1 : 0);
    const size_t n = counts_[key]++;
    std::vector<size_t>& all = channels_[end.channel];
    while (all.size() <= n) all.push_back(transfers_.size()), transfers_.emplace_back();
    ranks_[me].requests[end.request] = {all[n], end.sends};
    return transfers_[all[n]];
  }

  void post(uint32_t me, const ScriptCall& call) {
    Rank& rank = ranks_[me];
    rank.now += static_cast<Time>(call.computes);
    rank.entered = rank.now;
    for (const ScriptEnd& end : call.posts) {
      Transfer& t = end_of(end, me);
      if (!end.sends) {
        t.posted = rank.now;
        t.to = me;
        continue;
      }
      t.from = me;
      t.to = end.peer;
      t.bytes = end.bytes;
      const MessageCosts costs = costs_.of(me, end.peer, end.bytes);
      t.is_eager = costs.is_eager && !end.is_synchronous;
      t.sent = rank.now + costs.send;
      t.is_acknowledged = t.is_eager && costs.is_acknowledged && end.peer != me;
      if (t.is_eager) t.begins = rank.now;
      if (t.is_eager && !t.is_acknowledged) t.sender_done = t.sent;
      if (!t.is_eager) t.requested = rank.now + costs.post + costs.notice;
      rank.now += costs.send;
    }
    rank.is_posted = true;
  }

  void set_out(Transfer& t, Time at, uint64_t bytes) {
    const MessageCosts costs = costs_.of(t.from, t.to, t.bytes);
    Rank& from = ranks_[t.from];
    t.first_bytes = bytes;
    if (costs_.is_copy(t.from, t.to)) {
      t.set_out = t.first_byte = at;
      if (!t.is_eager) t.sender_done = at;
      return;
    }
    t.set_out = std::max(at, from.out_free);
    from.out_free = *t.set_out + std::max(costs.gap, costs.stream_of(bytes));
    if (!t.is_eager && bytes == t.bytes) t.sender_done = *t.set_out + costs.stream;
    t.first_byte = *t.set_out + costs.latency;
    from.sending_until = std::max(from.sending_until, *t.first_byte + costs.stream_of(bytes));
  }

  // The first time from `at` on that a rank is in a call.
  std::optional<Time> inside(uint32_t me, Time at) const {
    const Rank& rank = ranks_[me];
    for (const ScriptTimes::Call& call : rank.calls)
      if (call.end >= at) return std::max(at, call.begin);
    if (rank.is_posted) return std::max(at, rank.entered);
    return std::nullopt;
  }

  // One call of one rank.
  bool advance() {
    for (uint32_t me = 0; me < ranks_.size(); ++me) {
      Rank& rank = ranks_[me];
      if (rank.next == script_.ranks[me].size()) continue;
      const ScriptCall& call = script_.ranks[me][rank.next];
      if (!rank.is_posted) {
        post(me, call);
        return true;
      }
      std::vector<std::pair<Time, Time>> done;  // when, and the processor's cost
      for (const uint32_t request : call.waits) {
        const auto [which, sends] = rank.requests.at(request);
        const Transfer& t = transfers_[which];
        if (sends && t.sender_done) done.push_back({*t.sender_done, 0});
        if (sends || !t.available || !t.posted) continue;
        Time cost = costs_.of(t.from, t.to, t.bytes).receive;
        if (t.is_eager && *t.posted > *t.available) cost += costs_.copy(t.from, t.to, t.bytes);
        done.push_back({std::max(*t.available, *t.posted), cost});
      }
      if (done.size() < call.waits.size()) continue;
      std::stable_sort(done.begin(), done.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [when, cost] : done) rank.now = std::max(rank.now, when) + cost;
      rank.calls.push_back({rank.entered, rank.now});
      rank.is_posted = false;
      ++rank.next;
      return true;
    }
    return false;
  }

  // What a transfer waits for, and when it happens; nothing: it is not known yet.
  std::optional<Time> next_of(const Transfer& t) const {
    if (t.available && t.is_acknowledged && !t.sender_done) {
      const double overlap = costs_.protocol(t.from, t.to).overlap.value;
      return overlap > 0 ? t.available : inside(t.to, *t.available);
    }
    if (t.available) return std::nullopt;
    if (t.is_eager) return t.first_byte ? t.first_byte : t.begins;
    if (t.shared_end) return inside(t.to, *t.shared_end);
    if (t.first_byte) return t.first_byte;
    if (t.agreed) return *t.agreed + costs_.of(t.to, t.from, t.bytes).notice;
    if (!t.requested || !t.posted) return t.asked ? std::nullopt : t.requested;
    const Time at = std::max(*t.requested, *t.posted);
    const double overlap = costs_.protocol(t.from, t.to).overlap.value;
    return overlap > 0 ? at : inside(t.to, at);
  }

  void take(Transfer& t, Time at) {
    const MessageCosts costs = costs_.of(t.from, t.to, t.bytes);
    if (t.available) {
      t.sender_done = at + costs.receive + costs_.of(t.to, t.from, t.bytes).notice;
    } else if (t.shared_end) {
      t.available = at + rounded(static_cast<double>(t.bytes - t.first_bytes) * costs.per_byte);
      t.sender_done = std::max(at, *t.available - costs.latency);
      t.is_eager = false;
    } else if (t.first_byte && costs_.is_copy(t.from, t.to)) {
      t.available = at;
    } else if (t.first_byte) {
      Rank& to = ranks_[t.to];
      const bool crosses = to.sending_until > *t.sent;
      const Time begin = std::max(at, to.in_free) + (crosses ? costs.crossing : 0);
      to.in_free = begin + std::max(costs.gap, costs.stream_of(t.first_bytes));
      const Time end = begin + costs.stream_of(t.first_bytes);
      (t.first_bytes == t.bytes ? t.available : t.shared_end) = end;
    } else if (t.is_eager) {
      set_out(t, *t.sent, t.bytes);
    } else if (t.agreed) {
      const double overlap = costs_.protocol(t.from, t.to).overlap.value;
      const bool is_outside = is_outside_[&t];
      const uint64_t bytes =
          is_outside ? static_cast<uint64_t>(overlap * static_cast<double>(t.bytes) + 0.5)
                     : t.bytes;
      set_out(t, std::max(at, *t.sent), bytes);
    } else if (!t.posted) {
      t.asked = at;
    } else {
      is_outside_[&t] = inside(t.to, at) != at;
      t.agreed = at;
    }
  }

  bool happen(bool& has_tie) {
    Transfer* first = nullptr;
    Time least = 0;
    for (Transfer& t : transfers_) {
      const std::optional<Time> next = next_of(t);
      if (!next) continue;
      has_tie = has_tie || (first != nullptr && *next == least);
      if (first != nullptr && *next >= least) continue;
      first = &t;
      least = *next;
    }
    if (first != nullptr) take(*first, least);
    return first != nullptr;
  }

  const Script& script_;
  Costs costs_;
  std::vector<Rank> ranks_;
  std::deque<Transfer> transfers_;
  std::map<uint64_t, size_t> counts_;
  std::map<uint32_t, std::vector<size_t>> channels_;
  std::map<const Transfer*, bool> is_outside_;
};

}  // namespace

ScriptTimes reference(const Machine& machine, const Script& script, bool& has_tie) {
  return Reference(machine, script).run(has_tie);
}

}  // namespace refrain::sim::testing
