#include "analysis/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/reduce/segments.h"
#include "format/checksum.h"
#include "format/encode/encode.h"
#include "format/limits.h"
#include "format/time/segment_encoder.h"
#include "format/trace_data.h"
#include "refrain/calls.h"
#include "similarity/evaluate.h"
#include "similarity/profile.h"
#include "similarity/store.h"

namespace refrain::analysis::reduce {

namespace {

using format::AcrossRanks;
using similarity::GroupMember;
using similarity::Method;
using similarity::MethodSpec;
using similarity::ProcessGroup;
using similarity::Profile;
using similarity::ProfileSegment;

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

// Puts the representatives and groups of `from` beside those of `into`.
void put_beside(Profile* into, Profile from) {
  const auto base = static_cast<uint32_t>(into->segments.size());
  for (ProfileSegment& s : from.segments) into->segments.push_back(std::move(s));
  for (ProcessGroup& g : from.groups) {
    for (uint32_t& id : g.sequence) id += base;
    into->groups.push_back(std::move(g));
  }
  into->ranks += from.ranks;
  into->segments_before += from.segments_before;
  into->intra_matches += from.intra_matches;
  into->intra_possible += from.intra_possible;
}

// Profiles in the order of the ranks, united like the digits of a counter are carried: as often as
// the logarithm of their number, not as often as there are ranks.
class Uniter {
 public:
  Uniter(const MethodSpec& method, AcrossRanks across) : across_(across) {
    options_.method = method;
    options_.uniting = across == AcrossRanks::kSegments ? similarity::Uniting::kRepresentatives
                                                        : similarity::Uniting::kGroups;
  }

  void add(Profile profile) {
    if (across_ == AcrossRanks::kOff) {
      if (levels_.empty()) levels_.emplace_back();
      put_beside(&levels_[0].second, std::move(profile));
      return;
    }
    levels_.emplace_back(0, std::move(profile));
    while (levels_.size() > 1 && levels_.back().first == levels_[levels_.size() - 2].first) unite();
  }
  Profile finish() {
    while (levels_.size() > 1) unite();
    return levels_.empty() ? Profile() : std::move(levels_[0].second);
  }
  similarity::InterMatches matches(const Profile& profile) const {
    if (across_ == AcrossRanks::kOff) return {};
    const bool by_groups =
        options_.uniting == similarity::Uniting::kGroups && options_.method.method != Method::kAuto;
    return inter_matches(
        profile, by_groups ? similarity::Uniting::kGroups : similarity::Uniting::kRepresentatives);
  }

 private:
  void unite() {
    Profile last = std::move(levels_.back().second);
    levels_.pop_back();
    similarity::unite(&levels_.back().second, std::move(last), options_);
    ++levels_.back().first;
  }

  AcrossRanks across_;
  similarity::UniteOptions options_;
  std::vector<std::pair<int, Profile>> levels_;
};

class Reducer {
 public:
  Reducer(const Trace& trace, const ReduceOptions& options)
      : trace_(trace),
        options_(options),
        segments_(trace, options.source),
        locations_(locations_of(trace)) {
    // The only way in which auto shares representatives.
    if (options_.method.method == Method::kAuto && options_.across == AcrossRanks::kGroups)
      options_.across = AcrossRanks::kSegments;
  }

  Result<Reduction> run() {
    Uniter uniter(options_.method, options_.across);
    for (size_t i = 0; i < locations_.size(); ++i) {
      Result<Profile> profile = profile_of(i);
      if (!profile.ok()) return profile.error();
      uniter.add(std::move(*profile));
    }
    const Profile profile = uniter.finish();
    const Status encoded = encode(profile);
    if (!encoded.ok()) return encoded.error();
    describe(profile, uniter.matches(profile));
    models(profile);
    return std::move(out_);
  }

 private:
  Result<Profile> profile_of(size_t location) {
    similarity::StoreOptions how;
    how.method = options_.within_ranks ? options_.method : only_equal(options_.method);
    how.max_memory_bytes = options_.memory_bytes;
    if (!options_.within_ranks) {
      how.noise_ns = 0;
      how.floor_share = 0;
      if (!how.method.matches_between_processes()) how.method.method = Method::kRelDiff;
      how.method.threshold = how.method.method == Method::kAuto ? how.method.threshold : 0;
    }
    similarity::ProfileBuilder builder;
    similarity::SegmentStore store(how, &builder);
    const uint64_t before = segments_.calls();
    bool too_long = false;
    const Status read = segments_.read(locations_[location], [&](const similarity::SegmentView& s) {
      too_long = too_long || s.length_ns() >= static_cast<double>(format::kMaxSegmentNs);
      store.match(s);
    });
    if (!read.ok()) return read.error();
    if (too_long) return base::fail("a segment takes longer than can be", trace_.name());
    out_.missing_calls += locations_[location].calls - (segments_.calls() - before);
    const similarity::StoreReport report = store.report();
    if (report.lost_segments > 0 || report.lost_instances > 0)
      return base::fail("segments do not fit into the memory", trace_.name());
    info().segments += report.segments;
    info().loosenings += report.loosenings;
    info().threshold = std::max(info().threshold, report.threshold);
    out_.spilled += report.spilled_representatives;
    return builder.finish(store, static_cast<uint32_t>(location));
  }

  static format::Representative representative_of(const ProfileSegment& s) {
    format::Representative r;
    r.context = s.context;
    const size_t count = s.stamps.size() - 1;  // the last one is the end of the last call
    if (s.elastic < count) r.elastic = s.elastic;
    int64_t end = 0;
    for (size_t k = 0; k < count; k += 2) {
      end = std::max<int64_t>(end, std::llround(s.stamps[k + 1]));
      r.stamps.push_back(std::min<int64_t>(std::llround(s.stamps[k]), end));
      r.stamps.push_back(end);
    }
    return r;
  }

  uint32_t step_of(const Profile& profile) const {
    if (options_.step_ns > 0) return std::min(options_.step_ns, format::kMaxStepNs);
    if (options_.method.method != Method::kAuto) return 1;
    double length = 0, segments = 0;
    for (const ProcessGroup& g : profile.groups)
      for (const GroupMember& m : g.members) {
        for (const int64_t ns : m.lengths_ns) length += static_cast<double>(ns);
        segments += static_cast<double>(m.lengths_ns.size());
      }
    constexpr double kShare = 1.0 / 16;
    const double step = segments > 0 ? kShare * options_.method.threshold * length / segments : 1;
    return static_cast<uint32_t>(std::clamp(step, 1.0, similarity::StoreOptions().noise_ns));
  }

  Status encode(const Profile& profile) {
    // By location, so that what belongs to a rank stands together.
    std::vector<std::pair<const ProcessGroup*, const GroupMember*>> members(locations_.size());
    for (const ProcessGroup& g : profile.groups)
      for (const GroupMember& m : g.members) members[m.rank] = {&g, &m};
    info().step_ns = step_of(profile);
    // Numbered by first use: the coder expects new ones in order.
    constexpr uint32_t kUnused = UINT32_MAX;
    std::vector<uint32_t> number(profile.segments.size(), kUnused);
    std::vector<format::Representative> all;
    for (const auto& [group, member] : members) {
      if (group == nullptr) continue;
      for (const uint32_t id : group->sequence) {
        if (number[id] != kUnused) continue;
        number[id] = static_cast<uint32_t>(all.size());
        all.push_back(representative_of(profile.segments[id]));
      }
    }
    for (size_t i = 0; i < locations_.size(); ++i) {
      const auto [group, member] = members[i];
      if (group == nullptr || group->sequence.empty()) continue;
      format::TimeChunk chunk;
      chunk.rank = static_cast<uint64_t>(locations_[i].rank);
      chunk.thread = locations_[i].thread;
      format::SegmentEncoder encoder(all, info().step_ns);
      encoder.begin(static_cast<uint64_t>(member->starts_ns[0]));
      for (size_t s = 0; s < group->sequence.size(); ++s)
        encoder.segment(number[group->sequence[s]], static_cast<uint64_t>(member->lengths_ns[s]),
                        chunk, out_.times.bytes);
      encoder.finish(chunk, out_.times.bytes);
      out_.times.index.chunks.push_back(std::move(chunk));
    }
    const auto bytes = format::encode_representatives(all);
    if (!bytes.ok()) return base::fail(bytes.error().message, trace_.name());
    info().representatives = all.size();
    info().bytes = bytes->size();
    info().checksum = format::checksum32(*bytes);
    out_.times.bytes += *bytes;
    return base::Done{};
  }

  void describe(const Profile& profile, const similarity::InterMatches& inter) {
    out_.times.index.spec.mode = format::TimeMode::kSegments;
    out_.times.index.spec.method = to_text(options_.method);
    out_.locations = locations_.size();
    out_.calls = segments_.calls();
    out_.divided = segments_.divided();
    out_.marks = segments_.marks();
    out_.groups = profile.groups.size();
    info().source = options_.source;
    info().across = options_.across;
    info().matches = profile.intra_matches + inter.found;
    info().possible_matches = profile.intra_possible + inter.possible;
    info().contexts = segments_.contexts();
    const uint64_t rounding = info().step_ns / 2;  // of a start or an end
    for (const ProfileSegment& s : profile.segments) {
      info().error_ns = std::max(info().error_ns, static_cast<uint64_t>(std::ceil(s.error_ns)));
      info().relative_error =
          std::max(info().relative_error,
                   s.relative_error + static_cast<double>(rounding) / std::max(1.0, s.shortest_ns));
    }
    info().error_ns += rounding;
  }

  // Section 4.4, with the names of functions as those of events.
  void models(const Profile& profile) {
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
        rank.messages += o.calls * messages_of_call(name);
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

  format::SegmentInfo& info() { return out_.times.index.segments; }

  const Trace& trace_;
  ReduceOptions options_;
  SegmentReader segments_;
  const std::vector<Location> locations_;
  Reduction out_;
};

format::TraceData with_times(const Trace& trace, const Reduction& reduction) {
  format::TraceData data = trace.data();
  data.meta.text["timing"] = reduction.times.index.spec.to_string();
  data.times = reduction.times;
  return data;
}

}  // namespace

Result<Reduction> reduce(const Trace& trace, const ReduceOptions& options) {
  if (!trace.has_times())
    return base::unsupported("there are no times of single calls in this trace", trace.name());
  const auto spec = trace.time_spec();
  if (!spec.ok()) return spec.error();
  if (spec->mode == format::TimeMode::kSegments)
    return base::usage("the times are reduced already: " + spec->to_string(), trace.name());
  return Reducer(trace, options).run();
}

Result<std::string> encode(const Trace& trace, const Reduction& reduction) {
  return format::encode(with_times(trace, reduction));
}

Result<Trace> rebuilt(const Trace& trace, const Reduction& reduction) {
  return Trace::from_data(with_times(trace, reduction), trace.name(), 0);
}

}  // namespace refrain::analysis::reduce
