#include "analysis/reduce/segments.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "format/time/segment_encoder.h"
#include "format/trace_data.h"
#include "grammar/builder.h"
#include "grammar/walk.h"
#include "mpi/call_ids.h"
#include "refrain/calls.h"
#include "similarity/loops.h"

namespace refrain::analysis::reduce {

namespace {

using similarity::ContextTable;
using similarity::LoopSegment;
using similarity::LoopWalk;
using similarity::SegmentView;
using similarity::StructureKey;

uint64_t mix(uint64_t a, uint64_t b) {
  StructureKey key;
  key.append(a);
  key.append(b);
  return key.value();
}

uint64_t key_of(std::string_view text) { return std::hash<std::string_view>()(text); }

std::string_view text_of(const Signature& call, std::string_view argument) {
  const Value* value = call.find(argument);
  return value == nullptr ? std::string_view() : std::string_view(value->text);
}

}  // namespace

uint64_t messages_of_call(std::string_view function) {
  if (!function.starts_with("MPI_") || function.find("_init") != std::string_view::npos) return 0;
  if (function.starts_with("MPI_Sendrecv")) return 2;
  for (const std::string_view part : {"send", "Send", "recv", "Recv"})
    if (function.find(part) != std::string_view::npos) return 1;
  return 0;
}

// Collects the stamps of calls until the segment is cut.
struct SegmentReader::Collector {
  void call(const Call& c) {
    const auto begin = static_cast<int64_t>(c.begin_ns), end = static_cast<int64_t>(c.end_ns);
    if (is_first) start_ns = end_ns = begin;
    is_first = false;
    if (stamps.empty()) start_ns = end_ns;
    stamps.push_back(static_cast<double>(begin - start_ns));
    stamps.push_back(static_cast<double>(end - start_ns));
    end_ns = end;
    messages += messages_of_call(c.signature->name);
  }
  // Without calls: nothing.
  void cut(uint32_t context, uint64_t structure, const SegmentVisitor& visit,
           std::unordered_map<uint64_t, uint64_t>* messages_of) {
    if (stamps.empty()) return;
    stamps.push_back(stamps.back());
    visit(SegmentView{context, structure, start_ns, stamps});
    messages_of->try_emplace(structure, messages);
    stamps.clear();
    messages = 0;
  }

  bool is_first = true;
  int64_t start_ns = 0, end_ns = 0;
  std::vector<double> stamps;
  uint64_t messages = 0;
};

// Which grammar's loops are a location's segments, and what stands for each terminal in it.
struct SegmentReader::Plan {
  std::optional<grammar::Grammar> own;  // of functions and call paths; else the recorded one
  std::vector<uint64_t> keys;
};

SegmentReader::SegmentReader(const Trace& trace, format::SegmentSource source)
    : trace_(trace), source_(source) {}
SegmentReader::~SegmentReader() = default;

namespace {

// Segments of more calls than that are hardly iterations of a loop.
constexpr uint64_t kManyCalls = 32;

uint64_t count_segments(const grammar::Grammar& grammar) {
  ContextTable contexts;
  LoopWalk walk(grammar, {}, &contexts);
  uint64_t count = 0;
  for (LoopSegment segment; walk.next(&segment);) ++count;
  return count;
}

}  // namespace

const SegmentReader::Plan& SegmentReader::plan_of(const Location& location, RankReader& rank) {
  const GroupId group = *trace_.group_of(location.rank);
  std::unique_ptr<Plan>& plan = plans_[{group, location.grammar}];
  if (plan != nullptr) return *plan;
  plan = std::make_unique<Plan>();
  const format::TraceData& data = trace_.data();
  // Signatures mean the same on all ranks.
  const std::vector<uint32_t>& signatures = data.groups[group].signatures;
  plan->keys.assign(signatures.begin(), signatures.end());
  const grammar::Grammar& recorded = data.grammars[location.grammar];
  const uint64_t segments = count_segments(recorded);
  if (location.calls <= kManyCalls * segments) return *plan;

  std::vector<uint64_t> keys;
  std::unordered_map<uint64_t, grammar::Terminal> known;
  std::vector<grammar::Terminal> terminals;  // by that of the recorded grammar
  for (const uint32_t id : signatures) {
    const Signature& signature = rank.signature(id);
    const uint64_t key = mix(mix(signature.call, signature.site), 1);
    const auto [at, is_new] = known.try_emplace(key, static_cast<grammar::Terminal>(keys.size()));
    if (is_new) keys.push_back(key);
    terminals.push_back(at->second);
  }
  if (keys.size() == signatures.size()) return *plan;
  grammar::Builder builder;
  for (grammar::Cursor cursor(recorded); !cursor.at_end();)
    builder.append(terminals[cursor.next()]);
  grammar::Grammar made = builder.finish();
  if (count_segments(made) < 2 * segments) return *plan;
  plan->own = std::move(made);
  plan->keys = std::move(keys);
  return *plan;
}

uint64_t SegmentReader::messages_of(uint64_t structure) const {
  const auto known = messages_.find(structure);
  return known == messages_.end() ? 0 : known->second;
}

uint32_t SegmentReader::context_named(const std::string& name) {
  const auto [at, is_new] = by_name_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return at->second;
}

Status SegmentReader::read(const Location& location, const SegmentVisitor& visit) {
  return source_ == format::SegmentSource::kLoops ? read_loops(location, visit)
                                                  : read_marks(location, visit);
}

Status SegmentReader::read_loops(const Location& location, const SegmentVisitor& visit) {
  const format::TraceData& data = trace_.data();
  if (!trace_.group_of(location.rank)) return base::Done{};
  RankReader rank(trace_, location.rank, Times::kRead);
  Result<Cursor> cursor = rank.cursor(location.thread);
  if (!cursor.ok()) return cursor.error();
  const Plan& plan = plan_of(location, rank);
  similarity::LoopOptions options;
  options.call_keys = plan.keys;
  // Numbers of contexts are those of one grammar; names hold for all.
  ContextTable contexts;
  std::vector<uint32_t> known;
  LoopWalk walk(plan.own ? *plan.own : data.grammars[location.grammar], options, &contexts);
  Collector collector;
  for (LoopSegment segment; walk.next(&segment);) {
    while (known.size() < contexts.size())
      known.push_back(context_named(contexts.name(static_cast<uint32_t>(known.size()))));
    const uint32_t context = known[segment.context];
    divided_ += segment.calls > format::kMaxCallsPerSegment ? 1 : 0;
    for (uint64_t done = 0; done < segment.calls;) {
      const uint64_t part = std::min<uint64_t>(segment.calls - done, format::kMaxCallsPerSegment);
      uint64_t taken = 0;
      const Call* call = nullptr;
      for (; taken < part && (call = cursor->next()) != nullptr && call->has_time; ++taken)
        collector.call(*call);
      calls_ += taken;
      const bool is_whole = taken == segment.calls;
      collector.cut(context,
                    is_whole ? segment.structure : mix(mix(segment.structure, done), taken), visit,
                    &messages_);
      if (taken < part) return cursor->time_status();
      done += part;
    }
  }
  return cursor->time_status();
}

namespace {

// What MarkSegmenter cuts is only where: times are those of the collector.
class Cuts final : public similarity::SegmentConsumer {
 public:
  void segment(const SegmentView& view) override {
    is_cut = true;
    context = view.context;
    structure = view.structure;
  }
  bool is_cut = false;
  uint32_t context = 0;
  uint64_t structure = 0;
};

// The first level of MPI_Pcontrol that the recorder leaves to its user.
constexpr int64_t kFirstFreeLevel = 3;

enum class MarkKind : uint8_t { kNone, kBegin, kEnd, kInstance };

struct Mark {
  MarkKind kind = MarkKind::kNone;
  std::string name;
};

// Module and offset in it, as everywhere.
std::string name_of_function(const Trace& trace, const Signature& call) {
  const Value* const function = call.find("function");
  if (function == nullptr || function->kind != ValueKind::kFunction) return {};
  const std::optional<Site> site = trace.site(function->id);
  if (!site || site->offset < 0) return {};
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(site->offset));
  return std::string(site->module.substr(site->module.rfind('/') + 1)) + offset;
}

// MPI_Pcontrol(n) from 3 on is instance `phase_n`.
Mark mark_of(const Trace& trace, const Signature& call) {
  switch (call.call) {
    case mpi::krefrain_region_begin: return {MarkKind::kBegin, std::string(text_of(call, "name"))};
    case mpi::krefrain_region_end: return {MarkKind::kEnd, std::string(text_of(call, "name"))};
    case mpi::krefrain_function_enter: return {MarkKind::kBegin, name_of_function(trace, call)};
    case mpi::krefrain_function_leave: return {MarkKind::kEnd, name_of_function(trace, call)};
    case mpi::krefrain_instance: return {MarkKind::kInstance, std::string(text_of(call, "name"))};
    case mpi::kMPI_Pcontrol: {
      const Value* level = call.find("level");
      const int64_t n = level == nullptr ? 0 : level->integer_or(0);
      if (n >= kFirstFreeLevel) return {MarkKind::kInstance, "phase_" + std::to_string(n)};
      return {};
    }
    default: return {};
  }
}

void add(similarity::MarkCounts* to, const similarity::MarkCounts& from) {
  to->segments += from.segments;
  to->ends_without_begin += from.ends_without_begin;
  to->crossed += from.crossed;
  to->left_open += from.left_open;
  to->too_deep += from.too_deep;
  to->divided += from.divided;
  to->lost_calls += from.lost_calls;
}

}  // namespace

Status SegmentReader::read_marks(const Location& location, const SegmentVisitor& visit) {
  RankReader rank(trace_, location.rank, Times::kRead);
  Result<Cursor> cursor = rank.cursor(location.thread);
  if (!cursor.ok()) return cursor.error();
  Cuts cuts;
  // A segment is cut by the segmenter before the call that divides it is taken by the collector.
  similarity::MarkSegmenter segmenter(&cuts, &mark_contexts_, 0, format::kMaxCallsPerSegment);
  Collector collector;
  const auto hand_over = [&] {
    if (!cuts.is_cut) return;
    cuts.is_cut = false;
    collector.cut(context_named(mark_contexts_.name(cuts.context)), cuts.structure, visit,
                  &messages_);
  };
  std::unordered_map<SignatureId, Mark> marks;
  const Call* call = nullptr;
  while ((call = cursor->next()) != nullptr && call->has_time) {
    const auto [at, is_new] = marks.try_emplace(call->signature->id);
    if (is_new) at->second = mark_of(trace_, *call->signature);
    const Mark& mark = at->second;
    const uint64_t key = key_of(mark.name);
    if (mark.kind == MarkKind::kBegin) segmenter.region_begin(key, mark.name, collector.end_ns);
    if (mark.kind == MarkKind::kInstance) segmenter.instance(key, mark.name, collector.end_ns);
    hand_over();
    // Every number of an instance is a signature of its own; what it is called is not.
    const uint64_t call_key =
        mark.kind == MarkKind::kNone ? call->signature->id : mix(call->signature->call, key);
    segmenter.call(call_key, static_cast<int64_t>(call->begin_ns),
                   static_cast<int64_t>(call->end_ns));
    hand_over();
    collector.call(*call);
    ++calls_;
    if (mark.kind == MarkKind::kEnd) segmenter.region_end(key, collector.end_ns);
    hand_over();
  }
  segmenter.finish(collector.end_ns);
  hand_over();
  add(&marks_, segmenter.counts());
  divided_ += segmenter.counts().divided;
  return cursor->time_status();
}

}  // namespace refrain::analysis::reduce
