#include "analysis/waits/paths.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace refrain::analysis::waits {

void Path::start(NodeId node, uint64_t time) {
  // Parts are kept, because the next wait often begins at the same call, and because two paths are
  // compared part by part.
  first_ = node;
  first_time_ = time;
  parts_.clear();
  has_ended_ = false;
  is_direct_ = true;
  next_ = kNoNode;
  time_ = time;
  enter(node);
}

bool Path::part(size_t i, PathPart& out) {
  // Steps of no length follow each other where times are equal. Their number is bounded, because in
  // a damaged trace such steps could lead round in a circle.
  for (int empty = 0; parts_.size() <= i && !has_ended_ && empty < kMostEmpty; ++empty) {
    const size_t before = parts_.size();
    step();
    if (parts_.size() > before) empty = -1;
  }
  if (i >= parts_.size()) return false;
  out = parts_[i];
  return true;
}

bool Path::next(PathPart& out) {
  if (!part(0, out)) return false;
  parts_.erase(parts_.begin());  // a step makes few
  return true;
}

void Path::enter(NodeId node) {
  at_ = node;
  node_ = log_.nodes.get(node);
  is_inside_ = time_ > node_.begin;
  // The next one that is needed, most likely, while the other path is followed.
  const NodeId previous = previous_of(node, node_);
  if (previous != kNoNode) __builtin_prefetch(log_.nodes.in_memory(previous));
}

// From here on the path is on another rank than the wait was for at first: its parts are long-term
// causes.
void Path::jump(NodeId causer, uint64_t time) {
  time_ = time;
  is_direct_ = false;
  enter(causer);
}

void Path::add(uint64_t low, Stretch stretch, NodeId of) {
  // Times only go back: whatever claims otherwise is repaired time, and has no length.
  if (low >= time_) return;
  PathPart part;
  part.low = low;
  part.high = time_;
  part.stretch = stretch;
  part.node = of;
  part.location = node_.location;
  part.is_direct = is_direct_;
  parts_.push_back(part);
  time_ = low;
}

void Path::step() { is_inside_ ? step_inside() : step_before(); }

// From the end of the call before: first what the recorder did, then what the program did.
void Path::add_gap(const Node& before, const Stretch& gap) {
  if (before.location == node_.location) {
    const uint64_t own_end = log_.end_of_own_work(before.location, before.end);
    if (own_end > before.end) {
      add(own_end, gap, at_);
      Stretch own = gap;
      own.is_own = true;
      return add(before.end, own, at_);
    }
  }
  add(before.end, gap, at_);
}

// To the end of the last wait of the call that was over by now, and to whom it waited for.
void Path::step_inside() {
  const Stretch call{node_.place, node_.place, true};
  if (node_.between > 0) {  // a poll: some calls, with some time between them
    const double share = 1 - static_cast<double>(node_.between);
    const auto in_calls = static_cast<uint64_t>(share * static_cast<double>(time_ - node_.begin));
    add(node_.begin + in_calls, {node_.place, node_.place, false}, at_);
  }
  for (WaitId w = node_.waits; w != kNoWait;) {
    const Wait wait = log_.waits.get(w);
    w = wait.earlier;
    // The wait had not ended at this time, so that what ended it cannot have caused what is looked
    // for.
    if (wait.end > time_) continue;
    // Waiting, but for nobody known: it is passed over as a part without a node.
    if (wait.causer == kNoNode) {
      add(std::max(wait.end, node_.begin), call, at_);
      add(std::max(wait.begin, node_.begin), call, kNoNode);
      continue;
    }
    if (wait.end >= node_.begin) {
      add(wait.end, call, at_);
      return jump(wait.causer, wait.end);
    }
    next_ = wait.causer;  // a poll's, which was over before this call began
    next_time_ = wait.end;
    break;
  }
  add(node_.begin, call, at_);
  is_inside_ = false;
}

void Path::step_before() {
  const NodeId previous = previous_of(at_, node_);
  Node before;
  if (previous != kNoNode) before = log_.nodes.get(previous);
  const Stretch gap{previous == kNoNode ? kEdge : before.place, node_.place, false};
  if (next_ != kNoNode) {
    add(next_time_, gap, at_);
    return jump(std::exchange(next_, kNoNode), std::min(next_time_, time_));
  }
  // Before its first call a location has the time since 0, which is the end of every path.
  if (previous == kNoNode) {
    add(0, gap, at_);
    if (!parts_.empty() && parts_.back().low == 0) parts_.back().is_edge = true;
    has_ended_ = true;
    return;
  }
  const bool is_over = before.end <= time_;  // else a call of another thread that goes on
  if (is_over) add_gap(before, gap);
  enter(previous);
  is_inside_ = is_inside_ || is_over;
}

void Difference::take(std::vector<PathPart>& to, PathPart part, uint64_t low, uint64_t high) {
  if (low >= high) return;
  part.low = low;
  part.high = high;
  to.push_back(part);
}

// Leaves what is not before `low`.
void Difference::cut(std::vector<PathPart>& parts, uint64_t low) {
  while (!parts.empty() && parts.back().high <= low) parts.pop_back();
  if (!parts.empty()) parts.back().low = std::max(parts.back().low, low);
}

// Back along the path that is later, in turns, until they meet.
void Difference::compare(Path& later, Path& earlier, int budget) {
  struct Side {
    Path& path;
    std::vector<PathPart>& taken;
    size_t next = 0;
    uint64_t time = 0;
    PathPart part;
    void fetch() {
      if (path.part(next++, part)) return;
      part = PathPart();
      part.location = UINT32_MAX;
      part.is_edge = true;
    }
  };
  Side sides[2] = {{later, there_, 0, later.first_time(), {}},
                   {earlier, here_, 0, earlier.first_time(), {}}};
  for (Side& side : sides) side.taken.clear(), side.fetch();
  bool have_met = false;
  while (!have_met && budget-- > 0) {
    // Always the side that is later goes back: so both come to the point where they meet, and
    // neither goes past it.
    const bool is_earlier =
        sides[1].time > sides[0].time || (sides[1].time == sides[0].time && sides[0].part.is_edge);
    Side& side = sides[is_earlier ? 1 : 0];
    const Side& other = sides[is_earlier ? 0 : 1];
    uint64_t low = side.part.low;
    // They meet where both are on one location at one time: behind it they are the same path.
    const bool can_meet =
        side.part.location == other.part.location || (side.part.is_edge && other.part.is_edge);
    if (can_meet && low <= other.time) have_met = true;
    if (have_met || side.part.is_edge) low = std::max(low, other.time);
    take(side.taken, side.part, low, side.time);
    side.time = low;
    if (low == side.part.low) side.fetch();
  }
  // The budget has ended: only the time that both sides have seen can be compared.
  if (have_met) return;
  const uint64_t until = std::max(sides[0].time, sides[1].time);
  cut(there_, until);
  cut(here_, until);
}

// Of each stretch what there is more of it; of its parts those that stand out.
void Difference::keep_excess() {
  const auto ns = [](const PathPart& part) { return static_cast<double>(part.high - part.low); };
  // Groups are numbered by a table that is emptied entry by entry afterwards: clearing it whole
  // would cost as much as its largest size, for each wait.
  groups_.clear();
  group_of_part_.clear();
  for (const PathPart& part : there_) {
    uint32_t& number = group_of_[part.stretch];  // 1 + index; a new one is 0
    if (number == 0) {
      groups_.push_back({part.stretch});
      number = static_cast<uint32_t>(groups_.size());
    }
    groups_[number - 1].there += ns(part);
    ++groups_[number - 1].count;
    group_of_part_.push_back(number - 1);
  }
  for (const PathPart& part : here_)
    if (const uint32_t* const number = group_of_.find(part.stretch); number != nullptr)
      groups_[*number - 1].here += ns(part);
  size_t count = 0;
  for (Group& group : groups_) {
    group_of_.erase(group.stretch);
    if (group.there <= group.here) continue;
    group.first = count;
    count += std::exchange(group.count, 0);
  }
  shares_.resize(count);
  // Second pass: the sizes are known now, so the shares of a group lie side by side and
  // keep_peaks() can work on them in place.
  for (size_t i = 0; i < there_.size(); ++i) {
    Group& group = groups_[group_of_part_[i]];
    if (group.there > group.here) shares_[group.first + group.count++] = {there_[i], ns(there_[i])};
  }
  for (const Group& group : groups_)
    if (group.here > 0 && group.there > group.here) {
      Share* const first = shares_.data() + group.first;
      keep_peaks(first, first + group.count, group.there - group.here);
    }
}

const std::vector<Share>& Difference::shares(Path& later, Path& earlier, int budget) {
  compare(later, earlier, budget);
  keep_excess();
  // All excess together may not exceed the wait: one side's surplus in one stretch can be made up
  // for in another.
  const auto late = static_cast<double>(later.first_time() - earlier.first_time());
  keep_peaks(shares_.data(), shares_.data() + shares_.size(), late);
  double sum = 0;
  for (const Share& share : shares_) sum += share.ns;
  // What was looked at stands for the rest.
  if (sum > 0 && sum < late)
    for (Share& share : shares_) share.ns *= late / sum;
  shares_.erase(std::remove_if(shares_.begin(), shares_.end(),
                               [](const Share& share) { return share.ns <= 0; }),
                shares_.end());
  return shares_;
}

// Lowers the largest to one level, so that what they have above it adds up to `total`, and leaves
// that of each. Where all of them are less than `total`, they stay.
void Difference::keep_peaks(Share* begin, Share* end, double total) {
  sorted_.clear();
  for (const Share* at = begin; at != end; ++at) sorted_.push_back(at->ns);
  const double level = level_of_peaks(sorted_, total);
  if (level <= 0) return;
  for (Share* at = begin; at != end; ++at) at->ns = std::max(0.0, at->ns - level);
}

double level_of_peaks(std::vector<double>& values, double total) {
  if (std::accumulate(values.begin(), values.end(), 0.0) <= total) return 0;
  std::sort(values.begin(), values.end(), std::greater<>());
  double sum = 0, level = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    level = (sum - total) / static_cast<double>(i + 1);
    if (i + 1 == values.size() || values[i + 1] <= level) break;
  }
  return std::max(level, 0.0);
}

}  // namespace refrain::analysis::waits
