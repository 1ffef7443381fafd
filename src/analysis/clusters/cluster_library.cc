// librefrain-cluster.so: answers what the recorder asks about calls. See
// format/clusters/cluster_library.h.

#include "format/clusters/cluster_library.h"

#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/clusters/cluster.h"
#include "analysis/clusters/rank_heads.h"
#include "format/encode/encode.h"
#include "format/merge/merge.h"
#include "reader/internal.h"
#include "refrain/trace.h"

namespace refrain::analysis::clusters {

namespace {

using format::ClusterMember;

Result<std::string> member_of(std::string_view bytes, uint64_t rank) {
  format::RankTimes times;
  if (bytes.size() < sizeof times) return base::fail("an unknown question of the recorder");
  std::memcpy(&times, bytes.data(), sizeof times);
  auto part = format::parse(bytes.substr(sizeof times));
  if (!part.ok()) return part.error();
  auto data = format::finish(std::move(*part));
  if (!data.ok()) return data.error();
  if (rank < data->totals.size()) {
    data->totals[rank].in_mpi_ns = times.in_mpi_ns;
    data->totals[rank].outside_ns = times.outside_ns;
  }
  const auto trace = reader::trace_of(std::move(*data), "the record", 0);
  if (!trace.ok()) return trace.error();
  const auto member = cluster_member(*trace, static_cast<Rank>(rank));
  if (!member.ok()) return member.error();
  return std::string(reinterpret_cast<const char*>(&*member), sizeof *member);
}

Result<std::string> with_lead_endpoints(std::string_view path) {
  const auto trace = Trace::open(std::string(path));
  if (!trace.ok()) return trace.error();
  const auto data = with_lead_calls(*trace);
  if (!data.ok()) return data.error();
  return format::encode(*data);
}

Result<std::string> answer(uint32_t question, uint64_t rank, std::string_view bytes) {
  switch (static_cast<format::ClusterQuestion>(question)) {
    case format::ClusterQuestion::kMember: return member_of(bytes, rank);
    case format::ClusterQuestion::kLeadEndpoints: return with_lead_endpoints(bytes);
  }
  return base::fail("an unknown question of the recorder");
}

}  // namespace

}  // namespace refrain::analysis::clusters

// It lives in somebody else's program: nothing may leave it but an answer.
extern "C" __attribute__((visibility("default"))) int refrain_cluster_library(
    uint64_t build, uint32_t question, uint64_t rank, const char* bytes, size_t size,
    refrain::format::ClusterTake take, void* context) {
  const auto failed = [&](std::string_view why) {
    take(context, why.data(), why.size());
    return 1;
  };
  if (build != refrain::format::kClusterBuild) return failed("it is of another version");
  try {
    const auto out =
        refrain::analysis::clusters::answer(question, rank, std::string_view(bytes, size));
    if (!out.ok()) return failed(out.error().to_string());
    take(context, out->data(), out->size());
    return 0;
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}
