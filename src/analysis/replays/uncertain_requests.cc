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
  const bool leaves_open = s.call == mpi::kMPI_Cancel || (completes && s.failed());
  for_each_request(s, [&](SignatureId request) {
    if (leaves_open)
      open_.insert(request);
    else if (completes)
      open_.erase(request);
  });
}

bool UncertainRequests::has(const Value& request) const {
  return request.kind == ValueKind::kRequest && open_.count(request.request_signature()) != 0;
}

bool UncertainRequests::has_any_of(const Signature& s) const {
  bool found = false;
  for_each_request(s, [&](SignatureId request) { found = found || open_.count(request) != 0; });
  return found;
}

}  // namespace refrain::analysis
