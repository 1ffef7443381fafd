#include "convert/collective_bytes.h"

#include <algorithm>
#include <string>

#include "analysis/payload.h"

namespace refrain::convert {

using analysis::argument;

std::string plain_collective(std::string_view name) {
  if (name.ends_with("_c")) name.remove_suffix(2);
  if (name.starts_with("MPI_")) name.remove_prefix(4);
  if (name.ends_with("_init")) name.remove_suffix(5);
  std::string out(name);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (out.size() > 1 && out[0] == 'i' && out != "init") out.erase(0, 1);
  return out;
}

uint64_t received_bytes(const Trace& trace, const Signature& call, const Communicator& comm) {
  const std::string name = plain_collective(call.name);
  const auto is = [&](auto... names) { return ((name == names) || ...); };
  const Value& root = argument(call, "root");
  const bool at_root =
      comm.is_inter ? root.name() == "MPI_ROOT" : root.is_integer() && root.number == comm.me;
  const uint64_t peers = comm.is_inter ? comm.remote_size() : comm.size();
  const auto product = [&](const Value& counts, std::string_view type) {
    const uint64_t size = analysis::element_bytes(trace, argument(call, type)).value_or(0);
    return analysis::multiply(analysis::sum_of_counts(counts), size);
  };
  if (is("bcast")) return at_root ? 0 : product(argument(call, "count"), "datatype");
  if (is("reduce", "gather", "gatherv") && !at_root) return 0;
  if (is("allreduce", "reduce", "scan", "exscan"))
    return product(argument(call, "count"), "datatype");
  if (is("reduce_scatter")) {
    const Value& counts = argument(call, "recvcounts");
    return comm.me < 0 ? 0 : product(counts.at(static_cast<uint64_t>(comm.me)), "datatype");
  }
  if (is("reduce_scatter_block")) return product(argument(call, "recvcount"), "datatype");
  if (is("allgather", "alltoall", "gather"))
    return analysis::multiply(product(argument(call, "recvcount"), "recvtype"), peers);
  if (is("scatter", "scatterv")) return product(argument(call, "recvcount"), "recvtype");
  if (is("alltoallw"))
    return analysis::sum_of_products(trace, argument(call, "recvcounts"),
                                     argument(call, "recvtypes"))
        .value_or(0);
  if (call.find("recvcounts") != nullptr) return product(argument(call, "recvcounts"), "recvtype");
  return 0;
}

}  // namespace refrain::convert
