#include "analysis/reduce/segments.h"

#include <optional>
#include <string>
#include <utility>

#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace refrain::analysis::reduce {

using format::CutCall;
using format::LoopPlan;
using format::Mark;
using format::SegmentCutter;

uint64_t messages_of_call(CallId call) {
  const mpi::CallMeaning& meaning = mpi::meaning_of(call);
  if (meaning.how == mpi::How::kPersistent) return 0;
  return uint64_t{meaning.does_any(mpi::kDoesSend)} + uint64_t{meaning.does_any(mpi::kDoesReceive)};
}

SegmentReader::SegmentReader(const Trace& trace, format::SegmentSource source)
    : trace_(trace), source_(source) {}
SegmentReader::~SegmentReader() = default;

const LoopPlan& SegmentReader::plan_of(const Location& location, RankReader& rank) {
  const GroupId group = *trace_.group_of(location.rank);
  std::unique_ptr<LoopPlan>& plan = plans_[{group, location.grammar}];
  if (plan != nullptr) return *plan;
  const format::TraceData& data = reader::data_of(trace_);
  const std::vector<uint32_t>& signatures = data.groups[group].signatures;
  plan = std::make_unique<LoopPlan>(format::plan_loops(
      data.grammars[location.grammar], location.calls, signatures, [&](size_t terminal) {
        const Signature& s = rank.signature(signatures[terminal]);
        return format::mix_keys(s.call, s.site);
      }));
  return *plan;
}

uint64_t SegmentReader::messages_of(uint64_t structure) const {
  const auto known = messages_.find(structure);
  return known == messages_.end() ? 0 : known->second;
}

namespace {

std::string text_of(const Signature& call, std::string_view argument) {
  const Value* value = call.find(argument);
  return value == nullptr ? std::string() : std::string(value->text);
}

std::string name_of_function(const Trace& trace, const Signature& call) {
  const Value* const function = call.find("function");
  if (function == nullptr || function->kind != ValueKind::kFunction) return {};
  const std::optional<Site> site = trace.site(function->id);
  if (!site || site->offset < 0) return {};
  return format::function_name(site->module, site->offset);
}

}  // namespace

Mark mark_of(const Trace& trace, const Signature& call) {
  switch (call.call) {
    case mpi::krefrain_region_begin: return {Mark::Kind::kBegin, text_of(call, "name")};
    case mpi::krefrain_region_end: return {Mark::Kind::kEnd, text_of(call, "name")};
    case mpi::krefrain_function_enter: return {Mark::Kind::kBegin, name_of_function(trace, call)};
    case mpi::krefrain_function_leave: return {Mark::Kind::kEnd, name_of_function(trace, call)};
    case mpi::krefrain_instance: return {Mark::Kind::kInstance, text_of(call, "name")};
    case mpi::kMPI_Pcontrol: {
      const Value* level = call.find("level");
      return format::mark_of_level(level == nullptr ? 0 : level->integer_or(0));
    }
    default: return {};
  }
}

std::unique_ptr<SegmentCutter> SegmentReader::cutter_of(const Location& location, RankReader& rank,
                                                        format::ContextNames* names,
                                                        format::CutCounts* counts,
                                                        const SegmentVisitor& visit) {
  const auto take = [this, &visit](const similarity::SegmentView& segment, uint64_t messages) {
    visit(segment);
    messages_.try_emplace(segment.structure, messages);
  };
  if (source_ == format::SegmentSource::kMarks)
    return std::make_unique<format::MarkCutter>(names, counts, take);
  return std::make_unique<format::LoopCutter>(plan_of(location, rank),
                                              reader::data_of(trace_).grammars[location.grammar],
                                              names, counts, take);
}

Status SegmentReader::read(const Location& location, format::ContextNames* names,
                           format::CutCounts* counts, const SegmentVisitor& visit) {
  if (!trace_.group_of(location.rank)) return base::Done{};
  RankReader rank(trace_, location.rank, Times::kRead);
  Result<Cursor> cursor = rank.cursor(location.thread);
  if (!cursor.ok()) return cursor.error();
  const auto cutter = cutter_of(location, rank, names, counts, visit);
  struct Known {
    Mark mark;
    uint64_t messages = 0;
  };
  std::unordered_map<SignatureId, Known> signatures;
  const Call* call = nullptr;
  while ((call = cursor->next()) != nullptr && call->has_time) {
    const Signature& signature = *call->signature;
    const auto [at, is_new] = signatures.try_emplace(signature.id);
    Known& known = at->second;
    if (is_new) known = {mark_of(trace_, signature), messages_of_call(signature.call)};
    cutter->call({signature.id, signature.call, &known.mark, static_cast<int64_t>(call->begin_ns),
                  static_cast<int64_t>(call->end_ns), known.messages});
  }
  cutter->finish();
  return cursor->time_status();
}

}  // namespace refrain::analysis::reduce
