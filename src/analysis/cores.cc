#include "analysis/cores.h"

#include <algorithm>
#include <map>
#include <utility>

#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::analysis {

namespace {

using format::CpuRun;
using Cpus = std::vector<CpuRun>;

uint64_t size_of(const Cpus& cpus) {
  uint64_t n = 0;
  for (const CpuRun& run : cpus) n += run.count;
  return n;
}

Cpus united(const Cpus& a, const Cpus& b) {
  Cpus all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end(), [](auto& x, auto& y) { return x.first < y.first; });
  Cpus out;
  for (const CpuRun& run : all) {
    if (out.empty() || run.first > out.back().first + out.back().count)
      out.push_back(run);
    else
      out.back().count = std::max(out.back().count, run.first + run.count - out.back().first);
  }
  return out;
}

// How many ranks of a host are at which place, by place.
using Ranks = std::map<int64_t, uint64_t>;

// A set of cores, and the ranks that have no others.
struct Share {
  Cpus cpus;
  uint64_t ranks = 0;
  double waiting() const {
    const auto cores = static_cast<double>(size_of(cpus));
    return ranks > 0 ? std::max(0.0, 1 - cores / static_cast<double>(ranks)) : 0;
  }
};

HostKind kind_of(const std::vector<format::RankPlace>& places, const Ranks& ranks) {
  HostKind kind;
  std::vector<Share> shares;  // the cores of each place, and those of all
  Share all;
  for (const auto& [place, count] : ranks) {
    const format::RankPlace& p = places[static_cast<size_t>(place)];
    kind.cores = std::max(kind.cores, p.cores);
    kind.ranks += count;
    shares.push_back({p.cpus, 0});
    all.cpus = united(all.cpus, p.cpus);
  }
  kind.usable_cores = size_of(all.cpus);
  shares.push_back(all);
  const auto is_inside = [&](int64_t place, const Share& share) {
    return united(places[static_cast<size_t>(place)].cpus, share.cpus) == share.cpus;
  };
  for (Share& share : shares)
    for (const auto& [place, count] : ranks)
      if (is_inside(place, share)) share.ranks += count;
  Cpus crowded;
  for (const auto& [place, count] : ranks) {
    double worst = 0;
    for (const Share& share : shares)
      if (is_inside(place, share)) worst = std::max(worst, share.waiting());
    kind.most_waiting += worst * static_cast<double>(count);
    if (worst <= 0) continue;
    kind.crowded_ranks += count;
    crowded = united(crowded, places[static_cast<size_t>(place)].cpus);
  }
  kind.crowded_cores = size_of(crowded);
  kind.most_waiting /= static_cast<double>(kind.ranks);
  return kind;
}

}  // namespace

CoreUse core_use(const Trace& trace) {
  const format::TraceData& data = reader::data_of(trace);
  CoreUse out;
  uint64_t switches = 0;
  for (const format::RankTotals& t : data.totals) switches += t.switches;
  // Told in MPI_Finalize, as what recording took.
  if (switches > 0 || data.cost.ranks > 0) out.involuntary_switches = switches;
  if (data.places.empty()) return out;
  std::map<uint64_t, Ranks> hosts;
  for (uint64_t rank = 0; rank < data.meta.ranks; ++rank) {
    const int64_t host = data.meta.host_of_rank.at(rank), place = data.place_of_rank.at(rank);
    if (host >= 0 && place >= 0) ++hosts[static_cast<uint64_t>(host)][place];
  }
  std::map<Ranks, size_t> known;
  for (const auto& [host, ranks] : hosts) {
    const auto [at, is_new] = known.try_emplace(ranks, out.kinds.size());
    if (is_new) out.kinds.push_back(kind_of(data.places, ranks));
    out.kinds[at->second].hosts.push_back(host);
  }
  double ranks = 0;
  for (const HostKind& kind : out.kinds) {
    const auto all = static_cast<double>(kind.hosts.size() * kind.ranks);
    out.crowded_ranks += kind.hosts.size() * kind.crowded_ranks;
    out.most_waiting += kind.most_waiting * all;
    ranks += all;
  }
  if (ranks > 0) out.most_waiting /= ranks;
  return out;
}

}  // namespace refrain::analysis
