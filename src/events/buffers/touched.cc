#include "events/buffers/touched.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "events/payload.h"
#include "mpi/call_meaning.h"

namespace refrain::events {
namespace {

class Toucher {
 public:
  Toucher(const Trace& trace, const Signature& call, const Communicator& comm,
          const std::function<Degrees(DefinitionId)>& degrees)
      : trace_(trace), call_(call), comm_(comm), degrees_(degrees) {
    const mpi::CallInfo* const info = mpi::find_call(call.call);
    const Value& root = argument(call, info == nullptr ? -1 : info->root_param);
    at_root_ = is_root(root, comm);
    stands_by_ = comm.is_inter && root.name() == "MPI_PROC_NULL";
    sends_ = has_partner("dest") && has_partner("target_rank");
    receives_ = has_partner("source") && has_partner("target_rank");
    for (const mpi::BufferInfo& buffer : meaning().buffers)
      is_in_place_ = is_in_place_ || is_in_place(buffer);
  }

  std::optional<Touched> touch(const mpi::BufferInfo& buffer) const {
    if (stands_by_ || is_in_place(buffer)) return std::nullopt;
    if (buffer.at_root_only && !at_root_) return std::nullopt;
    Touched out;
    out.param = buffer.param;
    // An access that changes nothing looks at nothing of the origin's.
    const bool asks_only = buffer.param >= 0 && argument(call_, "op").name() == "MPI_NO_OP";
    out.is_read = buffer.is_read && sends_ && !asks_only;
    out.is_written = buffer.is_written && receives_;
    if (buffer.is_read_at_root) (at_root_ ? out.is_written : out.is_read) = false;
    if (buffer.is_written && is_in_place_) out.is_read = true;
    if (!out.is_read && !out.is_written) return std::nullopt;
    const std::optional<uint64_t> bytes = bytes_of(buffer);
    out.bytes = bytes.value_or(0);
    out.is_sized = bytes.has_value();
    return out;
  }

  const mpi::CallMeaning& meaning() const { return mpi::meaning_of(call_.call); }

 private:
  bool has_partner(std::string_view parameter) const {
    return argument(call_, parameter).name() != "MPI_PROC_NULL";
  }
  bool is_in_place(const mpi::BufferInfo& buffer) const {
    return buffer.may_be_in_place && argument(call_, buffer.param).name() == "MPI_IN_PLACE";
  }

  std::optional<uint64_t> times(const mpi::BufferInfo& buffer) const {
    const auto known = [](int64_t n) {
      return n < 0 ? std::nullopt : std::optional(static_cast<uint64_t>(n));
    };
    switch (buffer.times) {
      case mpi::Times::kOnce: return 1;
      case mpi::Times::kSize: return comm_.is_inter ? comm_.remote_size() : comm_.size();
      case mpi::Times::kLocalSize: return comm_.size();
      case mpi::Times::kInDegree: return known(degrees_(comm_.definition).in);
      case mpi::Times::kOutDegree: return known(degrees_(comm_.definition).out);
      case mpi::Times::kParts: return known(argument(call_, buffer.times_param).integer_or(-1));
    }
    return std::nullopt;
  }

  std::optional<uint64_t> bytes_of(const mpi::BufferInfo& buffer) const {
    const Value& counts = argument(call_, buffer.count_param);
    const Value& type = argument(call_, buffer.type_param);
    if (buffer.extent == mpi::Extent::kUnknown) return std::nullopt;
    if (buffer.extent == mpi::Extent::kBytes) return sum_of_counts(counts);
    if (type.is_array()) return sum_of_products(trace_, counts, type);
    const std::optional<uint64_t> element = element_bytes(trace_, type);
    const std::optional<uint64_t> factor = times(buffer);
    if (!element || !factor) return std::nullopt;
    uint64_t count = 1;
    if (buffer.extent == mpi::Extent::kOwn)
      count = comm_.me < 0 ? 0 : sum_of_counts(counts.at(static_cast<uint64_t>(comm_.me)));
    else if (buffer.count_param >= 0)
      count = sum_of_counts(counts);
    return multiply(multiply(*element, count), *factor);
  }

  const Trace& trace_;
  const Signature& call_;
  const Communicator& comm_;
  const std::function<Degrees(DefinitionId)>& degrees_;
  bool at_root_ = false, stands_by_ = false, is_in_place_ = false;
  bool sends_ = true, receives_ = true;
};

}  // namespace

std::vector<Touched> touched_by(const Trace& trace, const Signature& call, const Communicator& comm,
                                const std::function<Degrees(DefinitionId)>& degrees) {
  std::vector<Touched> out;
  if (call.failed()) return out;
  const Toucher toucher(trace, call, comm, degrees);
  for (const mpi::BufferInfo& buffer : toucher.meaning().buffers)
    if (const std::optional<Touched> one = toucher.touch(buffer)) out.push_back(*one);
  return out;
}

}  // namespace refrain::events
