// The engine against a slow, obvious computation: all calls in memory, each pattern straight from
// its definition, every other message looked at for each.

#include "analysis/waits/testing/random_program.h"

namespace refrain::analysis::waits {
namespace {

using Key = std::tuple<std::string, Place, CallId, Rank>;  // pattern, call site, function, rank
using Sums = std::map<Key, uint64_t>;

class Reference {
 public:
  explicit Reference(const RandomProgram& p) : p_(p), send_ends_(p.messages.size(), UINT64_MAX) {
    for (const auto& of_rank : p.calls)
      for (const TrueCall& call : of_rank)
        for (const size_t id : call.sends) send_ends_[id] = call.end;
  }

  Sums sums() {
    for (size_t r = 0; r < p_.calls.size(); ++r)
      for (size_t c = 0; c < p_.calls[r].size(); ++c) judge(static_cast<Rank>(r), c);
    return sums_;
  }

  uint64_t ideal_runtime() {
    int64_t most = 0;
    for (size_t r = 0; r < p_.calls.size(); ++r)
      most = std::max(most, ideal_end(static_cast<Rank>(r), p_.calls[r].size() - 1));
    return static_cast<uint64_t>(most);
  }

 private:
  struct Release {
    uint64_t time;
    Pattern pattern;
    std::pair<Rank, size_t> from;
    bool is_possible = false;
    bool is_small = false;
  };

  const TrueCall& at(Rank r, size_t c) const { return p_.calls[static_cast<size_t>(r)][c]; }
  uint64_t sent(const TrueMessage& m) const { return at(m.sender, m.send_call).begin; }
  uint64_t posted(const TrueMessage& m) const { return at(m.receiver, m.post_call).begin; }

  // It waits for one message alone.
  static bool has_order(const TrueCall& call) {
    const std::string_view name = mpi::find_call(call.call)->name;
    return name == "MPI_Recv" || name == "MPI_Probe" || name == "MPI_Mprobe" ||
           name == "MPI_Mrecv" || name == "MPI_Wait";
  }
  bool late_sender_in_wrong_order(const TrueMessage& m, Rank r, size_t c) const {
    if (!has_order(at(r, c))) return false;
    for (const TrueMessage& o : p_.messages)
      if (&o != &m && o.receiver == m.receiver && o.send_call != kNever && sent(o) < sent(m) &&
          (o.done_call == kNever || o.done_call > c))
        return true;
    return false;
  }
  bool late_receiver_in_wrong_order(const TrueMessage& m) const {
    for (const TrueMessage& o : p_.messages)
      if (&o != &m && o.receiver == m.receiver && o.send_call != kNever && o.done_call != kNever &&
          o.done_call < m.post_call && sent(o) > sent(m) && has_order(at(o.receiver, o.done_call)))
        return true;
    return false;
  }
  // By `now`, a send of as much had ended before its receive was there.
  bool was_eager(const TrueMessage& m, uint64_t now) const {
    if (m.is_synchronous) return false;
    for (size_t id = 0; id < p_.messages.size(); ++id) {
      const TrueMessage& o = p_.messages[id];
      if (o.comm == m.comm && o.bytes >= m.bytes && !o.is_synchronous && !o.is_buffered &&
          o.send_call != kNever && o.post_call != kNever && send_ends_[id] < posted(o) &&
          posted(o) <= now)
        return true;
    }
    return false;
  }

  void add_receive(const TrueMessage& m, Rank r, size_t c, std::vector<Release>& out) const {
    out.push_back({sent(m),
                   late_sender_in_wrong_order(m, r, c) ? Pattern::kLateSenderWrongOrder
                                                       : Pattern::kLateSender,
                   {m.sender, m.send_call}});
  }

  // Whether a rank was over with it before the last one came: 5 % of a call may be an error of
  // times.
  bool left_early(const TrueCollective& coll) const {
    uint64_t last = 0;
    for (const auto& e : coll.entries) last = std::max(last, at(e.rank, e.call).begin);
    return std::any_of(coll.leavers.begin(), coll.leavers.end(), [&](const auto& leaver) {
      const TrueCall& call = at(leaver.first, leaver.second);
      return call.end + (coll.is_blocking ? (call.end - call.begin) / 20 : 0) < last;
    });
  }

  void add_collective(const TrueCollective& coll, Rank me, std::vector<Release>& out) const {
    const auto own = std::find_if(coll.entries.begin(), coll.entries.end(),
                                  [&](const auto& e) { return e.rank == me; });
    const TrueCollective::Entry* last = nullptr;
    for (const auto& e : coll.entries) {
      bool needed = true;
      if (coll.kind == CollectiveKind::kToRoot)
        needed = own->role == Role::kRoot && e.role == Role::kLeaf;
      if (coll.kind == CollectiveKind::kFromRoot)
        needed = own->role == Role::kLeaf && e.role == Role::kRoot;
      if (coll.kind == CollectiveKind::kScan) needed = e.position < own->position;
      if (coll.kind == CollectiveKind::kNeighbours) {
        const std::vector<Rank>& from = coll.sources[static_cast<size_t>(me)];
        needed = std::count(from.begin(), from.end(), e.rank) > 0;
      }
      if (coll.kind == CollectiveKind::kFile && left_early(coll))
        needed = coll.in_order && e.position < own->position;
      if (needed) {
        if (last == nullptr || at(e.rank, e.call).begin > at(last->rank, last->call).begin)
          last = &e;
        all_needed_.push_back({e.rank, e.call});
      }
    }
    if (last == nullptr) return;
    Pattern pattern = Pattern::kWaitAtNxN;
    if (coll.kind == CollectiveKind::kBarrier) pattern = Pattern::kWaitAtBarrier;
    if (coll.kind == CollectiveKind::kToRoot) pattern = Pattern::kEarlyReduce;
    if (coll.kind == CollectiveKind::kFromRoot) pattern = Pattern::kLateBroadcast;
    if (coll.kind == CollectiveKind::kScan) pattern = Pattern::kEarlyScan;
    if (coll.kind == CollectiveKind::kFence) pattern = Pattern::kWaitAtFence;
    if (coll.kind == CollectiveKind::kWindow) pattern = Pattern::kWaitAtWindow;
    if (coll.kind == CollectiveKind::kNeighbours) pattern = Pattern::kLateNeighbour;
    if (coll.kind == CollectiveKind::kFile) pattern = Pattern::kWaitAtCollectiveIo;
    out.push_back({at(last->rank, last->call).begin, pattern, {last->rank, last->call}});
  }

  // What the call could not end before, and, for the ideal network, all that it depends on.
  std::vector<Release> releases(Rank r, size_t c) const {
    const TrueCall& call = at(r, c);
    std::vector<Release> out;
    all_needed_.clear();
    for (const size_t id : call.receives) add_receive(p_.messages[id], r, c, out);
    if (call.probed != kNever) add_receive(p_.messages[call.probed], r, c, out);
    for (const size_t id : call.sends) {
      const TrueMessage& m = p_.messages[id];
      if (m.post_call == kNever || posted(m) <= call.begin || posted(m) > call.end ||
          posted(m) <= sent(m) || m.is_buffered || was_eager(m, call.end))
        continue;
      out.push_back({posted(m),
                     late_receiver_in_wrong_order(m) ? Pattern::kLateReceiverWrongOrder
                                                     : Pattern::kLateReceiver,
                     {m.receiver, m.post_call},
                     !m.is_synchronous,
                     m.bytes <= 1024});
    }
    for (const size_t id : call.collectives) add_collective(p_.collectives[id], r, out);
    for (const TrueEpoch& e : p_.epochs) {
      const uint64_t post = at(e.target, e.post).begin;
      if (e.origin == r && (c == e.start || c == e.complete) && post <= call.end)
        out.push_back({post, Pattern::kLatePost, {e.target, e.post}});
      if (e.target == r && c == e.wait)
        out.push_back(
            {at(e.origin, e.complete).begin, Pattern::kEarlyWait, {e.origin, e.complete}});
    }
    for (const TrueLock& lock : p_.locks)
      if (lock.origin == r && (c == lock.lock_call || c == lock.unlock_call)) {
        if (c == lock.unlock_call && holder(lock, at(r, lock.lock_call)) != 0) continue;
        if (const uint64_t end = holder(lock, call); end != 0)
          out.push_back({end, Pattern::kLockContention, {r, c}});
      }
    const Release* chosen = last_of(out, call);
    for (const Release& release : out)
      if (release.pattern != Pattern::kLockContention &&
          (!release.is_possible || (chosen != nullptr && chosen->is_possible)))
        all_needed_.push_back(release.from);
    return out;
  }

  // What the call waited for: the last, where a send that could have waited counts only if nothing
  // else fits, or it is large and the call ended nearer to its receive than to what else fits.
  static const Release* last_of(const std::vector<Release>& all, const TrueCall& call) {
    const Release *sure = nullptr, *possible = nullptr;
    for (const Release& release : all) {
      const Release*& last = release.is_possible ? possible : sure;
      if (last == nullptr || release.time > last->time) last = &release;
    }
    if (possible == nullptr || (sure != nullptr && sure->time >= possible->time)) return sure;
    if (sure == nullptr || sure->time <= call.begin) return possible;
    if (possible->is_small) return sure;
    return call.end - possible->time < possible->time - sure->time ? possible : sure;
  }

  // When the last other rank that had the lock gave it back during this call; 0: none did. One that
  // asked for it before and was still giving it back at the end of the call did when it began to.
  uint64_t holder(const TrueLock& lock, const TrueCall& call) const {
    uint64_t last = 0;
    for (const TrueLock& o : p_.locks) {
      if (o.origin == lock.origin || o.target != lock.target ||
          !(o.is_exclusive || lock.is_exclusive))
        continue;
      const TrueCall& unlock = at(o.origin, o.unlock_call);
      const bool has_returned = unlock.end < call.end;
      if (!has_returned && at(o.origin, o.lock_call).begin >= at(lock.origin, lock.lock_call).begin)
        continue;
      const uint64_t free = has_returned ? unlock.end : unlock.begin;
      if (free > call.begin && free < call.end) last = std::max(last, free);
    }
    return last;
  }

  void add(Pattern pattern, Rank r, const TrueCall& call, uint64_t ns) {
    if (ns > 0) sums_[{std::string(name_of(pattern)), call.site, call.call, r}] += ns;
  }

  void judge(Rank r, size_t c) {
    const TrueCall& call = at(r, c);
    uint64_t from = call.begin;
    const std::vector<Release> all = releases(r, c);
    if (const Release* release = last_of(all, call); release != nullptr) {
      const uint64_t to = std::max(from, std::min(release->time, call.end));
      add(release->pattern, r, call, to - from);
      from = to;
    }
    for (const size_t id : call.unsuccessful) {
      const TrueMessage& m = p_.messages[id];
      if (m.send_call == kNever || sent(m) > call.end)
        add(Pattern::kLateSender, r, call, call.end - call.begin);
    }
    for (const size_t id : call.collectives) {
      const TrueCollective& coll = p_.collectives[id];
      const bool barrier = coll.kind == CollectiveKind::kBarrier;
      if (!coll.is_blocking || (!barrier && coll.kind != CollectiveKind::kNxN)) continue;
      uint64_t first = UINT64_MAX;
      for (const auto& e : coll.entries) first = std::min(first, at(e.rank, e.call).end);
      first = std::max(first, from);
      if (call.end > first)
        add(barrier ? Pattern::kBarrierCompletion : Pattern::kNxNCompletion, r, call,
            call.end - first);
    }
  }

  int64_t ideal_begin(Rank r, size_t c) {
    if (c == 0) return 0;
    return ideal_end(r, c - 1) + static_cast<int64_t>(at(r, c).begin - at(r, c - 1).end);
  }
  int64_t ideal_end(Rank r, size_t c) {
    const auto known = ideal_.find({r, c});
    if (known != ideal_.end()) return known->second;
    int64_t end = ideal_begin(r, c);
    (void)releases(r, c);
    const std::vector<std::pair<Rank, size_t>> needed = all_needed_;
    for (const auto& [other, call] : needed)
      if (other != r || call != c) end = std::max(end, ideal_begin(other, call));
    return ideal_[{r, c}] = end;
  }

  const RandomProgram& p_;
  std::vector<uint64_t> send_ends_;  // by message
  Sums sums_;
  mutable std::vector<std::pair<Rank, size_t>> all_needed_;
  std::map<std::pair<Rank, size_t>, int64_t> ideal_;
};

Sums sums_of(const WaitStates& result) {
  Sums out;
  for (const Severity& s : result.severities)
    out[{std::string(name_of(s.pattern)), s.path, s.call, s.rank}] += s.ns;
  return out;
}

// What is in one and not, or not as much, in the other.
std::string differences(const Sums& got, const Sums& expected) {
  std::string out;
  const auto list = [&](const Sums& a, const Sums& b, const char* which) {
    for (const auto& [key, ns] : a) {
      const auto other = b.find(key);
      if (other != b.end() && other->second == ns) continue;
      const auto& [pattern, site, call, rank] = key;
      out.append(which).append(" ").append(pattern);
      for (const uint64_t v : {uint64_t{site}, uint64_t{call}, static_cast<uint64_t>(rank), ns})
        out.append(" ").append(std::to_string(v));
      out.append("\n");
    }
  };
  list(got, expected, "got");
  list(expected, got, "expected");
  return out;
}

// The costs of all delays are the waits that they are distributed from.
void expect_causes_add_up(const WaitStates& result) {
  double delays = 0;
  uint64_t waits = 0;
  for (const Delay& d : result.delays) {
    delays += d.short_term_ns + d.long_term_ns;
    EXPECT_GE(d.short_term_ns, 0);
    EXPECT_GE(d.long_term_ns, 0);
  }
  for (const RankTime& time : result.ranks) waits += time.waiting_ns;
  // A test in vain has no cause.
  EXPECT_NEAR(delays, static_cast<double>(waits - result.counts.unassigned_ns),
              1e-6 * static_cast<double>(waits) + 1);
}

TEST(RandomWaits, AreThoseOfTheDefinitions) {
  std::map<std::string, int> seen;
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int ranks = 3 + static_cast<int>(seed % 6);
    RandomProgram p(seed, ranks, 40 + static_cast<int>(seed % 7) * 60);
    Options options;
    options.patience_ns = 10'000'000;
    const WaitStates result = p.program.analyse(options);
    Reference reference(p);
    const Sums expected = reference.sums();
    ASSERT_EQ(differences(sums_of(result), expected), "");
    for (const auto& [key, ns] : expected) ++seen[std::get<0>(key)];
    expect_causes_add_up(result);
    EXPECT_EQ(result.efficiency.ideal_ns, reference.ideal_runtime());
    EXPECT_EQ(result.counts.repaired_messages, 0U);
    EXPECT_EQ(result.counts.backward_times, 0U);
    EXPECT_EQ(result.counts.unknown_requests, 0U);
    EXPECT_EQ(result.counts.incomplete_collectives, 0U);
    uint64_t first = UINT64_MAX, last = 0;
    for (const auto& of_rank : p.calls) {
      first = std::min(first, of_rank.front().begin);
      last = std::max(last, of_rank.back().end);
    }
    EXPECT_LE(result.critical_ns, last - first);
  }
  // Every pattern that a random program can have was met.
  for (const char* name :
       {"late_sender", "late_sender_wrong_order", "late_receiver", "late_receiver_wrong_order",
        "early_reduce", "late_broadcast", "early_scan", "wait_at_nxn", "nxn_completion",
        "late_neighbour", "wait_at_collective_io", "wait_at_barrier", "barrier_completion",
        "wait_at_window", "wait_at_fence", "late_post", "early_wait", "lock_contention"})
    EXPECT_GT(seen[name], 10) << name;
}

// The log in the smallest memory gives the same answer.
TEST(RandomWaits, DoNotDependOnMemory) {
  RandomProgram a(7, 6, 3000), b(7, 6, 3000);
  Options small;
  small.memory_bytes = 0;
  const WaitStates one = a.program.analyse(), other = b.program.analyse(small);
  EXPECT_EQ(differences(sums_of(one), sums_of(other)), "");
  ASSERT_EQ(one.delays.size(), other.delays.size());
  for (size_t i = 0; i < one.delays.size(); ++i)
    EXPECT_DOUBLE_EQ(one.delays[i].short_term_ns, other.delays[i].short_term_ns);
  EXPECT_EQ(one.critical_ns, other.critical_ns);
  EXPECT_EQ(one.counts.spilled_bytes, 0U);
  EXPECT_GT(other.counts.spilled_bytes, 0U);
}

}  // namespace
}  // namespace refrain::analysis::waits
