// Communicators with a topology that MPI has made otherwise than recorded: with its ranks in
// another order (reorder), or a graph with its neighbours in another order.

#include <algorithm>
#include <memory>
#include <vector>

#include "events/payload.h"
#include "events/told_neighbours.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/quiet.h"

namespace refrain::replay {
namespace {

std::vector<int> ints_of(const Value& list) {
  std::vector<int> out;
  list.for_each([&](const Value& v) { out.push_back(static_cast<int>(v.integer_or(0))); });
  return out;
}

// One rank's neighbours in a distributed graph.
struct Neighbours {
  std::vector<int> sources, source_weights, targets, target_weights;
  int weighted = 0;
};

Neighbours neighbours_of(MPI_Comm graph) {
  Neighbours out;
  int in = 0, to = 0;
  REFRAIN_QUIET(MPI_Dist_graph_neighbors_count)(graph, &in, &to, &out.weighted);
  out.sources.resize(static_cast<size_t>(in));
  out.source_weights.resize(static_cast<size_t>(in), 1);
  out.targets.resize(static_cast<size_t>(to));
  out.target_weights.resize(static_cast<size_t>(to), 1);
  const bool has_weights = out.weighted != 0;
  REFRAIN_QUIET(MPI_Dist_graph_neighbors)
  (graph, in, out.sources.data(), has_weights ? out.source_weights.data() : MPI_UNWEIGHTED, to,
   out.targets.data(), has_weights ? out.target_weights.data() : MPI_UNWEIGHTED);
  return out;
}

// The same ranks in the order of `wanted`; false: these are others.
bool put_in_order(const std::vector<int>& wanted, std::vector<int>& ranks,
                  std::vector<int>& weights) {
  if (wanted.size() != ranks.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto found =
        std::find(ranks.begin() + static_cast<std::ptrdiff_t>(i), ranks.end(), wanted[i]);
    if (found == ranks.end()) return false;
    std::swap(weights[i], weights[static_cast<size_t>(found - ranks.begin())]);
    std::swap(ranks[i], *found);
  }
  return true;
}

}  // namespace

// The topology that the call gave to what it made, on `plain`, which has the recorded ranks in the
// recorded order. MPI_COMM_NULL: the call gives none, or one that is each rank's own.
uint64_t Engine::with_topology(const Frame& frame, uint64_t plain) {
  const auto comm = mpi_runtime::handle_of<MPI_Comm>(plain);
  const auto values = [&](const char* name) {
    return ints_of(events::argument(frame.signature, name));
  };
  MPI_Comm made = MPI_COMM_NULL;
  switch (frame.meaning.plain) {
    case mpi::kMPI_Cart_create: {
      const std::vector<int> dims = values("dims"), periods = values("periods");
      REFRAIN_QUIET(MPI_Cart_create)
      (comm, static_cast<int>(dims.size()), dims.data(), periods.data(), 0, &made);
      break;
    }
    case mpi::kMPI_Graph_create: {
      const std::vector<int> index = values("index"), edges = values("edges");
      REFRAIN_QUIET(MPI_Graph_create)
      (comm, static_cast<int>(index.size()), index.data(), edges.data(), 0, &made);
      break;
    }
    case mpi::kMPI_Cart_sub: {
      const auto old =
          mpi_runtime::handle_of<MPI_Comm>(static_cast<uint64_t>(frame.arguments->slot(0).number));
      const std::vector<int> remain = values("remain_dims");
      const auto count = static_cast<int>(remain.size());
      std::vector<int> dims(remain.size()), periods(remain.size()), coords(remain.size());
      REFRAIN_QUIET(MPI_Cart_get)(old, count, dims.data(), periods.data(), coords.data());
      std::vector<int> kept, wraps;
      for (size_t i = 0; i < remain.size(); ++i)
        if (remain[i] != 0) kept.push_back(dims[i]), wraps.push_back(periods[i]);
      REFRAIN_QUIET(MPI_Cart_create)
      (comm, static_cast<int>(kept.size()), kept.data(), wraps.data(), 0, &made);
      break;
    }
    default: return plain;
  }
  if (made == MPI_COMM_NULL) return plain;
  MPI_Comm old = comm;
  REFRAIN_QUIET(MPI_Comm_free)(&old);
  return mpi_runtime::handle_key(made);
}

// A graph whose neighbours come in the recorded order: counts of neighbourhood collectives are in
// that order. All members of the graph are in the call that made it.
uint64_t Engine::with_recorded_neighbours(const Frame& frame, DefinitionId definition,
                                          uint64_t key) {
  auto graph = mpi_runtime::handle_of<MPI_Comm>(key);
  if (graph == MPI_COMM_NULL) return key;
  int kind = MPI_UNDEFINED;
  REFRAIN_QUIET(MPI_Topo_test)(graph, &kind);
  if (kind != MPI_DIST_GRAPH) return key;
  Neighbours made = neighbours_of(graph);
  const Neighbours before = made;
  if (told_neighbours_ == nullptr)
    told_neighbours_ = std::make_unique<events::ToldNeighbours>(trace_, rank_);
  const events::Neighbours* const recorded =
      told_neighbours_->of_call(definition, thread_, frame.staged.seq);
  int differs = 0, any = 0;
  if (recorded != nullptr) {
    // Of others than recorded nothing can be made.
    if (!put_in_order(recorded->sources, made.sources, made.source_weights) ||
        !put_in_order(recorded->targets, made.targets, made.target_weights))
      made = before;
    differs = made.sources != before.sources || made.targets != before.targets ? 1 : 0;
  }
  REFRAIN_QUIET(MPI_Allreduce)(&differs, &any, 1, MPI_INT, MPI_MAX, graph);
  if (any == 0) return key;
  const auto parent =
      mpi_runtime::handle_of<MPI_Comm>(static_cast<uint64_t>(frame.arguments->slot(0).number));
  int order = MPI_UNEQUAL;
  REFRAIN_QUIET(MPI_Comm_compare)(parent, graph, &order);
  MPI_Comm again = MPI_COMM_NULL;
  const bool has_weights = made.weighted != 0;
  const auto make_on = [&](MPI_Comm comm) {
    REFRAIN_QUIET(MPI_Dist_graph_create_adjacent)
    (comm, static_cast<int>(made.sources.size()), made.sources.data(),
     has_weights ? made.source_weights.data() : MPI_UNWEIGHTED,
     static_cast<int>(made.targets.size()), made.targets.data(),
     has_weights ? made.target_weights.data() : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &again);
  };
  // The first is freed before, where the parent has its ranks in the same order: the second has its
  // handle then, where MPI uses handles again. A recorder of the replay sees neither, and would not
  // know the graph by another handle, nor that the first one's stands for what is made next.
  if (order == MPI_CONGRUENT) {
    REFRAIN_QUIET(MPI_Comm_free)(&graph);
    make_on(parent);
  } else {
    make_on(graph);
    if (again == MPI_COMM_NULL) return key;
    REFRAIN_QUIET(MPI_Comm_free)(&graph);
  }
  return mpi_runtime::handle_key(again);
}

}  // namespace refrain::replay
