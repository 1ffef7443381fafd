#include "analysis/iterations/cutter.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace refrain::analysis::iterations {

using format::Mark;

namespace {

constexpr size_t kMostKeys = 256;  // of a loop's calls
// Calls that are kept to find those inside of a later one.
constexpr size_t kMostKept = size_t{1} << 16;

}  // namespace

Cutter::Cutter(const std::set<std::string>& marks, const LoopPlan* plan, bool may_nest,
               std::function<void(const Segment&)> visit)
    : marks_(marks), may_nest_(may_nest), visit_(std::move(visit)) {
  if (plan != nullptr)
    walk_ = std::make_unique<similarity::LoopWalk>(plan->grammar, plan->options(), &contexts_);
}

void Cutter::call(const TimedKind& call) {
  const bool is_new_event =
      !(last_ != nullptr && last_->is_poll && call.kind->is_poll && last_->key == call.kind->key);
  if (is_first_) end_ns_ = call.begin_ns;
  is_first_ = false;
  if (walk_ != nullptr)
    loop_call(call, is_new_event);
  else
    mark_before(call);
  collect(call, is_new_event);
  if (walk_ == nullptr) mark_after(call);
  last_ = call.kind;
}

void Cutter::loop_call(const TimedKind& call, bool is_new_event) {
  if (!is_new_event) return;
  if (left_ > 0) {
    --left_;
    return;
  }
  end();
  similarity::LoopSegment segment;
  if (!walk_->next(&segment)) {
    begin(-1, end_ns_, false);
    return;
  }
  while (loop_of_context_.size() < contexts_.size()) {
    const auto context = static_cast<uint32_t>(loop_of_context_.size());
    const bool is_loop = contexts_.name(context).find("_loop_") != std::string::npos;
    loop_of_context_.push_back(is_loop ? static_cast<int64_t>(loops_.size()) : -1);
    if (is_loop) loops_.emplace_back();
  }
  left_ = segment.calls - 1;
  begin(loop_of_context_[segment.context], end_ns_, false);
  (void)call;
}

int64_t Cutter::loop_of_mark(const std::string& name) {
  const auto known = std::find_if(loops_.begin(), loops_.end(),
                                  [&](const LocalLoop& loop) { return loop.name == name; });
  if (known != loops_.end()) return known - loops_.begin();
  loops_.push_back({name, {}, 0});
  return static_cast<int64_t>(loops_.size()) - 1;
}

// A region or instance that comes several times is an iteration where it is in no other one. An
// instance ends where the next one of its name begins, and with the region around it.
void Cutter::mark_before(const TimedKind& call) {
  const Mark& mark = call.kind->mark;
  if (mark.kind != Mark::Kind::kBegin && mark.kind != Mark::Kind::kInstance) {
    if (!is_collecting_) begin(-1, end_ns_, false);
    return;
  }
  const bool is_instance = mark.kind == Mark::Kind::kInstance;
  if (is_instance && iteration_depth_ > 0 && is_instance_ &&
      open_marks_[iteration_depth_ - 1] == mark.name) {
    open_marks_.resize(iteration_depth_ - 1);
    iteration_depth_ = 0;
  }
  const bool is_iteration = iteration_depth_ == 0 && marks_.contains(mark.name);
  if (is_iteration) {
    end();
    begin(loop_of_mark(mark.name), call.begin_ns, true);
    iteration_depth_ = open_marks_.size() + 1;
    is_instance_ = is_instance;
  } else if (!is_collecting_) {
    begin(-1, end_ns_, false);
  }
  if (is_iteration || !is_instance) open_marks_.push_back(mark.name);
}

void Cutter::mark_after(const TimedKind& call) {
  if (call.kind->mark.kind != Mark::Kind::kEnd) return;
  // The innermost one of that name, and what the program forgot to end in it.
  for (size_t depth = open_marks_.size(); depth > 0; --depth) {
    if (open_marks_[depth - 1] != call.kind->mark.name) continue;
    open_marks_.resize(depth - 1);
    if (iteration_depth_ < depth) return;
    end();
    iteration_depth_ = 0;
    return;
  }
}

void Cutter::begin(int64_t loop, uint64_t begin_ns, bool is_exact) {
  is_collecting_ = true;
  open_.loop = loop;
  open_.begin_ns = open_.end_ns = begin_ns;
  open_.is_exact = is_exact;
  open_.is_in_vain = true;
  open_.mpi_ns = open_.bytes = open_.calls = open_.longest_ns = 0;
  open_.structure = {};
  open_.longest = nullptr;
  open_.times.clear();
  open_.kept.clear();
}

// Calls come in the order of their ends: those inside of another one come before it, if need be in
// the segment before. What they took is a part of what it took.
void Cutter::add_time(uint64_t begin_ns, uint64_t end_ns) {
  const uint64_t from_ns = std::max(begin_ns, open_.begin_ns);
  const uint64_t ns = end_ns > from_ns ? end_ns - from_ns : 0;
  open_.mpi_ns += ns;
  if (!may_nest_) return;
  auto& kept = open_.kept;
  while (!kept.empty() && kept.back().first >= begin_ns) {
    open_.mpi_ns -= kept.back().second;
    kept.pop_back();
  }
  if (kept.size() == kMostKept)
    kept.erase(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(kMostKept / 2));
  kept.emplace_back(begin_ns, ns);
}

void Cutter::collect(const TimedKind& call, bool is_new_event) {
  const uint64_t end_ns = std::max(call.begin_ns, call.end_ns);
  open_.first_ns = open_.calls == 0 ? call.begin_ns : std::min(open_.first_ns, call.begin_ns);
  if (is_new_event || open_.times.empty()) {
    open_.times.push_back(call.begin_ns);
    open_.times.push_back(end_ns);
    open_.structure.append(call.kind->key);
  } else {
    open_.times.back() = end_ns;
  }
  const uint64_t ns = end_ns - call.begin_ns;
  add_time(call.begin_ns, end_ns);
  open_.bytes += call.bytes;
  ++open_.calls;
  open_.is_in_vain = open_.is_in_vain && call.kind->is_in_vain;
  open_.end_ns = std::max(open_.end_ns, end_ns);
  if (open_.longest == nullptr || ns > open_.longest_ns)
    open_.longest = call.kind, open_.longest_ns = ns;
  end_ns_ = std::max(end_ns_, end_ns);
  if (open_.loop < 0) return;
  LocalLoop& loop = loops_[static_cast<size_t>(open_.loop)];
  if (open_.calls == 1) ++loop.iterations;
  std::map<uint64_t, uint64_t>& calls = loop.calls;
  if (calls.size() < kMostKeys || calls.contains(call.kind->key)) ++calls[call.kind->key];
}

// The first iteration of a loop waits for the second one, which says how much of the time before
// its first call is the loop's.
void Cutter::end() {
  if (!std::exchange(is_collecting_, false) || open_.calls == 0) return;
  const uint64_t before = open_.first_ns > open_.begin_ns ? open_.first_ns - open_.begin_ns : 0;
  const bool goes_on = is_held_ ? held_.loop == open_.loop : false;
  release(goes_on ? before : UINT64_MAX);
  const bool is_next = last_loop_ == open_.loop;
  last_loop_ = open_.loop;
  if (open_.loop >= 0 && !open_.is_exact && !is_next) {
    std::swap(open_, held_);
    is_held_ = true;
    return;
  }
  hand_over(open_, UINT64_MAX);
}

void Cutter::release(uint64_t most_before_ns) {
  if (std::exchange(is_held_, false)) hand_over(held_, most_before_ns);
}

void Cutter::hand_over(Open& open, uint64_t most_before_ns) {
  const uint64_t first = std::max(open.first_ns, open.begin_ns);
  if (first - open.begin_ns > most_before_ns) open.begin_ns = first - most_before_ns;
  Segment out;
  out.loop = open.loop;
  out.begin_ns = open.begin_ns;
  out.end_ns = std::max(open.end_ns, open.begin_ns);
  out.mpi_ns = open.mpi_ns;
  out.bytes = open.bytes;
  out.calls = open.calls;
  out.is_in_vain = open.is_in_vain;
  out.structure = open.structure.value();
  out.longest = open.longest;
  out.longest_ns = open.longest_ns;
  stamps_.clear();
  for (const uint64_t ns : open.times)
    stamps_.push_back(static_cast<double>(ns) - static_cast<double>(open.begin_ns));
  stamps_.push_back(static_cast<double>(out.end_ns - out.begin_ns));
  out.stamps = stamps_;
  visit_(out);
}

void Cutter::finish() {
  end();
  release(UINT64_MAX);
}

}  // namespace refrain::analysis::iterations
