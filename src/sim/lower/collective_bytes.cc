#include "sim/lower/collective_bytes.h"

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::sim {

using events::argument;

uint64_t received_bytes(const Trace& trace, const Signature& call, const Communicator& comm) {
  const CallId plain = mpi::plain_call(call.call);
  const auto is = [&](auto... calls) { return ((plain == calls) || ...); };
  const bool at_root = events::is_root(argument(call, "root"), comm);
  const uint64_t peers = comm.is_inter ? comm.remote_size() : comm.size();
  const auto product = [&](const Value& counts, std::string_view type) {
    const uint64_t size = events::element_bytes(trace, argument(call, type)).value_or(0);
    return events::multiply(events::sum_of_counts(counts), size);
  };
  if (is(mpi::kMPI_Bcast)) return at_root ? 0 : product(argument(call, "count"), "datatype");
  if (is(mpi::kMPI_Reduce, mpi::kMPI_Gather, mpi::kMPI_Gatherv) && !at_root) return 0;
  if (is(mpi::kMPI_Allreduce, mpi::kMPI_Reduce, mpi::kMPI_Scan, mpi::kMPI_Exscan))
    return product(argument(call, "count"), "datatype");
  if (is(mpi::kMPI_Reduce_scatter)) {
    const Value& counts = argument(call, "recvcounts");
    return comm.me < 0 ? 0 : product(counts.at(static_cast<uint64_t>(comm.me)), "datatype");
  }
  if (is(mpi::kMPI_Reduce_scatter_block)) return product(argument(call, "recvcount"), "datatype");
  if (is(mpi::kMPI_Allgather, mpi::kMPI_Alltoall, mpi::kMPI_Gather))
    return events::multiply(product(argument(call, "recvcount"), "recvtype"), peers);
  if (is(mpi::kMPI_Scatter, mpi::kMPI_Scatterv))
    return product(argument(call, "recvcount"), "recvtype");
  if (is(mpi::kMPI_Alltoallw))
    return events::sum_of_products(trace, argument(call, "recvcounts"), argument(call, "recvtypes"))
        .value_or(0);
  if (call.find("recvcounts") != nullptr) return product(argument(call, "recvcounts"), "recvtype");
  return 0;
}

}  // namespace refrain::sim
