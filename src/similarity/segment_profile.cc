// Profiles of two sets of ranks are united: groups by their sequences of representatives, or
// representative by representative. What a representative newly stands for makes its error larger,
// and never smaller.

#include "similarity/segment_profile.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "similarity/distance.h"
#include "similarity/segment_cluster.h"

namespace refrain::similarity {
namespace {

ProfileSegment segment_of(const RepresentativeView& r) {
  ProfileSegment s;
  s.context = r.context;
  s.structure = r.structure;
  s.instances = r.instances;
  s.error_ns = r.error_ns;
  s.relative_error = r.relative_error;
  s.shortest_ns = r.shortest_ns;
  s.elastic = r.elastic;
  s.elastic_is_decided = r.elastic_is_decided;
  s.stamps.assign(r.stamps.begin(), r.stamps.end());
  if (r.cluster.size() == kWideClusterParts * r.stamps.size())
    s.cluster.assign(r.cluster.begin(), r.cluster.end());
  return s;
}

bool may_match(const ProfileSegment& a, const ProfileSegment& b) {
  return a.context == b.context && a.structure == b.structure && a.stamps.size() == b.stamps.size();
}

ClusterView cluster_of(const ProfileSegment& s) {
  return {s.cluster.data(), s.instances, s.elastic_is_decided ? s.elastic : kRigid};
}

// What is compared, made once for each representative.
struct Prepared {
  std::vector<double> vector;
  double max = 0;
};

class Comparer {
 public:
  explicit Comparer(const UniteOptions& options) : options_(options) {}

  Prepared prepare(const ProfileSegment& s) const {
    Prepared p;
    const Method method = options_.method.method;
    if (method == Method::kAvgWave || method == Method::kHaarWave) {
      const size_t size = wavelet_size(s.stamps.size());
      p.vector.resize(size + size / 2);
      wavelet(s.stamps, method == Method::kHaarWave, p.vector.data());
      p.vector.resize(size);
    } else {
      p.vector = s.stamps;
    }
    p.max = largest_value(p.vector);
    return p;
  }

  bool match(const ProfileSegment& a, const Prepared& pa, const ProfileSegment& b,
             const Prepared& pb) const {
    if (!may_match(a, b)) return false;
    const MethodSpec& m = options_.method;
    if (m.method != Method::kAuto)
      return vectors_match(m.method, m.inter_threshold, pa.vector, pa.max, pb.vector, pb.max);
    // Some spilled representatives have no cluster any more.
    if (a.cluster.empty() || b.cluster.empty()) return false;
    const size_t n = a.stamps.size();
    const Tolerance apart{m.inter_threshold, options_.noise_ns, options_.floor_share};
    const Tolerance in_all{m.threshold + m.inter_threshold, options_.noise_ns,
                           options_.floor_share};
    const ClusterView x = cluster_of(a);
    const ClusterView y = cluster_of(b);
    uint32_t elastic = kRigid;
    return means_fit(x, y, n, apart) && cluster_fits(x, y, n, in_all, false, &elastic);
  }

 private:
  const UniteOptions& options_;
};

// `into` stands for the segments of `from` as well, `times` of them.
void stand_for(ProfileSegment* into, const ProfileSegment& from, uint64_t times) {
  const double apart = largest_difference(into->stamps, from.stamps);
  into->error_ns = std::max(into->error_ns, from.error_ns + apart);
  into->relative_error =
      std::max(into->relative_error, from.relative_error + apart / std::max(1.0, from.shortest_ns));
  into->shortest_ns = std::min(into->shortest_ns, from.shortest_ns);
  into->instances += times;
}

void unite_clusters(ProfileSegment* into, const ProfileSegment& from) {
  const size_t n = into->stamps.size();
  cluster_unite(into->cluster.data(), from.cluster.data(), n, true);
  into->instances += from.instances;
  into->shortest_ns = std::min(into->shortest_ns, from.shortest_ns);
  cluster_mean(into->cluster.data(), into->instances, n, into->stamps.data());
  if (!into->elastic_is_decided)
    into->elastic =
        from.elastic_is_decided ? from.elastic : widest_interval(into->cluster.data(), n);
  into->elastic_is_decided = into->elastic_is_decided || from.elastic_is_decided;
  into->error_ns = cluster_error_ns(into->cluster.data(), into->instances, n, into->elastic);
  into->relative_error = into->error_ns / std::max(1.0, into->shortest_ns);
}

using PairVerdicts = std::unordered_map<uint64_t, bool>;

// Figure 11, for one group of each; `verdicts` remembers pairs of representatives.
bool groups_match(const SegmentProfile& into, const ProcessGroup& a,
                  const std::vector<Prepared>& pa, const SegmentProfile& from,
                  const ProcessGroup& b, const std::vector<Prepared>& pb, const Comparer& comparer,
                  PairVerdicts* verdicts) {
  if (a.structure != b.structure || a.sequence.size() != b.sequence.size()) return false;
  for (size_t i = 0; i < a.sequence.size(); ++i) {
    const uint32_t x = a.sequence[i];
    const uint32_t y = b.sequence[i];
    const auto [at, is_new] = verdicts->try_emplace(uint64_t{x} << 32 | y, false);
    if (is_new) at->second = comparer.match(into.segments[x], pa[x], from.segments[y], pb[y]);
    if (!at->second) return false;
  }
  return true;
}

void join(SegmentProfile* into, ProcessGroup* a, const SegmentProfile& from, ProcessGroup* b) {
  // Pairs once each, with how often they are there: lists may be long.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> pairs;
  for (size_t i = 0; i < a->sequence.size(); ++i) ++pairs[{a->sequence[i], b->sequence[i]}];
  for (const auto& [pair, times] : pairs)
    stand_for(&into->segments[pair.first], from.segments[pair.second], times * b->members.size());
  for (GroupMember& member : b->members) a->members.push_back(std::move(member));
}

void unite_groups(SegmentProfile* into, SegmentProfile* from, const UniteOptions& options) {
  const Comparer comparer(options);
  std::vector<Prepared> prepared;
  std::vector<Prepared> from_prepared;
  for (const ProfileSegment& s : into->segments) prepared.push_back(comparer.prepare(s));
  for (const ProfileSegment& s : from->segments) from_prepared.push_back(comparer.prepare(s));
  PairVerdicts verdicts;
  const size_t old_groups = into->groups.size();
  std::vector<ProcessGroup> left;
  for (ProcessGroup& b : from->groups) {
    bool joined = false;
    for (size_t g = 0; g < old_groups && !joined && options.method.matches_between_processes();
         ++g) {
      ProcessGroup& a = into->groups[g];
      if (!groups_match(*into, a, prepared, *from, b, from_prepared, comparer, &verdicts)) continue;
      join(into, &a, *from, &b);
      joined = true;
    }
    if (!joined) left.push_back(std::move(b));
  }
  // Only what a group left over uses comes along; representatives belong to one group each.
  std::map<uint32_t, uint32_t> moved;
  for (ProcessGroup& b : left) {
    for (uint32_t& id : b.sequence) {
      const auto [at, is_new] = moved.try_emplace(id, static_cast<uint32_t>(into->segments.size()));
      if (is_new) into->segments.push_back(std::move(from->segments[id]));
      id = at->second;
    }
    into->groups.push_back(std::move(b));
  }
}

void unite_representatives(SegmentProfile* into, SegmentProfile* from,
                           const UniteOptions& options) {
  const Comparer comparer(options);
  std::multimap<std::pair<uint64_t, uint32_t>, uint32_t> candidates;
  std::vector<Prepared> prepared;
  for (uint32_t i = 0; i < into->segments.size(); ++i) {
    const ProfileSegment& s = into->segments[i];
    prepared.push_back(comparer.prepare(s));
    candidates.emplace(std::pair(s.structure, s.context), i);
  }
  std::vector<uint32_t> place(from->segments.size());
  for (uint32_t i = 0; i < from->segments.size(); ++i) {
    ProfileSegment& s = from->segments[i];
    const Prepared p = comparer.prepare(s);
    auto [at, end] = candidates.equal_range(std::pair(s.structure, s.context));
    if (!options.method.matches_between_processes()) at = end;
    while (at != end && !comparer.match(into->segments[at->second], prepared[at->second], s, p))
      ++at;
    if (at == end) {
      place[i] = static_cast<uint32_t>(into->segments.size());
      into->segments.push_back(std::move(s));
      continue;
    }
    place[i] = at->second;
    ProfileSegment* const a = &into->segments[at->second];
    if (options.method.method == Method::kAuto) {
      unite_clusters(a, s);
    } else {
      stand_for(a, s, s.instances);
    }
  }
  for (ProcessGroup& b : from->groups) {
    for (uint32_t& id : b.sequence) id = place[id];
    const auto same =
        std::find_if(into->groups.begin(), into->groups.end(), [&](const ProcessGroup& a) {
          return a.structure == b.structure && a.sequence == b.sequence;
        });
    if (same == into->groups.end()) {
      into->groups.push_back(std::move(b));
    } else {
      for (GroupMember& member : b.members) same->members.push_back(std::move(member));
    }
  }
}

}  // namespace

bool SegmentProfileBuilder::take_representative(const RepresentativeView& r) {
  segments_[r.id] = segment_of(r);
  return true;
}

bool SegmentProfileBuilder::take_instances(std::span<const Instance> instances) {
  list_.insert(list_.end(), instances.begin(), instances.end());
  return true;
}

uint32_t SegmentProfileBuilder::resolve(uint32_t id) const {
  for (auto at = united_.find(id); at != united_.end(); at = united_.find(id)) id = at->second;
  return id;
}

SegmentProfile SegmentProfileBuilder::finish(const SegmentStore& store, uint32_t rank) {
  grammar::PodVector<double> work;
  RepresentativeView view;
  for (size_t i = 0; i < store.representative_count(); ++i)
    if (store.representative(i, &work, &view)) take_representative(view);
  take_instances(store.instances());
  SegmentProfile profile;
  profile.ranks = 1;
  const StoreReport report = store.report();
  profile.intra_matches = report.matches;
  profile.intra_possible = report.possible_matches;
  std::map<uint32_t, uint32_t> place;
  for (auto& [id, segment] : segments_) {
    place[id] = static_cast<uint32_t>(profile.segments.size());
    profile.segments.push_back(std::move(segment));
  }
  profile.segments_before = profile.segments.size();
  ProcessGroup group;
  group.members.push_back({rank, {}, {}});
  StructureKey key;
  group.sequence.reserve(list_.size());
  group.members[0].starts_ns.reserve(list_.size());
  group.members[0].lengths_ns.reserve(list_.size());
  // The list gets shorter as these get longer.
  for (; !list_.empty(); list_.pop_front()) {
    const Instance instance = list_.front();
    const auto at = place.find(resolve(instance.id));
    if (at == place.end()) continue;  // it went to a sink that did not take it
    group.sequence.push_back(at->second);
    group.members[0].starts_ns.push_back(instance.start_ns);
    group.members[0].lengths_ns.push_back(instance.length_ns);
    key.append(profile.segments[at->second].context);
    key.append(profile.segments[at->second].structure);
  }
  group.structure = key.value();
  profile.groups.push_back(std::move(group));
  return profile;
}

void unite(SegmentProfile* into, SegmentProfile from, const UniteOptions& options) {
  if (options.method.method == Method::kAuto || options.uniting == Uniting::kRepresentatives) {
    unite_representatives(into, &from, options);
  } else {
    unite_groups(into, &from, options);
  }
  into->ranks += from.ranks;
  into->segments_before += from.segments_before;
  into->intra_matches += from.intra_matches;
  into->intra_possible += from.intra_possible;
}

InterMatches inter_matches(const SegmentProfile& profile, Uniting uniting) {
  if (uniting == Uniting::kGroups) {
    std::set<uint64_t> structures;
    for (const ProcessGroup& g : profile.groups) structures.insert(g.structure);
    return {profile.ranks - profile.groups.size(), profile.ranks - structures.size()};
  }
  std::set<std::pair<uint32_t, uint64_t>> kinds;
  for (const ProfileSegment& s : profile.segments) kinds.emplace(s.context, s.structure);
  return {profile.segments_before - profile.segments.size(),
          profile.segments_before - kinds.size()};
}

double degree_of_matching(const SegmentProfile& profile, const InterMatches& inter) {
  const uint64_t possible = profile.intra_possible + inter.possible;
  if (possible == 0) return 1;
  return static_cast<double>(profile.intra_matches + inter.found) / static_cast<double>(possible);
}

}  // namespace refrain::similarity
