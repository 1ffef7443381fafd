#include "events/cartesian.h"

#include <utility>

#include "mpi/call_ids.h"
#include "mpi/call_table.h"
#include "refrain/calls.h"

namespace refrain::events {
namespace {

// A damaged trace may name a grid of any size.
constexpr uint64_t kMostCells = uint64_t{1} << 24;

// Product of the extents; 0 when it is none, or out of any measure.
uint64_t cells_of(const std::vector<int64_t>& dims) {
  uint64_t cells = dims.empty() ? 0 : 1;
  for (const int64_t d : dims) {
    if (d <= 0 || static_cast<uint64_t>(d) > kMostCells) return 0;
    cells *= static_cast<uint64_t>(d);
    if (cells > kMostCells) return 0;
  }
  return cells;
}

std::vector<int64_t> numbers(const Value* value) {
  constexpr uint64_t kMostDimensions = 64;
  std::vector<int64_t> out;
  if (value == nullptr || value->at_exit().size() > kMostDimensions) return out;
  value->at_exit().for_each([&](const Value& v) { out.push_back(v.integer_or(0)); });
  return out;
}

std::optional<CartesianGrid> created(const Trace& trace, Rank rank, const Signature& call) {
  const Value* comm = call.find("comm_cart");
  CartesianGrid grid;
  grid.dims = numbers(call.find("dims"));
  if (comm == nullptr || !comm->at_exit().is_object()) return std::nullopt;
  const auto members = trace.communicator(comm->at_exit().id, rank);
  const uint64_t cells = cells_of(grid.dims);
  if (!members || cells == 0 || members->size() != cells) return std::nullopt;
  for (const int64_t p : numbers(call.find("periods"))) grid.periods.push_back(p != 0);
  grid.source = "MPI_Cart_create";
  grid.communicator = trace.object_name(comm->at_exit().id);
  for (uint64_t i = 0; i < cells; ++i)
    grid.ranks.push_back(members->member(static_cast<int64_t>(i)));
  return grid;
}

std::optional<CartesianGrid> shaped(const Trace& trace, const Signature& call) {
  CartesianGrid grid;
  grid.dims = numbers(call.find("dims"));
  if (cells_of(grid.dims) != static_cast<uint64_t>(trace.rank_count()) || grid.dims.size() < 2)
    return std::nullopt;
  grid.source = "MPI_Dims_create";
  for (Rank r = 0; r < trace.rank_count(); ++r) grid.ranks.push_back(r);
  return grid;
}

}  // namespace

std::optional<CartesianGrid> cartesian_grid(const Trace& trace) {
  std::optional<CartesianGrid> best;
  const auto is_better = [&](const CartesianGrid& grid) {
    if (!best) return true;
    if (best->source != grid.source) return grid.source == "MPI_Cart_create";
    return grid.ranks.size() > best->ranks.size();
  };
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    if (trace.group_size(g) == 0) continue;
    const Rank rank = trace.group_rank(g, 0);
    RankReader reader(trace, rank);
    for (const Trace::Occurrence& seen : trace.occurrences(g)) {
      if (seen.calls == 0) continue;
      const CallId call = trace.call_of(seen.signature);
      std::optional<CartesianGrid> grid;
      if (call == mpi::kMPI_Cart_create)
        grid = created(trace, rank, reader.signature(seen.signature));
      else if (call == mpi::kMPI_Dims_create)
        grid = shaped(trace, reader.signature(seen.signature));
      if (grid && is_better(*grid)) best = std::move(grid);
    }
  }
  return best;
}

}  // namespace refrain::events
