// Periods: the iterations of loops in which nothing new happens.
//
// A state is everything that decides what happens next, but for the iteration of one loop of each
// rank: the outermost one for level 0, the one inside of it for level 1, and so on; a rank with
// fewer loops gives its innermost. When a state comes again, each rank has made whole iterations of
// its loop in between, so it will do so again until the first of these loops ends.

#include <algorithm>

#include "replay/plan/unbuffered_run.h"

namespace refrain::replay::plan {
namespace {

constexpr uint64_t kMargin = 2;  // iterations at the end of each loop that are walked

uint64_t mixed(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

}  // namespace

UnbufferedRun::State UnbufferedRun::state(size_t level) {
  State out;
  out.totals = totals();
  for (size_t seed = 0; seed < 2; ++seed) out.hash[seed] = seed * 0x51ed270b + 1;
  const auto add = [&](uint64_t v) {
    out.hash[0] = mixed(out.hash[0], v);
    out.hash[1] = mixed(out.hash[1], v + 0x632be59bd9b4e019u);
  };
  // Tables have no order: what they hold is added up.
  const auto add_sum = [&](const auto& table, auto&& word_of) {
    uint64_t sums[2] = {0, 0};
    for (const auto& entry : table) {
      const uint64_t word = word_of(entry);
      sums[0] += mixed(1, word);
      sums[1] += mixed(2, word);
    }
    add(sums[0]);
    add(sums[1]);
  };
  for (const auto& lane : lanes_) {
    out.positions.push_back(lane->position);
    loops_at(*lane->grammar, *lane->lengths, lane->position, loops_);
    uint64_t place = lane->position;
    if (!loops_.empty()) {
      const LoopPlace& loop = loops_[std::min(level, loops_.size() - 1)];
      place -= loop.iteration * loop.length;
    }
    add(place);
    add(static_cast<uint64_t>(lane->waits) << 8 | (lane->has_ended ? 4 : 0) |
        (lane->is_listed ? 2 : 0) | (lane->is_let_go ? 1 : 0));
    add(lane->open);
    add_sum(lane->requests, [&](const auto& entry) {
      const Request& request = entry.second;
      const bool is_in_collective =
          request.has_collective && !has_passed(request.maker->comm.key, request.number);
      return mixed(entry.first, uint64_t{request.open} << 1 | (is_in_collective ? 1 : 0));
    });
    add_sum(lane->collectives, [&](const auto& entry) {
      const auto stream = streams_.find(entry.first);
      return mixed(entry.first, entry.second - stream->second.base);
    });
  }
  uint64_t sums[2] = {0, 0};
  queues_.for_each(
      [&](const events::ChannelKey& channel, const events::ChannelQueues::Queue& queue) {
        uint64_t word = events::ChannelHash()(channel);
        Name name = queue.first;
        for (uint32_t i = 0; i < queue.count; ++i, name = ends_[name].next) {
          const End& end = ends_[name];
          word = mixed(word, (end.is_send ? 4u : 0u) | (end.is_buffered ? 2u : 1u));
          word = mixed(word, end.has_request ? uint64_t{end.request} + 1 : 0);
          word = mixed(word, end.bytes);
        }
        sums[0] += mixed(3, word);
        sums[1] += mixed(4, word);
      });
  add(sums[0]);
  add(sums[1]);
  return out;
}

// Periods that can be left out; 0: none.
uint64_t UnbufferedRun::iterations_left(const State& before, size_t level) {
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const uint64_t made = lanes_[i]->position - before.positions[i];
    if (made == 0) continue;
    loops_at(*lanes_[i]->grammar, *lanes_[i]->lengths, lanes_[i]->position, loops_);
    if (loops_.empty()) return 0;
    const LoopPlace& loop = loops_[std::min(level, loops_.size() - 1)];
    if (before.positions[i] < loop.first || made % loop.length != 0) return 0;
    const uint64_t iterations = made / loop.length;
    const uint64_t left = loop.count - loop.iteration - 1;
    if (left <= kMargin) return 0;
    least = std::min(least, (left - kMargin) / iterations);
  }
  return least == UINT64_MAX ? 0 : least;
}

void UnbufferedRun::skip(const State& before, uint64_t periods, const Totals& now) {
  out_.sends += periods * (now.sends - before.totals.sends);
  out_.collectives += periods * (now.collectives - before.totals.collectives);
  out_.disagreements += periods * (now.disagreements - before.totals.disagreements);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const uint64_t made = lanes_[i]->position - before.positions[i];
    if (made == 0) continue;
    lanes_[i]->position += periods * made;
    lanes_[i]->calls.reset();
  }
}

void UnbufferedRun::look_for_period() {
  while (leader_ + 1 < lanes_.size() && lanes_[leader_]->has_ended) {
    ++leader_;
    for (auto& states : states_) states.clear();
  }
  loops_at(*lanes_[leader_]->grammar, *lanes_[leader_]->lengths, lanes_[leader_]->position, loops_);
  const size_t levels = std::min(loops_.size(), kLevels);
  for (size_t level = 0; level < levels; ++level) {
    State now = state(level);
    auto& seen = states_[level];
    const auto known = std::find_if(seen.rbegin(), seen.rend(), [&](const State& s) {
      return s.hash[0] == now.hash[0] && s.hash[1] == now.hash[1];
    });
    const uint64_t periods = known == seen.rend() ? 0 : iterations_left(*known, level);
    if (periods > 0) {
      const State before = *known;
      skip(before, periods, now.totals);
      for (size_t inner = level; inner < kLevels; ++inner) states_[inner].clear();
      return;
    }
    seen.push_back(std::move(now));
    if (seen.size() > kMostStates) seen.pop_front();
  }
}

}  // namespace refrain::replay::plan
