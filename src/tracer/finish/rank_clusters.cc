#include "tracer/finish/rank_clusters.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/encode/encode.h"
#include "mpi_runtime/rank_exchange.h"
#include "tracer/finish/cluster_library.h"
#include "tracer/state/abandon.h"
#include "tracer/state/complain.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"

namespace refrain::tracer {

namespace {

using format::ClusterMember;
using format::ClusterSum;
using similarity::RankBranch;
using similarity::RankFormat;
using similarity::RankHead;

constexpr int kTag = 5;
constexpr size_t kMostSampled = 16;
constexpr const char* kLoss = "not_clustered";

static_assert(std::is_trivially_copyable_v<RankFormat>);
using format::RankTimes;
static_assert(std::is_trivially_copyable_v<RankTimes>);

// What rank 0 tells all; of one size, so that nobody lacks the memory to listen.
struct Order {
  uint64_t k = 0;  // clusters to find; 0: no more
  uint64_t sampled_count = 0;
  uint32_t sampled[kMostSampled] = {};
};

template <class T>
void put_raw(base::ByteWriter& out, const T& value) {
  out.put_bytes(&value, sizeof value);
}

template <class T>
void read_raw(base::ByteReader& in, T& value) {
  const std::string_view bytes = in.bytes(sizeof value);
  if (in.ok()) std::memcpy(&value, bytes.data(), sizeof value);
}

std::string bytes_of(const RankBranch& branch) {
  base::ByteWriter out;
  out.put_varint(branch.heads.size());
  for (size_t i = 0; i < branch.heads.size(); ++i) {
    put_raw(out, branch.heads[i]);
    out.put_varint(branch.members[i].size());
    for (const uint32_t rank : branch.members[i]) out.put_varint(rank);
  }
  return out.take();
}

bool read_branch(std::string_view bytes, RankBranch& out) {
  base::ByteReader in(bytes);
  const uint64_t n = in.count(bytes.size());
  for (uint64_t i = 0; i < n && in.ok(); ++i) {
    read_raw(in, out.heads.emplace_back());
    std::vector<uint32_t>& members = out.members.emplace_back(in.count(bytes.size()));
    for (uint32_t& rank : members) rank = static_cast<uint32_t>(in.varint());
  }
  return in.ok() && n > 0;
}

// One rank of the tree. Whoever fails goes on with nothing in its hands, so that nobody waits for
// it, and rank 0 learns it from what is missing.
class Node {
 public:
  explicit Node(Process& p)
      : request_(p.options.clusters), rank_(peers().mine), count_(peers().count) {}

  // What the file will say of the rank's times, which is less exact than what the rank knows.
  RankTimes hear_totals(const format::TraceData* trace) {
    std::vector<RankTimes> of_mine(1);
    int step = 1;
    while (rank_ == 0 ? step < count_ : (rank_ & step) == 0) step *= 2;
    if (rank_ == 0) {
      of_mine.resize(static_cast<size_t>(count_));
      const std::vector<format::RankTotals> all =
          trace == nullptr ? std::vector<format::RankTotals>() : format::totals_as_read(*trace);
      for (size_t r = 0; r < of_mine.size() && r < all.size(); ++r)
        of_mine[r] = {all[r].in_mpi_ns, all[r].outside_ns};
    } else {
      std::string bytes;
      of_mine.resize(static_cast<size_t>(std::min(step, count_ - rank_)));
      const size_t size = of_mine.size() * sizeof(RankTimes);
      if (receive_bytes(recorders(), bytes, rank_ - step, kTag, memory_for) && bytes.size() == size)
        std::memcpy(of_mine.data(), bytes.data(), size);
      else
        has_failed_ = true;
    }
    for (step /= 2; step > 0; step /= 2) {
      if (rank_ + step >= count_) continue;
      const auto n = static_cast<size_t>(std::min(step, count_ - rank_ - step));
      send_bytes(recorders(),
                 {reinterpret_cast<const char*>(&of_mine[static_cast<size_t>(step)]),
                  n * sizeof(RankTimes)},
                 rank_ + step, kTag);
    }
    return of_mine[0];
  }

  // Whether there is a way to find clusters: known to all behind this. `why` is rank 0's.
  bool agree(const base::Result<ClusterMember>& own, std::string& why) {
    if (own.ok()) {
      own_ = *own;
      if (request_.has_lead_endpoints) own_.head.structure = own_.sequence;
    } else {
      why = own.error().to_string();
    }
    RankFormat format(own_.head.signature);
    std::vector<uint64_t> structures = {own_.head.structure};
    each_child([&](std::string_view bytes) {
      base::ByteReader in(bytes);
      RankFormat child(own_.head.signature);
      read_raw(in, child);
      std::vector<uint64_t> more(in.count(bytes.size()));
      for (uint64_t& s : more) s = in.u64();
      const std::string_view complaint = in.string();
      if (!in.ok()) return false;
      if (why.empty()) why = complaint;
      format.add(child);
      structures.insert(structures.end(), more.begin(), more.end());
      return true;
    });
    if (has_failed_ && why.empty()) why = "no memory to compare ranks";
    std::sort(structures.begin(), structures.end());
    structures.erase(std::unique(structures.begin(), structures.end()), structures.end());
    base::ByteWriter out;
    put_raw(out, format);
    out.put_varint(structures.size());
    for (const uint64_t s : structures) out.put_u64(s);
    out.put_string(why);
    to_parent(out.view());
    struct {
      RankFormat format;
      uint64_t structures;
      uint64_t is_good;
    } all{format, structures.size(), why.empty() ? 1u : 0u};
    static_assert(std::is_trivially_copyable_v<decltype(all)>);
    if (!tell(all)) return false;
    structures_ = all.structures;
    features_ = all.format.differing().bits();
    distances_.emplace(all.format, request_.is_euclidean ? similarity::RankMetric::kEuclidean
                                                         : similarity::RankMetric::kManhattan);
    return all.is_good != 0;
  }

  // Rank 0.
  base::Result<RankClusters> lead() {
    auto found = choose();
    Order order;
    if (found.ok() && request_.choice == format::ClusterChoice::kAuto) {
      const auto sampled =
          format::sampled_ranks(heads_.heads, static_cast<uint64_t>(count_), request_.seed);
      order.sampled_count = std::min(sampled.size(), kMostSampled);
      std::copy_n(sampled.begin(), order.sampled_count, order.sampled);
    }
    const bool is_told = tell(order);
    if (!found.ok()) return found.error();
    if (!is_told) return base::fail("MPI failed");
    std::vector<ClusterMember> sampled;
    for (size_t i = 0; i < order.sampled_count; ++i) {
      ClusterMember& m = sampled.emplace_back(own_);
      const auto from = static_cast<int>(order.sampled[i]);
      if (from != 0 && !receive_patiently(recorders(), &m, sizeof m, from, kTag))
        return base::fail("MPI failed");
    }
    RankClusters out;
    out.data = format::cluster_data(request_, features_, sums_);
    if (request_.choice == format::ClusterChoice::kAuto) {
      out.data.error_asked = request_.error;
      out.data.error_predicted = format::predicted_error(request_.metric, sums_);
      out.data.error_checked = format::checked_error(request_.metric, sums_, heads_.heads, sampled);
      for (const ClusterMember& m : sampled) out.data.sampled.append(m.head.rank);
    }
    out.loss = format::stood_for_loss(format::stood_for(sums_, sampled), sums_.size(),
                                      static_cast<uint64_t>(count_));
    return out;
  }

  // All others.
  void follow() {
    for (;;) {
      Order order;
      if (!tell(order)) return;
      if (order.k > 0) {
        find(order.k);
        continue;
      }
      for (size_t i = 0; i < order.sampled_count; ++i)
        if (static_cast<int>(order.sampled[i]) == rank_)
          send_patiently(recorders(), &own_, sizeof own_, 0, kTag);
      return;
    }
  }

 private:
  base::Status choose() {
    const auto ranks = static_cast<uint64_t>(count_);
    if (request_.choice == format::ClusterChoice::kAuto) {
      const auto is_enough = [&](uint64_t k) -> base::Result<bool> {
        if (const auto found = order(k); !found.ok()) return found.error();
        return format::predicted_error(request_.metric, sums_) < request_.error;
      };
      const auto least =
          format::least_clusters(request_.mixes_structures ? 1 : structures_, ranks, is_enough);
      return least.ok() ? order(*least) : least.error();
    }
    const bool by_kinds = request_.choice == format::ClusterChoice::kKinds;
    if (!by_kinds && request_.k > ranks)
      return base::fail("--cluster asks for " + std::to_string(request_.k) + " clusters of " +
                        std::to_string(ranks) + " ranks");
    return order(by_kinds ? structures_ : request_.k);
  }

  base::Status order(uint64_t k) {
    Order all;
    all.k = k;
    if (!tell(all)) return base::fail("MPI failed");
    find(k);
    if (has_failed_) return base::fail("no memory to compare ranks");
    return base::Done{};
  }

  void find(uint64_t k) {
    const similarity::ClusterOptions options{static_cast<uint32_t>(k), request_.has_two_steps,
                                             request_.mixes_structures};
    RankBranch below;
    each_child([&](std::string_view bytes) { return read_branch(bytes, below); });
    if (request_.is_by_tree) {
      heads_ = similarity::merge_branches({{own_.head}, {{own_.head.rank}}}, std::move(below),
                                          options, *distances_);
    } else {
      heads_.heads =
          similarity::merge_heads({own_.head}, std::move(below.heads), options, *distances_);
      heads_.members.assign(heads_.heads.size(), {});
    }
    to_parent(has_failed_ ? std::string() : bytes_of(heads_));
    hear_heads();
    sums_.clear();
    for (const RankHead& head : heads_.heads) sums_.push_back(format::cluster_of(head));
    if (!has_failed_) {
      const size_t c = cluster_of_own(options);
      format::add_member(sums_[c], heads_.heads[c], own_);
    }
    add_up();
  }

  void hear_heads() {
    std::string bytes;
    if (rank_ == 0) {
      bytes = has_failed_ ? std::string() : bytes_of(heads_);
    } else if (!receive_bytes(recorders(), bytes, (rank_ - 1) / 2, kTag, memory_for)) {
      bytes.clear();
    }
    for (const int child : {2 * rank_ + 1, 2 * rank_ + 2})
      if (child < count_) send_bytes(recorders(), bytes, child, kTag);
    if (rank_ == 0) return;
    heads_ = {};
    if (!read_branch(bytes, heads_)) has_failed_ = true;
  }

  size_t cluster_of_own(const similarity::ClusterOptions& options) const {
    if (!request_.is_by_tree)
      return similarity::nearest_head(heads_.heads, own_.head, options, *distances_);
    for (size_t c = 0; c < heads_.members.size(); ++c)
      if (std::find(heads_.members[c].begin(), heads_.members[c].end(), own_.head.rank) !=
          heads_.members[c].end())
        return c;
    return 0;
  }

  // As the merge of records: what comes is of later ranks.
  void add_up() {
    for (int step = 1; step < count_; step *= 2) {
      if ((rank_ & step) != 0) {
        base::ByteWriter out;
        for (const ClusterSum& s : sums_) format::put_sum(out, s);
        send_bytes(recorders(), has_failed_ ? std::string_view() : out.view(), rank_ - step, kTag);
        return;
      }
      if (rank_ + step >= count_) continue;
      std::string bytes;
      if (!receive_bytes(recorders(), bytes, rank_ + step, kTag, memory_for)) bytes.clear();
      base::ByteReader in(bytes);
      for (ClusterSum& s : sums_) {
        const ClusterSum later = format::read_sum(in, static_cast<uint64_t>(count_));
        if (in.ok()) format::unite(s, later);
      }
      if (!in.ok()) has_failed_ = true;
    }
  }

  // ---- the tree ----

  template <class Take>
  void each_child(Take take) {
    for (const int child : {2 * rank_ + 1, 2 * rank_ + 2}) {
      if (child >= count_) continue;
      std::string bytes;
      if (!receive_bytes(recorders(), bytes, child, kTag, memory_for) || !take(bytes))
        has_failed_ = true;
    }
  }
  void to_parent(std::string_view bytes) {
    if (rank_ > 0) send_bytes(recorders(), bytes, (rank_ - 1) / 2, kTag);
  }
  // `value` becomes that of rank 0. False: MPI failed.
  template <class T>
  bool tell(T& value) {
    bool is_good =
        rank_ == 0 || receive_patiently(recorders(), &value, sizeof value, (rank_ - 1) / 2, kTag);
    for (const int child : {2 * rank_ + 1, 2 * rank_ + 2})
      if (child < count_)
        is_good = send_patiently(recorders(), &value, sizeof value, child, kTag) && is_good;
    return is_good;
  }

  const format::ClusterRequest& request_;
  const int rank_, count_;
  ClusterMember own_;
  uint64_t structures_ = 0;
  uint32_t features_ = 0;
  std::optional<similarity::RankDistances> distances_;
  RankBranch heads_;              // those of the root, behind find()
  std::vector<ClusterSum> sums_;  // on rank 0 those of all ranks, behind find()
  bool has_failed_ = false;
};

base::Result<ClusterMember> own_member(const Process& p, const std::string& record,
                                       const RankTimes& times) {
  const std::string where = "rank " + std::to_string(p.rank);
  if (record.empty()) return base::fail("it has no record", where);
  constexpr size_t kTimesAsMuch = 8, kSmall = 1 << 16;
  if (!memory_for(kTimesAsMuch * record.size() + kSmall))
    return base::fail("no memory to look at its calls", where);
  base::ByteWriter question;
  put_raw(question, times);
  question.put_bytes(record.data(), record.size());
  const auto said = ask_cluster_library(format::ClusterQuestion::kMember,
                                        static_cast<uint64_t>(p.rank), question.view());
  if (!said.ok()) return base::fail(said.error().to_string(), where);
  ClusterMember out;
  if (said->size() != sizeof out) return base::fail("no answer of its library", where);
  std::memcpy(&out, said->data(), sizeof out);
  return out;
}

void complain_of_none(Process& p, const std::string& why) {
  complain(p, ("no rank stands for others: " + why).c_str());
}

}  // namespace

std::string record_to_cluster(const Process& p, const format::PartialTrace& mine) {
  return p.options.has_clusters && mine.ranks.size() == 1 ? format::serialise(mine) : std::string();
}

std::optional<RankClusters> find_clusters(Process& p, const std::string& record,
                                          format::TraceData* trace) {
  if (!p.options.has_clusters) return std::nullopt;
  const auto give_up = [&](const std::string& why) {
    if (trace != nullptr) {
      complain_of_none(p, why);
      trace->losses.push_back({kLoss, 1, -1, why});
    }
    return std::nullopt;
  };
  if (peers().is_partial()) return give_up("not all ranks are recorded");
  Node node(p);
  std::string why = peers().mine == 0 && trace == nullptr ? "there is no trace" : "";
  const RankTimes times = node.hear_totals(trace);
  if (!node.agree(own_member(p, record, times), why)) return give_up(why);
  if (peers().mine != 0) return node.follow(), std::nullopt;
  auto found = node.lead();
  if (!found.ok()) return give_up(found.error().to_string());
  return std::move(*found);
}

void give_clusters_up(Process& p, const char* why) {
  if (!p.options.has_clusters) return;
  p.options.has_clusters = false;
  if (peers().mine == 0) complain_of_none(p, why), p.lose(kLoss, why);
}

}  // namespace refrain::tracer
