#include "sim/lower/collective_call.h"

#include <algorithm>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "sim/engine/costs.h"

namespace refrain::sim {

using events::argument;

namespace {

uint64_t element(const Trace& trace, const Value& type) {
  return events::element_bytes(trace, type).value_or(0);
}
uint64_t product(const Trace& trace, const Signature& call, std::string_view count,
                 std::string_view type) {
  return events::multiply(events::sum_of_counts(argument(call, count)),
                          element(trace, argument(call, type)));
}

// An array of counts with a type, or with an array of types. Looked up once for each call.
class ListedBlocks : public BlockSizes {
 public:
  ListedBlocks(const Trace& trace, const Signature& call, std::string_view counts,
               std::string_view types)
      : trace_(trace), counts_(argument(call, counts)), types_(argument(call, types)) {
    if (!types_.is_array()) element_ = element(trace, types_);
  }
  uint64_t bytes(int64_t i) const override {
    const auto at = static_cast<uint64_t>(i);
    return events::multiply(events::sum_of_counts(counts_.at(at)),
                            types_.is_array() ? element(trace_, types_.at(at)) : element_);
  }

 private:
  const Trace& trace_;
  const Value& counts_;
  const Value& types_;
  uint64_t element_ = 0;
};

// Of gather and scatter, a rank that is not the root: its own.
class OwnBlock : public BlockSizes {
 public:
  explicit OwnBlock(uint64_t bytes) : bytes_(bytes) {}
  uint64_t bytes(int64_t) const override { return bytes_; }

 private:
  uint64_t bytes_;
};

class Maker {
 public:
  Maker(const Trace& trace, const Machine& machine, const Signature& call, PreparedCollective& out)
      : trace_(trace), machine_(machine), call_(call), out_(out) {
    in_place_ = argument(call, "sendbuf").name() == "MPI_IN_PLACE";
  }

  // As the blocking function `plain` does it.
  void take(CallId plain) {
    const auto is = [&](auto... calls) { return ((plain == calls) || ...); };
    if (is(mpi::kMPI_Bcast)) return all(Collective::kBcast);
    if (is(mpi::kMPI_Reduce)) return all(Collective::kReduce);
    if (is(mpi::kMPI_Allreduce)) return all(Collective::kAllreduce);
    if (is(mpi::kMPI_Scan, mpi::kMPI_Exscan)) return all(Collective::kScan);
    if (is(mpi::kMPI_Allgather)) return block(Collective::kAllgather, "recvcount", "recvtype");
    if (is(mpi::kMPI_Allgatherv)) return listed(Collective::kAllgather, "recvcounts", "recvtype");
    if (is(mpi::kMPI_Reduce_scatter))
      return listed(Collective::kReduceScatter, "recvcounts", "datatype");
    if (is(mpi::kMPI_Reduce_scatter_block))
      return block(Collective::kReduceScatter, "recvcount", "datatype");
    if (is(mpi::kMPI_Alltoall))
      return in_place_ ? block(Collective::kAlltoall, "recvcount", "recvtype")
                       : block(Collective::kAlltoall, "sendcount", "sendtype");
    if (is(mpi::kMPI_Alltoallv, mpi::kMPI_Alltoallw)) {
      const bool has_types = is(mpi::kMPI_Alltoallw);
      return in_place_
                 ? listed(Collective::kAlltoall, "recvcounts", has_types ? "recvtypes" : "recvtype")
                 : listed(Collective::kAlltoall, "sendcounts",
                          has_types ? "sendtypes" : "sendtype");
    }
    if (is(mpi::kMPI_Gather, mpi::kMPI_Gatherv))
      return rooted(Collective::kGather, is(mpi::kMPI_Gatherv));
    if (is(mpi::kMPI_Scatter, mpi::kMPI_Scatterv))
      return rooted(Collective::kScatter, is(mpi::kMPI_Scatterv));
    if (!mpi::meaning_of(plain).does_any(mpi::kDoesMake)) return;  // a barrier
    const std::string& how = machine_.collectives.new_communicator;
    out_.call.what = how == "bcast"       ? Collective::kBcast
                     : how == "allreduce" ? Collective::kAllreduce
                                          : Collective::kAllgather;
    out_.call.bytes = 8;
  }

 private:
  void all(Collective what) { block(what, "count", "datatype"); }
  void block(Collective what, std::string_view count, std::string_view type) {
    out_.call.what = what;
    out_.call.bytes = product(trace_, call_, count, type);
  }
  void listed(Collective what, std::string_view counts, std::string_view types) {
    out_.call.what = what;
    out_.blocks = std::make_unique<ListedBlocks>(trace_, call_, counts, types);
  }
  void rooted(Collective what, bool is_vector) {
    const bool gathers = what == Collective::kGather;
    const bool at_root = out_.call.me == out_.call.root;
    const bool sends = gathers != at_root;  // the parameters that matter here
    if (is_vector && at_root)
      return listed(what, sends ? "sendcounts" : "recvcounts", sends ? "sendtype" : "recvtype");
    block(what, sends ? "sendcount" : "recvcount", sends ? "sendtype" : "recvtype");
    if (is_vector) out_.blocks = std::make_unique<OwnBlock>(out_.call.bytes);
  }

  const Trace& trace_;
  const Machine& machine_;
  const Signature& call_;
  PreparedCollective& out_;
  bool in_place_ = false;
};

void choose(const Machine& machine, bool is_inter, PreparedCollective& out) {
  CollectiveCall& call = out.call;
  for (const CollectiveRule& rule : machine.collectives.rules) {
    const auto ranks = static_cast<uint64_t>(call.ranks);
    if (rule.call != name_of(call.what) || call.bytes > rule.up_to || ranks < rule.least_ranks ||
        ranks > rule.most_ranks)
      continue;
    const Algorithm* const found = find_algorithm(rule.algorithm, call.what);
    if (found == nullptr || (call.blocks != nullptr && !found->takes_blocks)) continue;
    out.algorithm = found;
    call.segment = rule.segment;
    break;
  }
  if (out.algorithm == nullptr)
    out.algorithm = &preset_algorithm(machine.collectives.preset, call, call.segment);
  if (is_inter) out.algorithm = find_algorithm("analytic");
}

}  // namespace

bool PreparedCollective::step(uint32_t number, Step& out) const {
  if (neighbours == nullptr) return algorithm->step(call, number, out);
  if (number > 0) return false;
  for (const int64_t source : neighbours->sources)
    if (source >= 0) out.receive(source);
  for (size_t i = 0; i < neighbours->targets.size(); ++i)
    if (neighbours->targets[i] >= 0)
      out.send(neighbours->targets[i], call.block(static_cast<int64_t>(i)));
  return true;
}

PreparedCollective prepare_neighbours(const Trace& trace, const events::Op& op,
                                      const Signature& call, const Neighbours::Lists& lists) {
  PreparedCollective out;
  out.neighbours = &lists;
  out.call.ranks = static_cast<int64_t>(op.comm.comm.size());
  out.call.me = std::max<int64_t>(0, op.comm.comm.me);
  const CallId plain = mpi::plain_call(call.call);
  if (plain == mpi::kMPI_Neighbor_alltoallv)
    out.blocks = std::make_unique<ListedBlocks>(trace, call, "sendcounts", "sendtype");
  else if (plain == mpi::kMPI_Neighbor_alltoallw)
    out.blocks = std::make_unique<ListedBlocks>(trace, call, "sendcounts", "sendtypes");
  else
    out.call.bytes = product(trace, call, "sendcount", "sendtype");
  out.call.blocks = out.blocks.get();
  return out;
}

Hockney hockney_costs(const Machine& machine, uint64_t bytes) {
  const SizeRange& range = machine.distances[kDistances - 1].range_of(bytes);
  return {range.latency.value + range.send.value + range.receive.value, range.gap_per_byte.value,
          machine.collectives.reduce_per_byte};
}

PreparedCollective prepare_collective(const Trace& trace, const Machine& machine,
                                      const events::Op& op, const Signature& call) {
  PreparedCollective out;
  const Communicator& comm = op.comm.comm;
  const bool is_inter = comm.is_inter;
  out.call.ranks = static_cast<int64_t>(is_inter ? op.comm.all_ranks : comm.size());
  out.call.me = std::max<int64_t>(0, comm.me);
  out.call.root = argument(call, "root").integer_or(0);
  if (out.call.root < 0 || out.call.root >= out.call.ranks) out.call.root = 0;
  Maker(trace, machine, call, out).take(mpi::plain_call(call.call));
  out.call.blocks = out.blocks.get();
  choose(machine, is_inter, out);
  if (out.is_analytic()) {
    CollectiveCall same = out.call;
    // All ranks must come to one result: of blocks that differ, each knows others.
    if (same.blocks != nullptr && same.what != Collective::kAllgather) same.blocks = nullptr;
    if (same.blocks != nullptr) {
      uint64_t sum = 0;
      for (int64_t i = 0; i < static_cast<int64_t>(comm.size()); ++i) sum += same.block(i);
      same.bytes = sum / static_cast<uint64_t>(std::max<int64_t>(1, same.ranks));
    }
    out.formula_ns =
        static_cast<uint64_t>(rounded(analytic_ns(same, hockney_costs(machine, same.bytes))));
  }
  return out;
}

}  // namespace refrain::sim
