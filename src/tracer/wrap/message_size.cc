#include "tracer/wrap/message_size.h"

#include <optional>

#include "mpi_runtime/queries.h"
#include "tracer/requests/left_out.h"
#include "tracer/wrap/completion.h"

namespace refrain::tracer {

namespace {

// MPI is asked of datatypes that are known to be some only: of others it would complain, and not
// to the program's error handler.
std::optional<uint64_t> bytes_of(RecordedThread& location, int64_t count, MPI_Datatype type) {
  if (count < 0 || type == MPI_DATATYPE_NULL) return std::nullopt;
  const Captured known = location.encoder.lookup(Kind::kDatatype, handle_key(type));
  if (known.what == Captured::What::kNone) return std::nullopt;
  const auto size = size_of_type(type);
  if (!size) return std::nullopt;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(count), *size, &bytes)) return std::nullopt;
  return bytes;
}

bool is_outside(std::optional<uint64_t> bytes) {
  return bytes && !control().sizes->bounds.keeps(*bytes);
}

// A message to or from nowhere has no bytes: a receive from there says so too.
bool is_send_outside(RecordedThread& location, int64_t count, MPI_Datatype type, int dest) {
  return is_outside(dest == MPI_PROC_NULL ? 0 : bytes_of(location, count, type));
}

bool sends_inside(RecordedThread& location, int64_t count, MPI_Datatype type, int dest) {
  return dest != MPI_PROC_NULL && !is_send_outside(location, count, type, dest);
}

bool sends_only(int dest, int source) { return dest != MPI_PROC_NULL && source == MPI_PROC_NULL; }

mpi::CallId leave_out_if(const NextCall& call, bool outside) {
  if (!outside) return 0;
  count_left_out(call.id);
  return CallScope::left_out(true);
}

// Of members of one group; between two groups not all of them know the amount.
bool is_intra(const NextCall& call, MPI_Comm comm, int* rank) {
  Process& p = *call.location.process;
  Process::Guard guard(p);
  const uint32_t def = p.handles.find(Kind::kComm, handle_key(comm));
  const CommInfo* const info = def < p.comms.size() ? p.comms[def] : nullptr;
  if (info == nullptr || info->inter) return false;
  *rank = info->rank;
  return true;
}

}  // namespace

// ---- before the call ----

mpi::CallId size_of_send(const NextCall& call, int64_t count, MPI_Datatype type, int dest) {
  if (control().sizes == nullptr) return 0;
  return leave_out_if(call, is_send_outside(call.location, count, type, dest));
}

mpi::CallId size_of_access(const NextCall& call, int64_t count, MPI_Datatype type) {
  if (control().sizes == nullptr) return 0;
  return leave_out_if(call, is_outside(bytes_of(call.location, count, type)));
}

mpi::CallId size_of_collective(const NextCall& call, int64_t count, MPI_Datatype type,
                               MPI_Comm comm) {
  return size_of_rooted(call, 0, comm, count, type, count, type);
}

mpi::CallId size_of_rooted(const NextCall& call, int root, MPI_Comm comm, int64_t root_count,
                           MPI_Datatype root_type, int64_t count, MPI_Datatype type) {
  int rank = 0;
  if (control().sizes == nullptr || !is_intra(call, comm, &rank)) return 0;
  return leave_out_if(call, is_outside(rank == root ? bytes_of(call.location, root_count, root_type)
                                                    : bytes_of(call.location, count, type)));
}

mpi::CallId size_of_part(const NextCall& call, MPI_Request request) {
  if (control().sizes == nullptr) return 0;
  return leave_out_if(call, call.location.encoder.is_filtered_request(request));
}

mpi::CallId size_of_receive(const NextCall& call, int64_t count, MPI_Datatype type) {
  if (control().sizes == nullptr) return 0;
  const uint64_t room = bytes_of(call.location, count, type).value_or(0);
  control().sizes->held.will_receive(call.location, room);
  return CallScope::held();
}

mpi::CallId size_of_exchange(const NextCall& call, int64_t send_count, MPI_Datatype send_type,
                             int dest, int64_t count, MPI_Datatype type, int source) {
  if (control().sizes == nullptr || sends_inside(call.location, send_count, send_type, dest))
    return 0;
  if (sends_only(dest, source)) return leave_out_if(call, true);
  return size_of_receive(call, count, type);
}

// ---- after the call ----

Verdict verdict_of(const SizeFilter& filter, const MPI_Status& status, int code, uint64_t posted,
                   bool* unknown) {
  const int error = code == MPI_SUCCESS ? MPI_SUCCESS : error_class(code);
  const auto bytes = received_bytes(status);
  // Of a message that was too long some MPIs do not say how long it was.
  const bool is_known = error == MPI_SUCCESS || (error == MPI_ERR_TRUNCATE && bytes > posted);
  if (bytes && is_known) return filter.bounds.keeps(*bytes) ? Verdict::kKept : Verdict::kDropped;
  if (error == MPI_ERR_TRUNCATE && filter.bounds.keeps_none_beyond(posted))
    return Verdict::kDropped;
  *unknown = error == MPI_SUCCESS ||
             (error == MPI_ERR_TRUNCATE && !filter.bounds.keeps_all_beyond(posted));
  return Verdict::kKept;
}

void filter_received(CallScope& scope, int rc, const MPI_Status* status, int64_t count,
                     MPI_Datatype type) {
  SizeFilter* const filter = control().sizes;
  if (filter == nullptr || scope.is_left_out()) return;
  const uint64_t posted =
      rc == MPI_SUCCESS ? 0 : bytes_of(scope.location(), count, type).value_or(0);
  bool unknown = false;
  if (verdict_of(*filter, *status, rc, posted, &unknown) == Verdict::kKept) {
    if (unknown) filter->held.count_unknown(scope.call());
    return;
  }
  scope.leave_out(true);
  count_left_out(scope.call());
}

void filter_exchanged(CallScope& scope, int rc, const MPI_Status* status, int64_t send_count,
                      MPI_Datatype send_type, int dest, int64_t count, MPI_Datatype type,
                      int source) {
  if (control().sizes == nullptr || scope.is_left_out() ||
      sends_inside(scope.location(), send_count, send_type, dest))
    return;
  if (!sends_only(dest, source)) return filter_received(scope, rc, status, count, type);
  scope.leave_out(true);
  count_left_out(scope.call());
}

// ---- completions ----

bool RequestSnapshot::knows_held() const {
  const SizeFilter* const filter = control().sizes;
  for (int i = 0; i < count_ && filter != nullptr; ++i)
    if (entries_[i] != nullptr && filter->held.knows(entries_[i])) return true;
  return false;
}

void RequestSnapshot::learn_size(int i, const MPI_Status& status, int code) {
  const RequestEntry* const r = entries_[i];
  if (r == nullptr || !control().sizes->held.knows(r)) return;
  if (code != MPI_SUCCESS && error_class(code) == MPI_ERR_PENDING) return;
  HeldCalls& held = control().sizes->held;
  if (code == MPI_SUCCESS && is_cancelled(status)) return held.decide(r, Verdict::kKept);
  bool unknown = false;
  const Verdict verdict = verdict_of(*control().sizes, status, code, held.posted(r), &unknown);
  unknown ? held.give_up(r) : held.decide(r, verdict);
}

// As under the other filters, a completion is kept when one of its requests is.
void RequestSnapshot::follow_sizes(CallScope& scope, const MPI_Request* now) {
  HeldCalls& held = control().sizes->held;
  bool kept = false;
  std::vector<const RequestEntry*> undecided;
  for (int i = 0; i < count_; ++i) {
    const RequestEntry* const r = entries_[i];
    if (r == nullptr) continue;
    const bool over = now != nullptr && now[i] == MPI_REQUEST_NULL;
    if (over) held.give_up(r);
    Verdict verdict = held.verdict(r);
    if (verdict == Verdict::kUndecided) {
      undecided.push_back(r);
      continue;
    }
    if (is_filtered(r->terminal)) verdict = Verdict::kDropped;
    kept = kept || verdict == Verdict::kKept;
    if (over || (now != nullptr && r->traits.persistent)) held.end(r);
  }
  if (scope.is_left_out() || kept) return;
  if (undecided.empty()) {
    scope.leave_out(true);
    return count_left_out(scope.call());
  }
  held.wait_for(scope.location(), std::move(undecided), false);
  scope.mark(CallScope::held());
}

void RequestSnapshot::encode_started(Encoder& e) const {
  if (control().sizes == nullptr) return encode_requests(e);
  e.begin_array(count_);
  for (int i = 0; i < count_; ++i) {
    e.begin_element();
    const RequestEntry* const r = entries_[i];
    r != nullptr&& is_filtered(r->terminal) ? e.none() : encode_request(e, i);
    e.end_element();
  }
  e.end_array();
}

void RequestSnapshot::start_sizes(CallScope& scope, int rc) {
  SizeFilter* const filter = control().sizes;
  if (filter == nullptr || rc != MPI_SUCCESS || scope.is_left_out()) return;
  bool kept = false;
  std::vector<const RequestEntry*> receives;
  for (int i = 0; i < count_; ++i) {
    const RequestEntry* const r = entries_[i];
    if (r == nullptr || is_filtered(r->terminal)) continue;
    const bool waits = r->traits.persistent && r->traits.is_receive && !r->traits.partitioned;
    kept = kept || !waits;
    if (!waits) continue;
    filter->held.begin(r, scope.call(), 0);
    receives.push_back(r);
  }
  if (kept || receives.empty()) return;
  filter->held.wait_for(scope.location(), std::move(receives), true);
  scope.mark(CallScope::held());
}

}  // namespace refrain::tracer
