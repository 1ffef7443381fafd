#include "replay/room.h"

#include <algorithm>
#include <cstdint>

#include "mpi/output_length.h"

namespace refrain::replay {
namespace {

// A number of the trace that no array of the trace confirms: of MPI_Cart_get with a maxdims that
// says "all".
constexpr size_t kMostUnseen = size_t{1} << 20;
// Beyond the number that the call names.
constexpr size_t kMore = 64;
constexpr size_t kMoreOfString = 8192;

size_t unseen(int64_t number) {
  return number <= 0 ? 0 : std::min(static_cast<size_t>(number), kMostUnseen);
}

size_t recorded(const Value& value) {
  return std::max<size_t>(value.at_entry().size(), value.at_exit().size());
}

}  // namespace

size_t room_of(const Signature& call, const mpi::CallInfo& info, size_t i) {
  const mpi::ParamInfo& param = info.params[i];
  const bool is_string = param.kind == mpi::ParamKind::kString;
  const size_t own = std::max<size_t>(recorded(call.args[i].value), 1);
  if (!param.is_array && !is_string) return own;
  const size_t more = own + kMore + (is_string ? kMoreOfString : 0);
  const int length = mpi::output_length(info.id, i);
  const auto at = static_cast<size_t>(length);
  if (length >= 0 && at < call.args.size() && call.args[at].value.at_entry().is_integer()) {
    // Requests of which none was complete have no statuses, but are an array themselves.
    size_t seen = unseen(call.args[at].value.at_entry().number);
    for (const Argument& argument : call.args) seen = std::max(seen, recorded(argument.value));
    return seen + more;
  }
  // The table does not tell: any number may be the length.
  size_t most = 0;
  for (const Argument& argument : call.args) {
    const Value& value = argument.value.at_entry();
    if (value.is_integer()) most = std::max(most, unseen(value.number));
  }
  return most + more;
}

}  // namespace refrain::replay
