#include "replay/threads/thread_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace refrain::replay {
namespace {

using Call = TouchStream::Call;

constexpr uint64_t kNever = UINT64_MAX;

// In which turn threads are asked for a call that can be made.
struct Policy {
  bool by_time = false;
  bool each_once = false;  // else a thread goes on for as long as it can
  size_t first = 0;        // then the next one is looked for from this one on
};

// What a thread will do with a thing, in order: equal effects in a row are one.
struct Future {
  struct Run {
    Effect effect;
    int64_t made_as;
    uint64_t count;
  };
  std::vector<Run> runs;
  size_t at = 0;
  uint64_t in_run = 0;

  void add(const Touch& touch) {
    if (!runs.empty() && runs.back().effect == touch.effect && runs.back().made_as == touch.made_as)
      ++runs.back().count;
    else
      runs.push_back({touch.effect, touch.made_as, 1});
  }
  void pass() {
    if (at < runs.size() && ++in_run >= runs[at].count) ++at, in_run = 0;
  }
  // Whether it uses the one that is there, and leaves it to others to free it. One that the thread
  // frees itself is another one, which is made once this one is gone. `is_meant(made_as)`.
  template <class IsMeant>
  bool needs_it(IsMeant is_meant) const {
    size_t i = at;
    const auto uses = [&](const Run& run) {
      return (run.effect == Effect::kUse || run.effect == Effect::kTurn) && is_meant(run.made_as);
    };
    while (i < runs.size() && uses(runs[i])) ++i;
    return i > at &&
           (i == runs.size() || runs[i].effect != Effect::kFree || !is_meant(runs[i].made_as));
  }
};

struct Shared {
  std::map<uint32_t, Future> futures;  // by thread
  bool is_made = false;                // by any call at all; else it was there from the begin
  std::set<int64_t> made_as;           // what those that are made are

  bool is_looked_into = false;
  bool is_there = false;
  int64_t is_as = 0;                               // what the one that is there was made as
  uint64_t maker_seq = kNever, turn_seq = kNever;  // the last one
  uint32_t maker = 0, turn = 0;
  std::map<uint32_t, uint64_t> users;  // since it was made: the last use of each thread
  // By thread that made it: what the one has to wait for that it made last, if another freed it.
  std::map<uint32_t, std::pair<uint32_t, uint64_t>> freed;
  std::map<uint32_t, uint32_t> meant;  // by thread: whose it meant last

  // Whether a call that says this means the one that is there. What nobody has made as that may
  // have become it since.
  bool is_meant(int64_t as) const {
    return as == 0 || is_as == 0 || as == is_as || !made_as.contains(as);
  }
  bool is_needed_by(const Future& future) const {
    return future.needs_it([this](int64_t as) { return is_meant(as); });
  }

  void restart() {
    is_there = !is_made;
    is_as = 0;
    maker_seq = turn_seq = kNever;
    maker = turn = 0;
    users.clear();
    freed.clear();
    meant.clear();
    for (auto& [thread, future] : futures) future.at = future.in_run = 0;
  }
};

class Ordering {
 public:
  explicit Ordering(std::vector<std::unique_ptr<TouchStream>>& threads) : threads_(threads) {
    find_shared();
    if (shared_.empty()) return;
    for (uint32_t t = 0; t < threads_.size(); ++t) {
      threads_[t]->rewind();
      Call call;
      while (threads_[t]->next(call))
        for (const Touch& touch : *call.touches) {
          const auto found = shared_.find(touch.thing);
          if (found == shared_.end()) continue;
          found->second.futures[t].add(touch);
          if (touch.effect == Effect::kMake || touch.effect == Effect::kSee) {
            found->second.is_made = true;
            found->second.made_as.insert(touch.made_as);
          }
          if (touch.effect == Effect::kLook) found->second.is_looked_into = true;
        }
    }
    std::erase_if(shared_, [](const auto& one) {
      return one.first.kind == kChannel && !one.second.is_looked_into;
    });
  }

  bool has_shared() const { return !shared_.empty(); }

  ThreadOrder run(const Policy& policy) {
    begin();
    out_.of_thread.resize(threads_.size());
    out_.ended_by_others.resize(threads_.size());
    out_.makers.resize(threads_.size());
    size_t turn = policy.first;
    while (true) {
      const size_t t = pick(policy, turn);
      if (t == threads_.size()) break;
      take(static_cast<uint32_t>(t));
      turn = policy.each_once ? (t + 1) % threads_.size() : t;
    }
    for (auto& ends : out_.ended_by_others)
      std::sort(ends.begin(), ends.end(),
                [](const ThreadOrder::End& a, const ThreadOrder::End& b) { return a.seq < b.seq; });
    return std::move(out_);
  }

 private:
  struct Front {
    Call call;
    bool has_ended = false;
  };

  // What more than one thread touches. Calls of one signature have one list of touches.
  void find_shared() {
    std::map<Thing, uint32_t> of_thread;  // the first one that touches it
    for (uint32_t t = 0; t < threads_.size(); ++t) {
      std::set<const std::vector<Touch>*> seen;
      Call call;
      while (threads_[t]->next(call)) {
        if (!seen.insert(call.touches).second) continue;
        for (const Touch& touch : *call.touches)
          if (of_thread.try_emplace(touch.thing, t).first->second != t) shared_[touch.thing];
      }
    }
  }

  void begin() {
    out_ = ThreadOrder();
    known_.assign(threads_.size(), std::vector<uint64_t>(threads_.size(), 0));
    fronts_.assign(threads_.size(), Front());
    for (auto& [thing, shared] : shared_) shared.restart();
    for (uint32_t t = 0; t < threads_.size(); ++t) {
      threads_[t]->rewind();
      fetch(t);
    }
  }

  // To the next call that touches something shared.
  void fetch(uint32_t t) {
    Front& front = fronts_[t];
    while (threads_[t]->next(front.call))
      for (const Touch& touch : *front.call.touches)
        if (shared_.count(touch.thing) != 0) return;
    front.has_ended = true;
  }

  bool can_go(uint32_t t, bool may_free) const {
    for (const Touch& touch : *fronts_[t].call.touches) {
      const auto found = shared_.find(touch.thing);
      if (found == shared_.end()) continue;
      const Shared& thing = found->second;
      if (touch.effect == Effect::kMake && thing.is_there) return false;
      const bool needs = touch.effect != Effect::kMake && touch.effect != Effect::kSee;
      if (needs && !thing.is_there) return false;
      if (thing.is_there && !thing.is_meant(touch.made_as)) return false;
      if (touch.effect == Effect::kFree && !may_free)
        for (const auto& [other, future] : thing.futures)
          if (other != t && thing.is_needed_by(future)) return false;
    }
    return true;
  }

  // The thread whose call is next; their number: none has any left.
  size_t pick(const Policy& policy, size_t turn) {
    const size_t count = threads_.size();
    std::vector<size_t> order;
    const size_t from = policy.each_once ? turn : policy.first;
    if (!fronts_[turn].has_ended) order.push_back(turn);
    for (size_t i = 0; i < count; ++i)
      if (const size_t t = (from + i) % count; t != turn && !fronts_[t].has_ended)
        order.push_back(t);
    if (order.empty()) return count;
    if (policy.by_time)
      std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return fronts_[a].call.begin_ns < fronts_[b].call.begin_ns;
      });
    // What others still need is freed when there is nothing else to do.
    for (const bool may_free : {policy.by_time, true})
      for (const size_t t : order)
        if (can_go(static_cast<uint32_t>(t), may_free)) return t;
    ++out_.forced;
    return order.front();
  }

  void wait_for(uint32_t t, uint64_t seq, uint32_t other, uint64_t after) {
    if (other == t || after == kNever || known_[t][other] > after) return;
    known_[t][other] = after + 1;
    out_.of_thread[t].push_back({seq, other, after});
  }

  void make(uint32_t t, uint64_t seq, const Touch& touch, Shared& thing) {
    const Thing& name = touch.thing;
    if (const auto before = thing.freed.find(t); before != thing.freed.end())
      wait_for(t, seq, before->second.first, before->second.second);
    thing.is_there = true;
    thing.is_as = touch.made_as;
    thing.maker = t, thing.maker_seq = seq;
    thing.turn_seq = kNever;
    thing.users.clear();
    mean(t, seq, name, thing);
  }

  // Thread `t` uses the one that is there.
  void mean(uint32_t t, uint64_t seq, const Thing& name, Shared& thing) {
    const auto [meant, is_new] = thing.meant.try_emplace(t, t);
    if (meant->second == thing.maker) return;
    meant->second = thing.maker;
    out_.makers[t].push_back({seq, name, thing.maker});
  }

  void use(uint32_t t, uint64_t seq, const Thing& name, Shared& thing) {
    mean(t, seq, name, thing);
    wait_for(t, seq, thing.maker, thing.maker_seq);
    thing.users[t] = seq;
  }

  void end(uint32_t t, const Call& call, const Thing& name, Shared& thing) {
    mean(t, call.seq, name, thing);
    wait_for(t, call.seq, thing.maker, thing.maker_seq);
    for (const auto& [other, seq] : thing.users) wait_for(t, call.seq, other, seq);
    if (thing.maker != t && thing.maker_seq != kNever) {
      out_.ended_by_others[thing.maker].push_back({thing.maker_seq, call.name});
      thing.freed[thing.maker] = {t, call.seq};
    }
    thing.is_there = !thing.is_made;
  }

  void take(uint32_t t) {
    const Call& call = fronts_[t].call;
    for (const Touch& touch : *call.touches) {
      const auto found = shared_.find(touch.thing);
      if (found == shared_.end()) continue;
      Shared& thing = found->second;
      thing.futures[t].pass();
      switch (touch.effect) {
        case Effect::kMake: make(t, call.seq, touch, thing); break;
        case Effect::kSee:
          if (thing.is_there)
            mean(t, call.seq, touch.thing, thing);
          else
            make(t, call.seq, touch, thing);
          break;
        case Effect::kUse: use(t, call.seq, touch.thing, thing); break;
        case Effect::kFree: end(t, call, touch.thing, thing); break;
        case Effect::kLook:
        case Effect::kTurn:
          use(t, call.seq, touch.thing, thing);
          wait_for(t, call.seq, thing.turn, thing.turn_seq);
          thing.turn = t, thing.turn_seq = call.seq;
          break;
      }
    }
    fetch(t);
  }

  std::vector<std::unique_ptr<TouchStream>>& threads_;
  std::map<Thing, Shared> shared_;
  std::vector<Front> fronts_;
  std::vector<std::vector<uint64_t>> known_;  // by thread and other: so many calls have returned
  ThreadOrder out_;
};

}  // namespace

ThreadOrder order_threads(std::vector<std::unique_ptr<TouchStream>>& threads, bool has_times) {
  constexpr size_t kMostOrders = 8;
  Ordering ordering(threads);
  if (!ordering.has_shared()) {
    ThreadOrder none;
    none.of_thread.resize(threads.size());
    none.makers.resize(threads.size());
    none.ended_by_others.resize(threads.size());
    return none;
  }
  std::vector<Policy> policies;
  if (has_times) policies.push_back({true, false, 0});
  // Threads are numbered in the order in which they began: of threads that come and go, the lower
  // ones have ended before the higher ones begin.
  for (size_t first = 0; first < threads.size() && policies.size() < kMostOrders; ++first)
    policies.push_back({false, false, first});
  policies.push_back({false, true, 0});
  ThreadOrder best;
  for (size_t i = 0; i < policies.size(); ++i) {
    ThreadOrder found = ordering.run(policies[i]);
    if (i == 0 || found.forced < best.forced) best = std::move(found);
    if (best.forced == 0) break;
  }
  return best;
}

}  // namespace refrain::replay
