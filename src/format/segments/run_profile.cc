#include "format/segments/run_profile.h"

#include <algorithm>
#include <bit>

#include "base/bytes.h"

namespace refrain::format {

using similarity::GroupMember;
using similarity::Method;
using similarity::MethodSpec;
using similarity::ProcessGroup;
using similarity::ProfileSegment;
using similarity::SegmentProfile;

AcrossRanks effective(AcrossRanks across, const MethodSpec& method) {
  return method.method == Method::kAuto && across == AcrossRanks::kGroups ? AcrossRanks::kSegments
                                                                          : across;
}

base::Result<RunProfile> LocationMatcher::finish(uint64_t rank, uint32_t thread,
                                                 const ContextNames& names,
                                                 const CutCounts& counts) {
  if (too_long_) return base::fail("a segment takes longer than can be");
  const similarity::StoreReport report = store_.report();
  if (report.lost_segments > 0 || report.lost_instances > 0)
    return base::fail("segments do not fit into the memory");
  RunProfile out;
  out.segments = report.segments;
  out.loosenings = report.loosenings;
  out.threshold = report.threshold;
  out.spilled = report.spilled_representatives;
  out.profile = builder_.finish(store_, 0);
  out.contexts = names;
  out.locations = {{rank, thread}};
  out.counts = counts;
  sum_groups(out);
  return out;
}

void sum_groups(RunProfile& out) {
  // The same on all ranks, as numbers of contexts are not.
  std::vector<uint64_t> keys;
  for (const std::string& name : out.contexts.all()) keys.push_back(key_of_name(name));
  out.length_ns = 0;
  for (ProcessGroup& g : out.profile.groups) {
    similarity::StructureKey key;
    for (const uint32_t id : g.sequence) {
      key.append(keys[out.profile.segments[id].context]);
      key.append(out.profile.segments[id].structure);
    }
    g.structure = key.value();
    for (const GroupMember& m : g.members)
      for (const int64_t ns : m.lengths_ns) out.length_ns += static_cast<uint64_t>(ns);
  }
}

namespace {

// Puts the representatives and groups of `from` beside those of `into`.
void put_beside(SegmentProfile* into, SegmentProfile from) {
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

}  // namespace

void unite(RunProfile* into, RunProfile from, const MethodSpec& method, AcrossRanks across) {
  if (into->problem.empty()) into->problem = std::move(from.problem);
  std::vector<uint32_t> context_of;
  for (const std::string& name : from.contexts.all())
    context_of.push_back(into->contexts.number_of(name));
  for (ProfileSegment& s : from.profile.segments) s.context = context_of[s.context];
  const auto first = static_cast<uint32_t>(into->locations.size());
  for (ProcessGroup& g : from.profile.groups)
    for (GroupMember& m : g.members) m.rank += first;
  into->locations.insert(into->locations.end(), from.locations.begin(), from.locations.end());
  into->segments += from.segments;
  into->length_ns += from.length_ns;
  into->loosenings += from.loosenings;
  into->spilled += from.spilled;
  into->threshold = std::max(into->threshold, from.threshold);
  into->counts.add(from.counts);
  if (across == AcrossRanks::kOff) return put_beside(&into->profile, std::move(from.profile));
  similarity::UniteOptions options;
  options.method = method;
  options.uniting = across == AcrossRanks::kSegments ? similarity::Uniting::kRepresentatives
                                                     : similarity::Uniting::kGroups;
  similarity::unite(&into->profile, std::move(from.profile), options);
}

void Uniter::add(RunProfile profile) {
  levels_.emplace_back(0, std::move(profile));
  while (levels_.size() > 1 && levels_.back().first == levels_[levels_.size() - 2].first)
    unite_last();
}

RunProfile Uniter::finish() {
  while (levels_.size() > 1) unite_last();
  return levels_.empty() ? RunProfile() : std::move(levels_[0].second);
}

void Uniter::unite_last() {
  RunProfile last = std::move(levels_.back().second);
  levels_.pop_back();
  unite(&levels_.back().second, std::move(last), method_, across_);
  ++levels_.back().first;
}

// ---- as bytes ----

namespace {

constexpr uint64_t kMany = uint64_t{1} << 40;

void put(base::ByteWriter& out, double value) { out.put_u64(std::bit_cast<uint64_t>(value)); }
double get_double(base::ByteReader& in) { return std::bit_cast<double>(in.u64()); }

void put(base::ByteWriter& out, const std::vector<double>& values) {
  out.put_varint(values.size());
  for (const double v : values) put(out, v);
}
std::vector<double> get_doubles(base::ByteReader& in) {
  std::vector<double> values(in.count(in.remaining() / sizeof(double)));
  for (double& v : values) v = get_double(in);
  return values;
}

void put(base::ByteWriter& out, const ProfileSegment& s) {
  for (const uint64_t n : {uint64_t{s.context}, s.structure, s.instances, uint64_t{s.elastic},
                           uint64_t{s.elastic_is_decided}})
    out.put_varint(n);
  for (const double v : {s.error_ns, s.relative_error, s.shortest_ns}) put(out, v);
  put(out, s.stamps);
  put(out, s.cluster);
}

ProfileSegment get_segment(base::ByteReader& in) {
  ProfileSegment s;
  s.context = static_cast<uint32_t>(in.varint());
  s.structure = in.varint();
  s.instances = in.varint();
  s.elastic = static_cast<uint32_t>(in.varint());
  s.elastic_is_decided = in.varint() != 0;
  for (double* v : {&s.error_ns, &s.relative_error, &s.shortest_ns}) *v = get_double(in);
  s.stamps = get_doubles(in);
  s.cluster = get_doubles(in);
  return s;
}

void put(base::ByteWriter& out, const ProcessGroup& g) {
  out.put_varint(g.structure);
  out.put_varint(g.sequence.size());
  for (const uint32_t id : g.sequence) out.put_varint(id);
  out.put_varint(g.members.size());
  for (const GroupMember& m : g.members) out.put_varint(m.rank);
}

ProcessGroup get_group(base::ByteReader& in) {
  ProcessGroup g;
  g.structure = in.varint();
  g.sequence.resize(in.count(kMany));
  for (uint32_t& id : g.sequence) id = static_cast<uint32_t>(in.varint());
  g.members.resize(in.count(kMany));
  for (GroupMember& m : g.members) m.rank = static_cast<uint32_t>(in.varint());
  return g;
}

// Every number that a profile is counted with; the same list for both directions.
template <class P, class F>
void each_number(P& p, F f) {
  for (auto* n : {&p.segments, &p.length_ns, &p.loosenings, &p.spilled, &p.counts.calls,
                  &p.counts.divided, &p.profile.ranks, &p.profile.segments_before,
                  &p.profile.intra_matches, &p.profile.intra_possible})
    f(*n);
  auto& m = p.counts.marks;
  for (auto* n : {&m.segments, &m.ends_without_begin, &m.crossed, &m.left_open, &m.too_deep,
                  &m.divided, &m.lost_calls})
    f(*n);
}

bool is_consistent(const RunProfile& p) {
  for (const ProfileSegment& s : p.profile.segments) {
    if (s.context >= p.contexts.all().size() || s.stamps.size() < 3) return false;
    const size_t wide = s.stamps.size() * similarity::kWideClusterParts;
    if (!s.cluster.empty() && s.cluster.size() != wide) return false;
  }
  for (const ProcessGroup& g : p.profile.groups) {
    if (g.members.empty()) return false;
    for (const uint32_t id : g.sequence)
      if (id >= p.profile.segments.size()) return false;
    for (const GroupMember& m : g.members)
      if (m.rank >= p.locations.size()) return false;
  }
  return true;
}

}  // namespace

std::string serialise(const RunProfile& p) {
  base::ByteWriter out;
  out.put_string(p.problem);
  each_number(p, [&out](uint64_t n) { out.put_varint(n); });
  put(out, p.threshold);
  out.put_varint(p.contexts.all().size());
  for (const std::string& name : p.contexts.all()) out.put_string(name);
  out.put_varint(p.locations.size());
  for (const auto& [rank, thread] : p.locations) {
    out.put_varint(rank);
    out.put_varint(thread);
  }
  out.put_varint(p.profile.segments.size());
  for (const ProfileSegment& s : p.profile.segments) put(out, s);
  out.put_varint(p.profile.groups.size());
  for (const ProcessGroup& g : p.profile.groups) put(out, g);
  return out.take();
}

base::Result<RunProfile> parse_profile(std::string_view bytes) {
  base::ByteReader in(bytes);
  RunProfile p;
  p.problem = std::string(in.string(bytes.size()));
  each_number(p, [&in](uint64_t& n) { n = in.varint(); });
  p.threshold = get_double(in);
  for (uint64_t n = in.count(kMany); n > 0 && in.ok(); --n)
    p.contexts.number_of(std::string(in.string(bytes.size())));
  for (uint64_t n = in.count(kMany); n > 0 && in.ok(); --n) {
    const uint64_t rank = in.varint();
    p.locations.emplace_back(rank, static_cast<uint32_t>(in.varint()));
  }
  for (uint64_t n = in.count(kMany); n > 0 && in.ok(); --n)
    p.profile.segments.push_back(get_segment(in));
  for (uint64_t n = in.count(kMany); n > 0 && in.ok(); --n)
    p.profile.groups.push_back(get_group(in));
  if (!in.ok() || !is_consistent(p)) return base::fail("no profile of segments");
  return p;
}

}  // namespace refrain::format
