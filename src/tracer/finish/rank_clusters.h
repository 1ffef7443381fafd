// `record --cluster`: which ranks stand for all, found among the ranks at the end of the run, from
// what each of them recorded (ACURDION, section III).
//
//   rank 0       tells each rank its totals as they will be read from the file
//   every rank   eleven numbers and a structure from its own record
//   up and down  which of them differ, and between which values; how many structures there are
//   up           at most K heads (children of r: 2r + 1, 2r + 2); down: those of the root
//   every rank   takes the nearest head; up a binomial tree: sums and members of each cluster
//
// Nothing is worked out while the program runs. A rank holds 2K + 1 heads, and on its way up the
// members of the clusters of the ranks below it. `refrain cluster` does the same with the same
// functions (similarity/ranks, format/clusters/cluster_sums.h) and finds the same.
#pragma once

#include <optional>
#include <string>

#include "format/clusters/cluster_sums.h"
#include "format/merge/merge.h"
#include "format/trace_data.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

struct RankClusters {
  format::ClusterData data;
  format::LossRecord loss;  // of the trace in which they stand for others
};

// What find_clusters() needs of this rank's record, before that is merged: bytes. Empty where the
// process was not asked for clusters, or has no record.
std::string record_to_cluster(const Process& process, const format::PartialTrace& mine);

// Collective over recorders(), where the process was asked for clusters: all ranks were, in the
// same words. `trace`: on rank 0 that of all ranks, or null when there is none. Gives rank 0 the
// clusters, where there are any; if not, it has said why, and the loss `not_clustered` is in the
// trace.
std::optional<RankClusters> find_clusters(Process& process, const std::string& record,
                                          format::TraceData* trace);

// The same loss, of a process that will not be asked for clusters any more.
void give_clusters_up(Process& process, const char* why);

}  // namespace refrain::tracer
