// Clustering at scale: what a node of the tree over all ranks computes and holds, and what the root
// gets to merge, for ranks that never ran.
//
//   cluster_scale [--ranks N] [--k K] [--unlike N] [--no-full] [--json]
//
// `--ranks` (131072): a mesh of so many ranks with nine kinds of them, whose times differ. Printed
// is the longest way from a leaf to the root and back to a rank, in CPU time: formats of
// signatures, choice of heads at each node, nearest head of each rank. Messages are not in it.
// `--unlike` (65536): ranks of one structure of which no two have the same parameters; the root
// merges K of them, and beside it all (`--no-full`: not).
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "format/encode/encode.h"
#include "format/encode/section_writers.h"
#include "format/testing/call_ids.h"
#include "format/testing/counted_heap.h"
#include "format/testing/patterns.h"
#include "similarity/ranks/k_farthest.h"

namespace {

using namespace refrain;
using namespace refrain::similarity;

// CPU time: a node that is interrupted here would not be on a machine of its own.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A stencil whose borders make other calls; times differ by some percent.
std::vector<RankHead> mesh(uint32_t ranks) {
  const auto columns = static_cast<uint32_t>(std::sqrt(static_cast<double>(ranks)));
  const uint32_t rows = (ranks + columns - 1) / columns;
  std::mt19937_64 random(7);
  std::vector<RankHead> out(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    const uint32_t x = r % columns, y = r / columns;
    RankHead& h = out[r];
    h.rank = r;
    h.structure = (x == 0 ? 1u : 0u) | (x + 1 == columns ? 2u : 0u) | (y == 0 ? 4u : 0u) |
                  (y + 1 == rows ? 8u : 0u);
    h.signature.call_path = 0x9e3779b97f4a7c15 * (h.structure + 1);
    h.signature.means[mean_of(RankFeature::kComputation)] =
        100'000 + static_cast<int64_t>(random() % 5000);
    h.signature.means[mean_of(RankFeature::kCommunication)] =
        10'000 + static_cast<int64_t>(random() % 2000);
  }
  return out;
}

struct PathCost {
  double path_s = 0, slowest_node_s = 0;
  uint64_t node_bytes = 0;
  size_t clusters = 0;
};

// As on as many processes: a node waits for the slower one of its children.
PathCost along_the_tree(const std::vector<RankHead>& ranks, uint32_t k) {
  PathCost out;
  const size_t n = ranks.size();
  const auto children = [n](size_t r, auto visit) {
    for (const size_t c : {2 * r + 1, 2 * r + 2})
      if (c < n) visit(c);
  };
  std::vector<double> path(n, 0);
  std::vector<RankFormat> formats;
  formats.reserve(n);
  for (const RankHead& h : ranks) formats.emplace_back(h.signature);
  for (size_t r = n; r-- > 0;) {
    double before = 0;
    children(r, [&](size_t c) { before = std::max(before, path[c]); });
    const double begin = now();
    children(r, [&](size_t c) { formats[r].add(formats[c]); });
    path[r] = before + now() - begin;
  }
  const double formats_s = path[0];
  const RankDistances distances(formats[0], RankMetric::kManhattan);
  const ClusterOptions options{k, false, false};
  std::vector<std::vector<RankHead>> passed(n);
  std::fill(path.begin(), path.end(), 0);
  for (size_t r = n; r-- > 0;) {
    double before = 0;
    std::vector<RankHead> below;
    children(r, [&](size_t c) {
      before = std::max(before, path[c]);
      below.insert(below.end(), passed[c].begin(), passed[c].end());
      passed[c] = {};
    });
    // What came from the children, and what the choice takes.
    const uint64_t held = static_cast<uint64_t>(heap.now) - below.capacity() * sizeof(RankHead);
    heap.most = heap.now;
    const double begin = now();
    passed[r] = merge_heads({ranks[r]}, std::move(below), options, distances);
    const double seconds = now() - begin;
    out.slowest_node_s = std::max(out.slowest_node_s, seconds);
    out.node_bytes =
        std::max(out.node_bytes, static_cast<uint64_t>(heap.most) - held + sizeof(RankFormat));
    path[r] = before + seconds;
  }
  double slowest_rank_s = 0;
  for (const RankHead& h : ranks) {
    const double begin = now();
    const uint32_t c = nearest_head(passed[0], h, options, distances);
    const double seconds = now() - begin;
    if (c < passed[0].size()) slowest_rank_s = std::max(slowest_rank_s, seconds);
  }
  out.path_s = formats_s + path[0] + slowest_rank_s;
  out.clusters = passed[0].size();
  return out;
}

// One structure: every rank sends and receives in the same order from the same places, to whom and
// how much nobody can say of another rank.
format::RankRecord unlike(uint64_t rank, uint64_t ranks) {
  using format::testing::Sig;
  constexpr int kCalls = 24;
  format::testing::SyntheticRank r(rank, ranks);
  std::mt19937_64 random(rank * 2654435761u + 17);
  const uint32_t type = r.datatype("MPI_DOUBLE", 8), world = r.world();
  int64_t where = 0x1200;
  const uint32_t begin = r.site(where);
  r.call(Sig(format::testing::kInit, begin).none().none());
  std::vector<uint32_t> sites;
  for (int i = 0; i < kCalls; ++i) sites.push_back(r.site(where += 0x2b));
  std::vector<std::pair<int64_t, int64_t>> parts;
  for (int i = 0; i < kCalls; ++i)
    parts.emplace_back(static_cast<int64_t>(random() % ranks),
                       static_cast<int64_t>(random() % 100'000));
  for (int round = 0; round < 10; ++round)
    for (int i = 0; i < kCalls; ++i)
      r.call(Sig(i % 2 == 0 ? format::testing::kSend : format::testing::kRecv,
                 sites[static_cast<size_t>(i)])
                 .buffer(format::BufferClass::kHeap, 1, 0)
                 .integer(parts[static_cast<size_t>(i)].second)
                 .object(type)
                 .peer(parts[static_cast<size_t>(i)].first)
                 .integer(1)
                 .object(world));
  r.call(Sig(format::testing::kFinalize, r.site(where + 0x2b)));
  return r.finish();
}

// What a file of these ranks takes without the totals of all, and with the lists of members.
struct RootCost {
  uint64_t file_bytes = 0, merged_bytes = 0;
  double seconds = 0;
};

uint64_t file_bytes_of(format::PartialTrace part, const format::ClusterData* clusters) {
  auto trace = format::finish(std::move(part));
  if (!trace.ok()) return 0;
  trace->totals.clear();
  trace->cost = {};
  const auto bytes = format::encode(*trace);
  uint64_t size = bytes.ok() ? bytes->size() : 0;
  if (clusters != nullptr) {
    trace->clusters = *clusters;
    format::Encoding encoding(*trace);
    base::ByteWriter section;
    format::write_clusters(encoding, section);
    size += section.size();
  }
  return size;
}

RootCost merge_leads(uint64_t ranks, uint32_t k) {
  format::ClusterData clusters;
  RootCost out;
  std::vector<format::PartialTrace> parts;
  std::mt19937_64 random(3);
  for (uint32_t c = 0; c < k; ++c) {
    format::Cluster one;
    one.lead = ranks / k * c;
    clusters.clusters.push_back(std::move(one));
  }
  // Which cluster a rank is in follows nothing.
  for (uint64_t r = 0; r < ranks; ++r)
    clusters.clusters[r % (ranks / k) == 0 && r / (ranks / k) < k ? r / (ranks / k) : random() % k]
        .members.append(static_cast<int64_t>(r));
  const double begin = format::testing::cpu_seconds();
  format::PartialTrace all;
  for (uint32_t c = 0; c < k; ++c) {
    auto one = format::leaf(unlike(clusters.clusters[c].lead, ranks), ranks);
    if (!one.ok()) return out;
    if (c == 0) {
      all = std::move(*one);
      continue;
    }
    auto both = format::merge(std::move(all), std::move(*one));
    if (!both.ok()) return out;
    all = std::move(*both);
  }
  out.seconds = format::testing::cpu_seconds() - begin;
  out.merged_bytes = format::serialise(all).size();
  out.file_bytes = file_bytes_of(std::move(all), &clusters);
  return out;
}

RootCost merge_all_ranks(uint64_t ranks) {
  format::testing::MergeCost cost;
  RootCost out;
  auto all = format::testing::merge_tree(
      0, ranks, ranks, [&](uint64_t rank) { return unlike(rank, ranks); }, &cost);
  out.seconds = cost.root_seconds;
  out.merged_bytes = format::serialise(all).size();
  out.file_bytes = file_bytes_of(std::move(all), nullptr);
  return out;
}

struct Options {
  uint32_t ranks = 131072, k = 9, unlike = 65536;
  bool full = true, json = false;
};

bool parse(int argc, char** argv, Options& out) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--no-full") {
      out.full = false;
    } else if (word == "--json") {
      out.json = true;
    } else if (i + 1 < argc && (word == "--ranks" || word == "--k" || word == "--unlike")) {
      const unsigned long n = std::strtoul(argv[++i], nullptr, 10);
      (word == "--ranks" ? out.ranks
       : word == "--k"   ? out.k
                         : out.unlike) = static_cast<uint32_t>(n);
    } else {
      return false;
    }
  }
  return out.k > 0 && out.ranks >= out.k && (out.unlike == 0 || out.unlike >= out.k);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(
        stderr,
        "usage: cluster_scale [--ranks N] [--k K] [--unlike N] [--no-full] [--json], K from 1 "
        "to N\n");
    return 2;
  }
  const PathCost path = along_the_tree(mesh(options.ranks), options.k);
  RootCost leads, all;
  if (options.unlike > 0) leads = merge_leads(options.unlike, options.k);
  if (options.unlike > 0 && options.full) all = merge_all_ranks(options.unlike);
  const auto u = [](uint64_t v) { return static_cast<unsigned long long>(v); };
  if (options.json) {
    std::printf(
        "{\"ranks\": %u, \"k\": %u, \"clusters\": %zu, \"path_s\": %.6f, \"slowest_node_s\": %.6f, "
        "\"node_bytes\": %llu, \"unlike\": %u, \"root_bytes\": %llu, \"root_file_bytes\": %llu, "
        "\"full_root_bytes\": %llu, \"full_root_file_bytes\": %llu}\n",
        options.ranks, options.k, path.clusters, path.path_s, path.slowest_node_s,
        u(path.node_bytes), options.unlike, u(leads.merged_bytes), u(leads.file_bytes),
        u(all.merged_bytes), u(all.file_bytes));
    return 0;
  }
  std::printf("%u ranks, K %u: %zu clusters\n", options.ranks, options.k, path.clusters);
  std::printf("  longest path    %10.3f ms of computation, slowest node %.3f ms\n",
              1e3 * path.path_s, 1e3 * path.slowest_node_s);
  std::printf("  a node holds    %10llu bytes at most\n", u(path.node_bytes));
  if (options.unlike > 0)
    std::printf(
        "%u unlike ranks of one structure\n  root, K leads   %10llu bytes, file %llu with "
        "the members\n",
        options.unlike, u(leads.merged_bytes), u(leads.file_bytes));
  if (options.unlike > 0 && options.full)
    std::printf("  root, all ranks %10llu bytes, file %llu; the last merge %.1f s\n",
                u(all.merged_bytes), u(all.file_bytes), all.seconds);
  return 0;
}
