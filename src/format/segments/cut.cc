#include "format/segments/cut.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "format/time/segment_encoder.h"
#include "grammar/builder.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format {

using similarity::ContextTable;
using similarity::LoopSegment;
using similarity::LoopWalk;
using similarity::StructureKey;

uint64_t mix_keys(uint64_t a, uint64_t b) {
  StructureKey key;
  key.append(a);
  key.append(b);
  return key.value();
}

uint64_t key_of_name(std::string_view name) { return std::hash<std::string_view>()(name); }

Mark mark_of_level(int64_t level) {
  // Those below are the recorder's.
  constexpr int64_t kFirstFreeLevel = 3;
  if (level < kFirstFreeLevel) return {};
  return {Mark::Kind::kInstance, "phase_" + std::to_string(level)};
}

std::string function_name(std::string_view module, int64_t offset) {
  char text[32];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(offset));
  return std::string(module.substr(module.rfind('/') + 1)) + text;
}

namespace {

uint64_t key_of_mark(const CutCall& call) {
  return call.mark->name.empty() ? 0 : key_of_name(call.mark->name);
}

}  // namespace

uint64_t structure_key(const CutCall& call) {
  const bool is_mark = call.mark != nullptr && call.mark->kind != Mark::Kind::kNone;
  return is_mark ? mix_keys(call.call, key_of_mark(call)) : call.key;
}

uint32_t ContextNames::number_of(const std::string& name) {
  const auto [at, is_new] = by_name_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return at->second;
}

void CutCounts::add(const CutCounts& other) {
  calls += other.calls;
  divided += other.divided;
  marks.segments += other.marks.segments;
  marks.ends_without_begin += other.marks.ends_without_begin;
  marks.crossed += other.marks.crossed;
  marks.left_open += other.marks.left_open;
  marks.too_deep += other.marks.too_deep;
  marks.divided += other.marks.divided;
  marks.lost_calls += other.marks.lost_calls;
}

void SegmentCutter::collect(const CutCall& call) {
  if (is_first_) start_ns_ = end_ns_ = call.begin_ns;
  is_first_ = false;
  if (stamps_.empty()) start_ns_ = end_ns_;
  stamps_.push_back(static_cast<double>(call.begin_ns - start_ns_));
  stamps_.push_back(static_cast<double>(call.end_ns - start_ns_));
  end_ns_ = call.end_ns;
  messages_ += call.messages;
  ++counts_->calls;
}

void SegmentCutter::cut(uint32_t context, uint64_t structure) {
  if (stamps_.empty()) return;
  stamps_.push_back(stamps_.back());
  visit_({context, structure, start_ns_, stamps_}, messages_);
  stamps_.clear();
  messages_ = 0;
}

namespace {

// Segments of more calls than that are hardly iterations of a loop.
constexpr uint64_t kManyCalls = 32;

}  // namespace

uint64_t count_segments(const grammar::Grammar& grammar) {
  ContextTable contexts;
  LoopWalk walk(grammar, {}, &contexts);
  uint64_t count = 0;
  for (LoopSegment segment; walk.next(&segment);) ++count;
  return count;
}

LoopPlan plan_loops(const grammar::Grammar& recorded, uint64_t calls,
                    std::span<const uint32_t> signatures,
                    const std::function<uint64_t(size_t)>& function_and_path) {
  LoopPlan plan;
  plan.keys.assign(signatures.begin(), signatures.end());
  const uint64_t segments = count_segments(recorded);
  if (calls <= kManyCalls * segments) return plan;
  std::vector<uint64_t> keys;
  std::unordered_map<uint64_t, grammar::Terminal> known;
  std::vector<grammar::Terminal> terminals;  // by that of the recorded grammar
  for (size_t t = 0; t < signatures.size(); ++t) {
    const uint64_t key = function_and_path(t);
    const auto [at, is_new] = known.try_emplace(key, static_cast<grammar::Terminal>(keys.size()));
    if (is_new) keys.push_back(key);
    terminals.push_back(at->second);
  }
  if (keys.size() == signatures.size()) return plan;
  grammar::Builder builder;
  for (grammar::TerminalCursor cursor(recorded); !cursor.at_end();)
    builder.append(terminals[cursor.next()]);
  grammar::Grammar made = builder.finish();
  if (count_segments(made) < 2 * segments) return plan;
  plan.own = std::move(made);
  plan.keys = std::move(keys);
  return plan;
}

namespace {

similarity::LoopOptions options_of(const LoopPlan& plan) {
  similarity::LoopOptions options;
  options.call_keys = plan.keys;
  return options;
}

}  // namespace

LoopCutter::LoopCutter(const LoopPlan& plan, const grammar::Grammar& recorded, ContextNames* names,
                       CutCounts* counts, SegmentVisitor visit)
    : SegmentCutter(names, counts, std::move(visit)),
      walk_(plan.own ? *plan.own : recorded, options_of(plan), &contexts_) {}

void LoopCutter::call(const CutCall& call) {
  if (before_ + taken_ == segment_.calls) {
    if (!walk_.next(&segment_)) return;
    // Numbers of contexts are those of one grammar; names hold for all.
    while (known_.size() < contexts_.size())
      known_.push_back(names_->number_of(contexts_.name(static_cast<uint32_t>(known_.size()))));
    before_ = taken_ = 0;
    counts_->divided += segment_.calls > kMaxCallsPerSegment ? 1 : 0;
  }
  collect(call);
  ++taken_;
  if (taken_ == kMaxCallsPerSegment || before_ + taken_ == segment_.calls) end_part();
}

void LoopCutter::end_part() {
  const bool is_whole = taken_ == segment_.calls;
  cut(known_[segment_.context],
      is_whole ? segment_.structure : mix_keys(mix_keys(segment_.structure, before_), taken_));
  before_ += std::exchange(taken_, 0);
}

void LoopCutter::finish() {
  if (taken_ > 0) end_part();
}

// A segment is cut by the segmenter before the call that divides it is collected.
MarkCutter::MarkCutter(ContextNames* names, CutCounts* counts, SegmentVisitor visit)
    : SegmentCutter(names, counts, std::move(visit)),
      segmenter_(this, &contexts_, 0, kMaxCallsPerSegment) {}

void MarkCutter::segment(const similarity::SegmentView& view) {
  is_cut_ = true;
  context_ = view.context;
  structure_ = view.structure;
}

void MarkCutter::hand_over() {
  if (!std::exchange(is_cut_, false)) return;
  cut(names_->number_of(contexts_.name(context_)), structure_);
}

void MarkCutter::call(const CutCall& call) {
  const Mark::Kind kind = call.mark == nullptr ? Mark::Kind::kNone : call.mark->kind;
  const uint64_t key = kind == Mark::Kind::kNone ? 0 : key_of_mark(call);
  if (kind == Mark::Kind::kBegin) segmenter_.region_begin(key, call.mark->name, end_ns());
  if (kind == Mark::Kind::kInstance) segmenter_.instance(key, call.mark->name, end_ns());
  hand_over();
  segmenter_.call(structure_key(call), call.begin_ns, call.end_ns);
  hand_over();
  collect(call);
  if (kind == Mark::Kind::kEnd) segmenter_.region_end(key, end_ns());
  hand_over();
}

void MarkCutter::finish() {
  segmenter_.finish(end_ns());
  hand_over();
  CutCounts mine;
  mine.marks = segmenter_.counts();
  mine.divided = mine.marks.divided;
  counts_->add(mine);
}

}  // namespace refrain::format
