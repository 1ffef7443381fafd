#include "events/topologies.h"

#include <algorithm>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::events {
namespace {

using Kind = TopologyCall::Kind;
constexpr size_t kMostDimensions = 64;

std::vector<int64_t> numbers(const Signature& call, std::string_view name) {
  std::vector<int64_t> out;
  argument(call, name).for_each([&](const Value& v) { out.push_back(v.integer_or(0)); });
  return out;
}

// Dimensions from the slowest to the fastest, as MPI numbers the ranks of a grid.
void add_grid_sources(const std::vector<int64_t>& dims, const std::vector<int64_t>& periods,
                      int64_t me, std::vector<int64_t>& out) {
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    const int64_t size = dims[d];
    const int64_t at = me / stride % size;
    const bool wraps = d < periods.size() && periods[d] != 0;
    for (const int64_t step : {-1, 1}) {
      const int64_t other = at + step;
      if (other >= 0 && other < size)
        out.push_back(me + step * stride);
      else if (wraps)
        out.push_back(me + ((other + size) % size - at) * stride);
    }
    stride *= size;
  }
}

// A grid that has a number for each rank, and no more than a sum can hold.
bool is_grid(const std::vector<int64_t>& dims) {
  int64_t size = 1;
  for (const int64_t d : dims)
    if (d < 1 || __builtin_mul_overflow(size, d, &size)) return false;
  return dims.size() <= kMostDimensions;
}

}  // namespace

std::unique_ptr<TopologyCall> topology_of(const Signature& call, CommTable& comms, Rank me) {
  auto out = std::make_unique<TopologyCall>();
  std::string_view made = "newcomm", old = "comm";
  const CallId plain = mpi::plain_call(call.call);
  if (plain == mpi::kMPI_Cart_create || plain == mpi::kMPI_Graph_create) {
    const bool is_cart = plain == mpi::kMPI_Cart_create;
    out->kind = is_cart ? Kind::kCart : Kind::kGraph;
    made = is_cart ? "comm_cart" : "comm_graph", old = "comm_old";
    out->dims = numbers(call, is_cart ? "dims" : "index");
    (is_cart ? out->flags : out->sources) = numbers(call, is_cart ? "periods" : "edges");
  } else if (plain == mpi::kMPI_Cart_sub) {
    out->kind = Kind::kCartSub;
    out->flags = numbers(call, "remain_dims");
  } else if (plain == mpi::kMPI_Dist_graph_create_adjacent) {
    out->kind = Kind::kAdjacent;
    made = "comm_dist_graph", old = "comm_old";
    out->sources = numbers(call, "sources");
  } else if (plain == mpi::kMPI_Dist_graph_create) {
    out->kind = Kind::kEdges;
    made = "comm_dist_graph", old = "comm_old";
    const std::vector<int64_t> from = numbers(call, "sources"), degrees = numbers(call, "degrees");
    out->targets = numbers(call, "destinations");
    for (size_t i = 0; i < from.size() && i < degrees.size(); ++i)
      for (int64_t n = 0; n < degrees[i] && out->sources.size() < out->targets.size(); ++n)
        out->sources.push_back(from[i]);
  } else if (plain != mpi::kMPI_Comm_dup && plain != mpi::kMPI_Comm_dup_with_info) {
    return nullptr;
  }
  const Value* made_value = call.find(made);
  if (made_value == nullptr || !made_value->at_exit().is_object()) return nullptr;
  const Value& old_value = argument(call, old);
  const CommView before = comms.view(old_value.definition(), me);
  out->made = comms.view(made_value->at_exit().id, me).key;
  out->old = before.key;
  out->me_in_old = before.comm.me;
  return out;
}

void Topologies::note(const TopologyCall& call, bool is_last) {
  const auto known = all_.find(call.old);
  const std::shared_ptr<const Topology> old = known == all_.end() ? nullptr : known->second;
  Topology made;
  made.kind = call.kind;
  switch (call.kind) {
    case Kind::kCopy:
      if (old != nullptr) all_[call.made] = old;
      return;
    case Kind::kCart:
      if (!is_grid(call.dims)) return;
      made.dims = call.dims;
      made.flags = call.flags;
      break;
    case Kind::kCartSub:
      if (old == nullptr || old->kind != Kind::kCart) return;
      made.kind = Kind::kCart;
      for (size_t d = 0; d < old->dims.size() && d < call.flags.size(); ++d) {
        if (call.flags[d] == 0) continue;
        made.dims.push_back(old->dims[d]);
        made.flags.push_back(d < old->flags.size() ? old->flags[d] : 0);
      }
      break;
    case Kind::kGraph:
      made.dims = call.dims;
      made.edges = call.sources;
      break;
    case Kind::kAdjacent:
    case Kind::kEdges: {
      Topology& all = unfinished_[call.made];
      all.kind = call.kind;
      for (size_t i = 0; i < call.sources.size(); ++i)
        all.sources[call.kind == Kind::kEdges ? call.targets[i] : call.me_in_old].push_back(
            call.sources[i]);
      if (!is_last) return;
      made = std::move(all);
      unfinished_.erase(call.made);
    }
  }
  all_[call.made] = std::make_shared<const Topology>(std::move(made));
}

bool Topologies::grid_neighbours(CommKey comm, int64_t me, std::vector<int64_t>& out) const {
  const auto known = all_.find(comm);
  if (known == all_.end() || known->second->kind != Kind::kCart || me < 0) return false;
  const std::vector<int64_t>& dims = known->second->dims;
  std::vector<int64_t> reversed;
  for (size_t d = dims.size(); d-- > 0;) {
    // Of this dimension alone: those below it are one long row.
    int64_t stride = 1;
    for (size_t i = d + 1; i < dims.size(); ++i) stride *= dims[i];
    const bool wraps = d < known->second->flags.size() && known->second->flags[d] != 0;
    const int64_t at = me / stride % dims[d];
    for (const int64_t step : {1, -1}) {
      const int64_t other = at + step;
      const bool is_inside = other >= 0 && other < dims[d];
      reversed.push_back(is_inside || wraps ? me + ((other + dims[d]) % dims[d] - at) * stride
                                            : -1);
    }
  }
  out.insert(out.end(), reversed.rbegin(), reversed.rend());
  return true;
}

bool Topologies::sources(CommKey comm, int64_t me, std::vector<int64_t>& out) const {
  const auto known = all_.find(comm);
  if (known == all_.end() || me < 0) return false;
  const Topology& topology = *known->second;
  if (topology.kind == Kind::kCart) {
    add_grid_sources(topology.dims, topology.flags, me, out);
    return true;
  }
  if (topology.kind == Kind::kGraph) {
    // Edges of rank i end at index[i]. A graph for these calls is symmetric.
    const auto i = static_cast<size_t>(me);
    if (i >= topology.dims.size()) return true;
    const int64_t end = std::min(topology.dims[i], static_cast<int64_t>(topology.edges.size()));
    for (int64_t e = i == 0 ? 0 : std::max<int64_t>(topology.dims[i - 1], 0); e < end; ++e)
      out.push_back(topology.edges[static_cast<size_t>(e)]);
    return true;
  }
  const auto listed = topology.sources.find(me);
  if (listed != topology.sources.end())
    out.insert(out.end(), listed->second.begin(), listed->second.end());
  return true;
}

}  // namespace refrain::events
