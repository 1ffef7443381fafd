#include "analysis/computation/groups.h"

#include <algorithm>

#include "analysis/computation/vectors.h"
#include "similarity/vectors/distance_matrix.h"
#include "similarity/vectors/k_means.h"
#include "similarity/vectors/representatives.h"

namespace refrain::analysis::computation {
namespace {

using similarity::Labels;

base::Error is_another_run(const Trace& first, const Trace& other, const std::string& what) {
  return base::fail("is no other run of " + first.name() + ": " + what, other.name());
}

base::Status check_alike(const Trace& first, const std::vector<Sequence>& sequences,
                         const Trace& other) {
  if (other.rank_count() != first.rank_count())
    return is_another_run(
        first, other,
        std::to_string(other.rank_count()) + " ranks, not " + std::to_string(first.rank_count()));
  const auto theirs = sequences_of(other);
  for (size_t i = 0; i < std::max(sequences.size(), theirs.size()); ++i)
    if (i >= theirs.size() || i >= sequences.size() || !(theirs[i].key == sequences[i].key) ||
        theirs[i].ranks != sequences[i].ranks)
      return is_another_run(
          first, other,
          "other calls on rank " +
              std::to_string((i < sequences.size() ? sequences[i] : theirs[i]).ranks.at(0)));
  return base::Done{};
}

base::Result<Vectors> vectors_of(const std::vector<Trace>& traces, const Sequence& sequence,
                                 const GroupProgress& progress, const SoloTimes* times) {
  if (times != nullptr) return Vectors::take_from(times->file, sequence, times->name);
  auto out = Vectors::read_from(traces[0], sequence, progress.read);
  for (size_t i = 1; i < traces.size() && out.ok(); ++i) {
    auto more = Vectors::read_from(traces[i], sequence, progress.read);
    if (!more.ok()) return more.error();
    if (auto status = out->take_least_of(*more); !status.ok()) return status.error();
  }
  return out;
}

base::Result<Labels> labels_of(Vectors& vectors, const HowToGroup& how,
                               const GroupProgress& progress, SequenceGroups& out) {
  using similarity::VectorDistance;
  if (how.by == HowToGroup::By::kSequence) return Labels(vectors.vectors(), 0);
  const bool is_linkage = how.by == HowToGroup::By::kLinkage;
  auto distances = similarity::distance_matrix(
      vectors, is_linkage ? VectorDistance::kManhattan : VectorDistance::kSquaredEuclidean,
      progress.compare);
  if (!distances.ok()) return distances.error();
  if (!is_linkage) return similarity::k_means(*distances, {how.clusters, how.seed});
  out.height_ns = how.percent / 100 * out.computation_ns / vectors.vectors();
  out.dendrogram = similarity::complete_linkage(std::move(*distances));
  return similarity::cut_at(out.dendrogram, out.height_ns);
}

// The units of a vector summed up to at most kCurvePoints.
base::Result<std::vector<std::vector<uint64_t>>> curves_of(
    Vectors& vectors, const std::vector<similarity::Representative>& leads) {
  const uint64_t points = std::min(kCurvePoints, vectors.units());
  std::vector<std::vector<uint64_t>> out(leads.size(), std::vector<uint64_t>(points));
  std::vector<uint64_t> room(similarity::units_per_tile(vectors) * vectors.vectors());
  const auto status = similarity::for_each_tile(
      vectors, room, [&](uint64_t first, uint64_t count, std::span<const uint64_t> tile) {
        for (size_t g = 0; g < leads.size(); ++g)
          for (uint64_t i = 0; i < count; ++i) {
            const double part =
                static_cast<double>(first + i) / static_cast<double>(vectors.units());
            const auto at = std::min(points - 1, static_cast<uint64_t>(part * points));
            out[g][at] += tile[leads[g].vector * count + i];
          }
      });
  if (!status.ok()) return status.error();
  return out;
}

base::Status add_sequence(const std::vector<Trace>& traces, const Sequence& sequence,
                          const HowToGroup& how, const GroupProgress& progress,
                          const SoloTimes* times, RankGroups& all) {
  auto vectors = vectors_of(traces, sequence, progress, times);
  if (!vectors.ok()) return vectors.error();
  if (progress.vectors) {
    std::vector<uint64_t> room(similarity::units_per_tile(*vectors) * vectors->vectors());
    const auto shown = similarity::for_each_tile(
        *vectors, room, [&](uint64_t first, uint64_t count, std::span<const uint64_t> tile) {
          progress.vectors(sequence, first, count, tile);
        });
    if (!shown.ok()) return shown.error();
  }
  SequenceGroups out;
  out.sequence = sequence;
  for (uint32_t v = 0; v < vectors->vectors(); ++v)
    out.computation_ns += static_cast<double>(vectors->sum_ns(v));
  const auto labels = labels_of(*vectors, how, progress, out);
  if (!labels.ok()) return labels.error();
  const auto leads = similarity::representatives(*vectors, *labels);
  if (!leads.ok()) return leads.error();
  auto curves = curves_of(*vectors, *leads);
  if (!curves.ok()) return curves.error();
  out.curves = std::move(*curves);

  const auto first = all.groups.size();
  for (const auto& lead : *leads) {
    RankGroup group;
    group.sequence = static_cast<uint32_t>(all.sequences.size());
    group.representative = static_cast<Rank>(sequence.ranks.at(lead.vector));
    group.radius_ns = lead.radius_ns;
    group.distance_ns = lead.distance_ns;
    all.groups.push_back(std::move(group));
  }
  for (uint32_t v = 0; v < labels->size(); ++v) {
    RankGroup& group = all.groups[first + (*labels)[v]];
    const int64_t rank = sequence.ranks.at(v);
    group.ranks.append(rank);
    group.computation_ns += static_cast<double>(vectors->sum_ns(v));
    all.group_of[static_cast<size_t>(rank)] = static_cast<int32_t>(first + (*labels)[v]);
  }
  all.sequences.push_back(std::move(out));
  return base::Done{};
}

}  // namespace

base::Result<RankGroups> groups_of(const std::vector<Trace>& traces, const HowToGroup& how,
                                   const GroupProgress& progress, const SoloTimes* times) {
  const auto sequences = sequences_of(traces[0]);
  for (const Trace& trace : traces)
    if (times == nullptr && !trace.has_times())
      return base::unsupported(
          "there are no times of single calls in this trace: record with --timing exact, or name "
          "those of refrain solo with --times",
          trace.name());
  for (size_t i = 1; i < traces.size(); ++i)
    if (auto status = check_alike(traces[0], sequences, traces[i]); !status.ok())
      return status.error();
  RankGroups out;
  out.ranks = traces[0].rank_count();
  out.group_of.assign(static_cast<size_t>(out.ranks), -1);
  for (const Trace& trace : traces) out.traces.push_back(trace.name());
  if (times != nullptr) {
    if (static_cast<Rank>(times->file.ranks) != out.ranks)
      return base::fail("is of a run of " + std::to_string(times->file.ranks) + " ranks, not " +
                            std::to_string(out.ranks),
                        times->name);
    out.traces.push_back(times->name);
  }
  for (const Sequence& sequence : sequences)
    if (auto status = add_sequence(traces, sequence, how, progress, times, out); !status.ok())
      return base::Error{status.error().code, status.error().message,
                         status.error().place.empty() ? traces[0].name() : status.error().place};
  return out;
}

}  // namespace refrain::analysis::computation
