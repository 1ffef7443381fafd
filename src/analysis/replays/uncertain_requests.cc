#include "analysis/replays/uncertain_requests.h"

#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::analysis {
namespace {

template <class F>
void for_each_request(const Signature& s, F f) {
  const auto look = [&](const Value& value) {
    if (value.kind == ValueKind::kRequest) f(value.request_signature());
  };
  for (const Argument& argument : s.args) {
    const Value& entry = argument.value.at_entry();
    look(entry);
    entry.for_each([&](const Value& element) { look(element.at_entry()); });
  }
}

}  // namespace

void UncertainRequests::note(const Signature& s) {
  const Value* const flag = s.find("flag");
  const bool is_done = flag == nullptr || flag->at_exit().integer_or(0) != 0;
  const bool completes = mpi::meaning_of(s.call).does_any(mpi::kDoesComplete) && is_done;
  // Of those that complete several requests at once.
  const bool leaves_open = completes && s.error_class.name() == "MPI_ERR_IN_STATUS";
  for_each_request(s, [&](SignatureId request) {
    if (s.call == mpi::kMPI_Cancel) cancelled_.insert(request);
    if (leaves_open) beside_failed_.insert(request);
    if (!completes || leaves_open) return;
    cancelled_.erase(request);
    beside_failed_.erase(request);
  });
}

bool UncertainRequests::may_be_complete(const Value& request) const {
  return request.kind == ValueKind::kRequest &&
         beside_failed_.count(request.request_signature()) != 0;
}

bool UncertainRequests::has_any_of(const Signature& s) const {
  bool found = false;
  for_each_request(s, [&](SignatureId request) {
    found = found || cancelled_.count(request) + beside_failed_.count(request) != 0;
  });
  return found;
}

}  // namespace refrain::analysis
