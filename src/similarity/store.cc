// Representatives lie in one array of numbers, and those of one context and structure are a list,
// the one matched last in front. A segment is compared with them in that order, so that where a
// program repeats itself the first comparison succeeds.

#include "similarity/store.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "similarity/distance.h"

namespace refrain::similarity {
namespace {

size_t log_limit_of(const StoreOptions& options, const SegmentSink* sink) {
  if (sink == nullptr) return SIZE_MAX;
  return std::clamp<size_t>(options.max_memory_bytes / 16 / sizeof(Instance), 16, 65536);
}

// The loosest threshold: where everything matches there is nothing to gain beyond. From 0 on it is
// loosened as from a little.
double max_threshold_of(const StoreOptions& options) {
  const double start = options.method.threshold > 0 ? options.method.threshold
                       : options.method.method == Method::kAbsDiff
                           ? SegmentStore::kSmallAbsoluteThreshold
                           : SegmentStore::kSmallThreshold;
  const double t = start * std::max(1.0, options.max_loosening);
  switch (options.method.method) {
    case Method::kRelDiff:
    case Method::kChebyshev: return std::min(t, 1.0);
    case Method::kIterK:
      return std::max(1.0,
                      std::floor(options.method.threshold / std::max(1.0, options.max_loosening)));
    default: return t;
  }
}

}  // namespace

SegmentStore::SegmentStore(const StoreOptions& options, SegmentSink* sink)
    : options_(options),
      sink_(sink),
      threshold_(options.method.threshold),
      max_threshold_(max_threshold_of(options)),
      log_limit_(log_limit_of(options, sink)) {}

size_t SegmentStore::vector_size(size_t stamp_count) const {
  if (is_wave()) return stamp_count + wavelet_size(stamp_count);
  if (is_auto()) return kWideClusterParts * stamp_count;
  if (is_cluster()) return kClusterParts * stamp_count;
  return stamp_count;
}

uint64_t SegmentStore::group_hash(uint32_t context, uint64_t structure, size_t stamps) const {
  uint64_t h = structure ^ (uint64_t{context} << 32 | static_cast<uint32_t>(stamps));
  h *= 0x9e3779b97f4a7c15;
  return h ^ (h >> 29);
}

uint32_t SegmentStore::find_group(const SegmentView& segment) {
  if (index_.capacity() == 0) return kNone;
  const size_t mask = index_.capacity() - 1;
  const size_t stamps = segment.stamps.size();
  for (size_t at = group_hash(segment.context, segment.structure, stamps) & mask;;
       at = (at + 1) & mask) {
    if (index_[at] == 0) return kNone;
    const Group& g = groups_[index_[at] - 1];
    if (g.structure == segment.structure && g.context == segment.context && g.stamp_count == stamps)
      return index_[at] - 1;
  }
}

void SegmentStore::index_group(uint32_t group) {
  const size_t mask = index_.capacity() - 1;
  const Group& g = groups_[group];
  size_t at = group_hash(g.context, g.structure, g.stamp_count) & mask;
  while (index_[at] != 0) at = (at + 1) & mask;
  index_[at] = group + 1;
}

bool SegmentStore::enter_group(const SegmentView& segment, uint32_t* group) {
  *group = find_group(segment);
  if (*group != kNone) return true;
  if (!grow(&groups_, groups_.size() + 1)) return false;
  if (3 * index_.capacity() < 4 * (groups_.size() + 1) &&
      !rehash(std::max<size_t>(16, 2 * index_.capacity())))
    return false;
  *group = static_cast<uint32_t>(groups_.size());
  Group g;
  g.context = segment.context;
  g.structure = segment.structure;
  g.stamp_count = static_cast<uint32_t>(segment.stamps.size());
  groups_.push_back(g);
  index_group(*group);
  return true;
}

// Makes the vector that is compared, where it is not the stamps themselves.
bool SegmentStore::prepare(const SegmentView& segment) {
  const size_t n = segment.stamps.size();
  if (is_wave()) {
    const size_t size = wavelet_size(n);
    if (!grow(&scratch_, size + size / 2)) return false;
    wavelet(segment.stamps, options_.method.method == Method::kHaarWave, &scratch_[0]);
    scratch_max_ = largest_value({&scratch_[0], size});
    return true;
  }
  if (is_cluster()) {
    if (!grow(&scratch_, kWideClusterParts * n)) return false;
    cluster_of_one(segment.stamps.data(), n, is_auto(), &scratch_[0]);
    return true;
  }
  // Stamps grow, so that the last one is the largest; largest_value() where clocks did not.
  scratch_max_ = largest_value(segment.stamps);
  return true;
}

bool SegmentStore::representative_matches(const Representative& rep,
                                          const SegmentView& segment) const {
  const size_t n = segment.stamps.size();
  const Method method = options_.method.method;
  const double* stored = &arena_[rep.offset];
  if (is_wave()) {
    const size_t size = wavelet_size(n);
    // Two vectors are at least as far apart as their largest values, which are at hand. Sums are
    // rounded: by far less than this more.
    constexpr double kRounding = 1 + 1e-9;
    const double limit = threshold_ * std::max(rep.max_value, scratch_max_);
    if (std::fabs(rep.max_value - scratch_max_) > limit * kRounding) return false;
    return vectors_match(method, threshold_, {&scratch_[0], size}, scratch_max_, {stored + n, size},
                         rep.max_value);
  }
  // The lengths are among the measurements, and at hand: most that do not match differ there.
  const double difference = std::fabs(rep.length_ns - segment.length_ns());
  const double limit =
      method == Method::kAbsDiff ? threshold_ : threshold_ * std::max(rep.max_value, scratch_max_);
  if (difference > limit) return false;
  return vectors_match(method, threshold_, segment.stamps, scratch_max_, {stored, n},
                       rep.max_value);
}

// The representative that stands for the segment, at the front of its group; kNone.
uint32_t SegmentStore::find_match(uint32_t group, const SegmentView& segment) {
  const Group& g = groups_[group];
  if (options_.method.method == Method::kIterAvg) return g.first;
  if (options_.method.method == Method::kIterK)
    return static_cast<double>(g.representatives) < threshold_ ? kNone : g.first;
  if (is_auto()) {
    // Rather one that it fits as it is than one whose elastic interval it would decide.
    const uint32_t found = find_cluster(group, segment.stamps.size(), false);
    return found != kNone ? found : find_cluster(group, segment.stamps.size(), true);
  }
  uint32_t before = kNone;
  uint32_t left = options_.max_candidates;
  for (uint32_t r = g.first; r != kNone && left-- > 0; before = r, r = reps_[r].next) {
    if (!representative_matches(reps_[r], segment)) continue;
    if (before != kNone) to_front(r, before);
    return r;
  }
  return kNone;
}

uint32_t SegmentStore::find_cluster(uint32_t group, size_t n, bool may_decide) {
  uint32_t before = kNone;
  uint32_t left = options_.max_candidates;
  for (uint32_t r = groups_[group].first; r != kNone && left-- > 0; before = r, r = reps_[r].next) {
    Representative& rep = reps_[r];
    uint32_t elastic = kRigid;
    if (!cluster_fits({&arena_[rep.offset], rep.count, rep.elastic}, {&scratch_[0], 1, kRigid}, n,
                      tolerance(), may_decide, &elastic))
      continue;
    rep.elastic = elastic;
    if (before != kNone) to_front(r, before);
    return r;
  }
  return kNone;
}

// Where none has been decided the one that varies most is as good as any, and better.
uint32_t SegmentStore::used_elastic(const Representative& rep) const {
  if (!is_auto() || rep.elastic != kRigid) return rep.elastic;
  return widest_interval(&arena_[rep.offset], groups_[rep.group].stamp_count);
}

void SegmentStore::to_front(uint32_t rep, uint32_t before) {
  Group& g = groups_[reps_[rep].group];
  reps_[before].next = reps_[rep].next;
  reps_[rep].next = g.first;
  g.first = rep;
}

void SegmentStore::absorb(uint32_t r, const SegmentView& segment) {
  Representative& rep = reps_[r];
  double* stored = &arena_[rep.offset];
  const size_t n = segment.stamps.size();
  ++rep.count;
  rep.last_used = clock_;
  rep.shortest_ns = std::min(rep.shortest_ns, segment.length_ns());
  if (is_cluster()) {
    cluster_unite(stored, &scratch_[0], n, is_auto());
    return;  // the error follows from the cluster
  }
  const double error = largest_difference(segment.stamps, {stored, n});
  rep.error_ns = std::max(rep.error_ns, error);
  rep.relative_error = std::max(rep.relative_error, error / std::max(1.0, segment.length_ns()));
}

bool SegmentStore::add(uint32_t group, const SegmentView& segment) {
  const size_t n = segment.stamps.size();
  const size_t size = vector_size(n);
  if (!grow(&reps_, reps_.size() + 1) || !grow(&arena_, arena_.size() + size)) return false;
  Representative rep;
  rep.id = next_id_++;
  rep.group = group;
  rep.next = groups_[group].first;
  rep.offset = arena_.size();
  rep.count = 1;
  rep.last_used = clock_;
  rep.length_ns = rep.shortest_ns = segment.length_ns();
  rep.max_value = scratch_max_;
  const size_t own = is_cluster() ? 0 : n;
  for (size_t i = 0; i < own; ++i) arena_.push_back(segment.stamps[i]);
  for (size_t i = own; i < size; ++i) arena_.push_back(scratch_[i - own]);
  groups_[group].first = static_cast<uint32_t>(reps_.size());
  ++groups_[group].representatives;
  reps_.push_back(rep);
  return true;
}

// Room for one more instance, before a representative is chosen for it: what makes room may unite
// that one with another.
void SegmentStore::prepare_log() {
  if (log_.size() >= log_limit_) flush_instances();
  if (log_.size() == log_.capacity() && !grow(&log_, log_.size() + 1)) flush_instances();
}

void SegmentStore::log(uint32_t id, const SegmentView& segment) {
  const auto length = static_cast<int64_t>(segment.length_ns());
  if (log_.size() == log_.capacity() || !log_.push_back({id, segment.start_ns, length}))
    ++totals_.lost_instances;
}

void SegmentStore::flush_instances() {
  if (sink_ == nullptr || log_.empty()) return;
  if (sink_->take_instances(instances())) {
    totals_.spilled_instances += log_.size();
  } else {
    totals_.lost_instances += log_.size();
  }
  log_.clear();
}

// There is no room in the store even after making some: the sink, or a loss.
SegmentStore::Match SegmentStore::add_or_spill(const SegmentView& segment) {
  if (sink_ == nullptr || next_id_ == kNoRepresentative) {
    ++totals_.lost_segments;
    return {};
  }
  RepresentativeView view;
  view.id = next_id_;
  view.context = segment.context;
  view.structure = segment.structure;
  view.instances = 1;
  view.shortest_ns = segment.length_ns();
  view.stamps = segment.stamps;
  if (!sink_->take_representative(view)) {
    ++totals_.lost_segments;
    return {};
  }
  ++next_id_;
  ++totals_.spilled_representatives;
  log(view.id, segment);
  return {Outcome::kSpilled, view.id};
}

SegmentStore::Match SegmentStore::match(const SegmentView& segment) {
  ++totals_.segments;
  ++clock_;
  prepare_log();
  uint32_t group = kNone;
  // Twice: making room may unite or drop what was found before it.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt == 1 && !make_room()) break;
    if (!prepare(segment) || !enter_group(segment, &group)) continue;
    const bool possible = groups_[group].first != kNone;
    const uint32_t rep = find_match(group, segment);
    if (rep != kNone) {
      absorb(rep, segment);
      ++totals_.possible_matches;
      ++totals_.matches;
      log(reps_[rep].id, segment);
      return {Outcome::kMatched, reps_[rep].id};
    }
    if (next_id_ == kNoRepresentative || !add(group, segment)) continue;
    totals_.possible_matches += possible ? 1 : 0;
    const uint32_t id = next_id_ - 1;
    log(id, segment);
    return {Outcome::kAdded, id};
  }
  return add_or_spill(segment);
}

void SegmentStore::describe(const Representative& rep, double* stamps,
                            RepresentativeView* out) const {
  const Group& g = groups_[rep.group];
  const size_t n = g.stamp_count;
  const double* stored = &arena_[rep.offset];
  out->id = rep.id;
  out->context = g.context;
  out->structure = g.structure;
  out->instances = rep.count;
  out->shortest_ns = rep.shortest_ns;
  out->error_ns = rep.error_ns;
  out->relative_error = rep.relative_error;
  out->cluster = {};
  out->elastic = kRigid;
  out->elastic_is_decided = rep.elastic != kRigid;
  if (is_cluster()) {
    cluster_mean(stored, rep.count, n, stamps);
    out->cluster = {stored, vector_size(n)};
    out->elastic = used_elastic(rep);
    out->error_ns = cluster_error_ns(stored, rep.count, n, out->elastic);
    out->relative_error = out->error_ns / std::max(1.0, rep.shortest_ns);
  } else {
    std::memcpy(stamps, stored, n * sizeof(double));
  }
  out->stamps = {stamps, n};
}

bool SegmentStore::representative(size_t index, grammar::PodVector<double>* work,
                                  RepresentativeView* out) const {
  if (!work->reserve(groups_[reps_[index].group].stamp_count)) return false;
  describe(reps_[index], &(*work)[0], out);
  return true;
}

StoreReport SegmentStore::report() const {
  StoreReport report = totals_;
  report.representatives = reps_.size();
  report.threshold = threshold_;
  for (size_t i = 0; i < reps_.size(); ++i) {
    const Representative& rep = reps_[i];
    double error = rep.error_ns;
    double relative = rep.relative_error;
    if (is_cluster()) {
      error = cluster_error_ns(&arena_[rep.offset], rep.count, groups_[rep.group].stamp_count,
                               used_elastic(rep));
      relative = error / std::max(1.0, rep.shortest_ns);
    }
    report.error_ns = std::max(report.error_ns, error);
    report.relative_error = std::max(report.relative_error, relative);
  }
  return report;
}

size_t SegmentStore::memory_bytes() const {
  return sizeof(*this) + arena_.capacity_bytes() + reps_.capacity_bytes() +
         groups_.capacity_bytes() + index_.capacity_bytes() + log_.capacity_bytes() +
         scratch_.capacity_bytes();
}

}  // namespace refrain::similarity
