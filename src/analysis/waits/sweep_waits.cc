// What a call waited for, of all that it could not end before; and waiting that the patterns do not
// know.

#include <algorithm>

#include "analysis/waits/sweep.h"
#include "events/payload.h"

namespace refrain::analysis::waits {

// Its send ended before its receive was there: the library sends so much without waiting for that.
void Sweep::note_eager(const Message& message) {
  // Epochs of windows are sent through the same table, and say nothing of the library's limit.
  if (message.comm == kNoComm) return;
  if (message.comm >= eager_.size()) eager_.resize(size_t{message.comm} + 1);
  // One more than the bytes, so that 0 means "not known" and a message of no bytes can be a proof,
  // too.
  eager_[message.comm] = std::max(eager_[message.comm], events::add(message.bytes, 1));
}

bool Sweep::was_eager(const Message& message) const {
  return message.is_standard && message.comm < eager_.size() &&
         message.bytes < eager_[message.comm];
}

// A call that needs several things waits for the last one to be ready. A send whose receive came
// last may have waited for it, or not, and its call for something else: then the trace decides by
// where the call ended, unless the message is so small that libraries send it at once. What was
// there before the call is no wait, unless it was polled for.
const Sweep::Release* Sweep::choose(const LocationState& l) {
  const Release* certain = nullptr;
  const Release* possible = nullptr;
  for (const Release& release : releases_) {
    const Release*& last = release.is_possible ? possible : certain;
    if (last == nullptr || release.time > last->time) last = &release;
  }
  // What is certain and later has kept the call in any case.
  if (possible == nullptr || (certain != nullptr && possible->time <= certain->time))
    return certain;
  // Unless both were still open when the call began, only the send can explain that it took so
  // long.
  const bool both_fit = certain != nullptr && certain->time > ready_since(l);
  if (!both_fit) return possible;
  if (possible->is_small) return certain;
  return possible->time - certain->time > l.end - possible->time ? possible : certain;
}

void Sweep::emit(LocationState& l) {
  const Release* chosen = choose(l);
  const bool blocks = chosen != nullptr && chosen->is_possible;
  for (const Release& release : releases_)
    // In the ideal run the same things are waited for as here: a send that was not blocked here is
    // not there.
    if (!release.is_possible || blocks) ideal_ = std::max(ideal_, release.ideal);
  if (!blocks)  // what was not waited for is not told
    sent_.erase(std::remove_if(sent_.begin(), sent_.end(),
                               [&](MessageId id) { return !messages_.at(id).is_synchronous; }),
                sent_.end());
  // From here on nothing has explained the time in the call yet; log_hidden() and the completion of
  // a collective take from the rest.
  uint64_t from = l.begin;
  const bool is_polled = ends_poll(l);
  if (chosen != nullptr) {
    const uint64_t to = std::min(chosen->time, l.end);
    Wait wait;
    wait.waiter = l.node;
    wait.causer = chosen->node;
    wait.begin = l.begin;
    wait.end = to;
    wait.pattern = chosen->pattern;
    if (to > l.begin) {
      wait.ns = options_.window.part(l.begin, to);
      add_waiting(l, wait.ns);
      add_severity(l, wait.pattern, l.begin, to);
      tell_wait(l, l.begin, to);
      if (wait.causer == kNoNode) counts_.unassigned_ns += wait.ns;
      from = to;
    }
    // The tests before this call were counted as waiting when they ended. Now their cause is known:
    // one entry of the log stands for all of the time since the first of them, and only its causes
    // are new, not its severity.
    if (is_polled && to > l.poll.begin && l.poll.begin < l.begin) {
      wait.waiter = l.poll.node;
      wait.begin = l.poll.begin;
      wait.ns += l.poll.ns;
      if (wait.causer != kNoNode) counts_.unassigned_ns -= l.poll.ns;
    }
    if (online_.tally != nullptr && chosen->causer >= 0)
      online_.tally->of(chosen->causer).causing_ns += wait.ns;
    if (wait.end > wait.begin) log_wait(l, wait, to > l.begin || to >= l.work_end);
  }
  if (is_polled) l.poll.is_open = false;
  log_hidden(l, from);
  if (has_completion_ && l.end > std::max(first_left_, from))
    add_severity(l, completion_, std::max(first_left_, from), l.end);
  if (l.current.op->is_poll) note_poll(l);
}

// Its end, which is known now.
void Sweep::end_node(LocationState& l) {
  Node& node = log_.nodes.change(l.node);
  node.end = l.end;
  if (!l.current.op->is_poll) {
    l.work_end = l.end;
    return;
  }
  l.polled_ns += l.end - l.begin;
  // A poll is one node over many calls: which share of it was between them is all that paths need.
  const uint64_t whole = node.end - node.begin;
  node.between =
      whole > l.polled_ns
          ? static_cast<float>(1 - static_cast<double>(l.polled_ns) / static_cast<double>(whole))
          : 0;
}

// Where the rank went on with something else after the wait was over, the call did not begin
// because of that: then it is on no path.
void Sweep::log_wait(LocationState& l, Wait wait, bool is_on_path) {
  counts_.waits += wait.ns > 0 && options_.window.has(wait.begin) ? 1 : 0;
  Node& node = log_.nodes.change(l.node);
  if (is_on_path) wait.earlier = node.waits;
  const WaitId id = log_.waits.append(wait);
  if (is_on_path) node.waits = id;
}

// A rank in the middle of a collective's tree waits for ranks that no pattern asks it to wait for.
// That its call is over soon after the last of them came says so. Without this the call would look
// slow, and its rank be blamed for it.
void Sweep::log_hidden(LocationState& l, uint64_t from) {
  const CollectiveKind kind = l.current.op->collective;
  const bool is_tree = kind == CollectiveKind::kToRoot || kind == CollectiveKind::kFromRoot ||
                       kind == CollectiveKind::kScan;
  if (!l.in_instance || !is_tree) return;
  const Instance* instance = instances_.find(l.instance);
  if (instance == nullptr || instance->all.node == l.node) return;
  const uint64_t last = instance->all.begin;
  // Half of the call is the limit: if more of it passed after the last one came than before, the
  // call was slow for another reason.
  if (last <= from || last >= l.end || l.end - last > last - l.begin) return;
  Wait wait;
  wait.waiter = l.node;
  wait.causer = instance->all.node;
  wait.begin = from;
  wait.end = last;
  log_wait(l, wait, true);
}

// The last thread that a rank has left goes on after all others have ended: it has waited for the
// last of them, without MPI.
void Sweep::join(LocationState& l) {
  RankState& rank = rank_of(l);
  Wait wait;
  wait.waiter = l.node;
  wait.causer = rank.joined;
  wait.begin = l.end_of_last;
  wait.end = rank.joined_ns;
  if (wait.end > wait.begin && wait.end <= l.begin) log_wait(l, wait, true);
  rank.joined = kNoNode;
}

void Sweep::add_waiting(const LocationState& l, uint64_t ns) {
  rank_times_[static_cast<size_t>(l.rank)].waiting_ns += ns;
  if (online_.tally != nullptr) online_.tally->of(l.rank).waiting_ns += ns;
}

void Sweep::add_severity(const LocationState& l, Pattern pattern, uint64_t since, uint64_t until) {
  const uint64_t ns = options_.window.part(since, until);
  const bool counts = options_.window.has(l.begin);
  // Also a wait of which nothing is in the window counts, if its call began there: the windows that
  // divide a run must add up to it.
  if (ns == 0 && !counts) return;
  std::vector<Total>& totals = rank_of(l).states.of(*l.current.op).totals;
  // A list and no map: an op has one pattern, seldom two.
  auto total = std::find_if(totals.begin(), totals.end(),
                            [&](const Total& t) { return t.pattern == pattern; });
  if (total == totals.end()) total = totals.insert(total, {pattern, 0, 0});
  total->ns += ns;
  total->count += counts ? 1 : 0;
  if (online_.tally == nullptr) return;
  online_.tally->of(pattern).ns += ns;
  online_.tally->of(pattern).count += counts ? 1 : 0;
}

}  // namespace refrain::analysis::waits
