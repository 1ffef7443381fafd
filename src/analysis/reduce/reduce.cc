#include "analysis/reduce/reduce.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/reduce/segments.h"
#include "format/encode/encode.h"
#include "format/segments/reduced.h"
#include "format/segments/run_profile.h"
#include "format/trace_data.h"
#include "reader/internal.h"
#include "refrain/calls.h"
#include "similarity/evaluate.h"
#include "similarity/segment_profile.h"
#include "similarity/store.h"

namespace refrain::analysis::reduce {

namespace {

using format::RunProfile;
using similarity::GroupMember;
using similarity::Method;
using similarity::MethodSpec;
using similarity::ProcessGroup;
using similarity::ProfileSegment;
using similarity::SegmentProfile;

std::vector<Location> locations_of(const Trace& trace) {
  std::vector<Location> all;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank)
    for (const Location& location : trace.locations(rank)) all.push_back(location);
  return all;
}

// Segments of a rank stand for each other only where they are equal.
MethodSpec only_equal(MethodSpec spec) {
  if (spec.method == Method::kAuto) {
    spec.threshold = 1e-12;
  } else if (spec.matches_between_processes()) {
    spec.threshold = 0;
  }
  return spec;
}

class Reducer {
 public:
  Reducer(const Trace& trace, const ReduceOptions& options)
      : trace_(trace),
        options_(options),
        segments_(trace, options.source),
        locations_(locations_of(trace)) {
    options_.across = format::effective(options_.across, options_.method);
  }

  Result<Reduction> run() {
    const Result<RunProfile> all = profile_of_all();
    if (!all.ok()) return all.error();
    const auto reduced =
        finish_profile(*all, {options_.method, options_.source, options_.across, options_.step_ns});
    if (!reduced.ok()) return base::fail(reduced.error().message, trace_.name());
    encode(*all, *reduced);
    describe(*all);
    models(all->profile);
    return std::move(out_);
  }

 private:
  // Those of a rank first, as the recorder does it.
  Result<RunProfile> profile_of_all() {
    format::Uniter ranks(options_.method, options_.across);
    for (size_t i = 0; i < locations_.size();) {
      format::Uniter threads(options_.method, options_.across);
      const Rank rank = locations_[i].rank;
      for (; i < locations_.size() && locations_[i].rank == rank; ++i) {
        Result<RunProfile> profile = profile_of(locations_[i]);
        if (!profile.ok()) return profile.error();
        threads.add(std::move(*profile));
      }
      ranks.add(threads.finish());
    }
    return ranks.finish();
  }

  Result<RunProfile> profile_of(const Location& location) {
    similarity::StoreOptions how;
    how.method = options_.within_ranks ? options_.method : only_equal(options_.method);
    how.max_memory_bytes = options_.memory_bytes;
    if (!options_.within_ranks) {
      how.noise_ns = 0;
      how.floor_share = 0;
      if (!how.method.matches_between_processes()) how.method.method = Method::kRelDiff;
      how.method.threshold = how.method.method == Method::kAuto ? how.method.threshold : 0;
    }
    format::LocationMatcher matcher(how);
    format::ContextNames names;
    format::CutCounts counts;
    const Status read = segments_.read(
        location, &names, &counts, [&](const similarity::SegmentView& s) { matcher.segment(s); });
    if (!read.ok()) return read.error();
    out_.missing_calls += location.calls - counts.calls;
    auto profile =
        matcher.finish(static_cast<uint64_t>(location.rank), location.thread, names, counts);
    if (!profile.ok()) return base::fail(profile.error().message, trace_.name());
    return profile;
  }

  // By location, so that what belongs to a rank stands together.
  void encode(const RunProfile& all, const format::ReducedTimes& reduced) {
    std::vector<const GroupMember*> members(all.locations.size());
    for (const ProcessGroup& g : all.profile.groups)
      for (const GroupMember& m : g.members) members[m.rank] = &m;
    for (size_t i = 0; i < members.size(); ++i) {
      if (members[i] == nullptr || members[i]->starts_ns.empty()) continue;
      std::vector<uint32_t> numbers;
      for (const uint32_t id : all.profile.groups[reduced.group_of[i]].sequence)
        numbers.push_back(reduced.number_of[id]);
      format::TimeChunk chunk;
      std::tie(chunk.rank, chunk.thread) = all.locations[i];
      format::encode_location(reduced.representatives, reduced.info.step_ns,
                              static_cast<uint64_t>(members[i]->starts_ns[0]), numbers,
                              members[i]->lengths_ns, chunk, out_.times.bytes);
      out_.times.index.chunks.push_back(std::move(chunk));
    }
    out_.times.bytes += reduced.bytes;
    out_.times.index.segments = reduced.info;
  }

  void describe(const RunProfile& all) {
    out_.times.index.spec.mode = format::TimeMode::kSegments;
    out_.times.index.spec.method = to_text(options_.method);
    out_.locations = locations_.size();
    out_.calls = all.counts.calls;
    out_.divided = all.counts.divided;
    out_.marks = all.counts.marks;
    out_.groups = all.profile.groups.size();
    out_.spilled = all.spilled;
  }

  // Section 4.4, with the names of functions as those of events.
  void models(const SegmentProfile& profile) {
    std::vector<uint64_t> lengths;
    std::set<CallId> functions;
    std::vector<similarity::FullTraceRank> ranks(static_cast<size_t>(trace_.rank_count()));
    for (GroupId g = 0; g < trace_.group_count(); ++g) {
      similarity::FullTraceRank rank;
      std::set<CallId> of_group;
      RankReader reader(trace_, trace_.group_rank(g, 0));
      for (const Trace::Occurrence& o : trace_.occurrences(g)) {
        const std::string_view name = reader.signature(o.signature).name;
        if (functions.insert(trace_.call_of(o.signature)).second) lengths.push_back(name.size());
        of_group.insert(trace_.call_of(o.signature));
        rank.events += o.calls;
        rank.messages += o.calls * messages_of_call(trace_.call_of(o.signature));
      }
      rank.unique_events = of_group.size();
      for (uint64_t i = 0; i < trace_.group_size(g); ++i)
        ranks[static_cast<size_t>(trace_.group_rank(g, i))] = rank;
    }
    std::sort(lengths.begin(), lengths.end());
    const double name_bytes =
        lengths.empty() ? 0 : static_cast<double>(lengths[lengths.size() / 2]);
    out_.full_model_bytes = similarity::full_trace_bytes(ranks, name_bytes);
    std::vector<similarity::TraceProfileGroup> groups;
    std::vector<bool> counted(profile.segments.size());
    for (const ProcessGroup& g : profile.groups) {
      similarity::TraceProfileGroup group{g.members.size(), g.sequence.size(), {}};
      for (const uint32_t id : g.sequence) {
        if (counted[id]) continue;
        counted[id] = true;
        const ProfileSegment& s = profile.segments[id];
        group.segments.push_back({s.stamps.size() / 2, segments_.messages_of(s.structure)});
      }
      groups.push_back(std::move(group));
    }
    out_.reduced_model_bytes =
        similarity::trace_profile_bytes(functions.size(), name_bytes, groups);
  }

  const Trace& trace_;
  ReduceOptions options_;
  SegmentReader segments_;
  const std::vector<Location> locations_;
  Reduction out_;
};

format::TraceData with_times(const Trace& trace, const Reduction& reduction) {
  format::TraceData data = reader::data_of(trace);
  data.meta.text["timing"] = reduction.times.index.spec.to_string();
  data.times = reduction.times;
  return data;
}

}  // namespace

Result<Reduction> reduce(const Trace& trace, const ReduceOptions& options) {
  if (!trace.has_times())
    return base::unsupported(
        "there are no times of single calls in this trace: record with --timing exact",
        trace.name());
  const auto spec = reader::time_spec_of(trace);
  if (!spec.ok()) return spec.error();
  if (spec->mode == format::TimeMode::kSegments)
    return base::usage("the times are reduced already: " + spec->to_string(), trace.name());
  return Reducer(trace, options).run();
}

Result<std::string> encode(const Trace& trace, const Reduction& reduction) {
  return format::encode(with_times(trace, reduction));
}

Result<Trace> rebuilt(const Trace& trace, const Reduction& reduction) {
  return reader::trace_of(with_times(trace, reduction), trace.name(), 0);
}

}  // namespace refrain::analysis::reduce
