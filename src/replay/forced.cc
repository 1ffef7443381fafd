// What could end in several ways is asked so that it ends as recorded.

#include <algorithm>
#include <string_view>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/handle_map.h"
#include "replay/engine.h"
#include "replay/quiet.h"

namespace refrain::replay {
namespace {

int index_of(const mpi::CallInfo& info, std::string_view name) {
  for (size_t i = 0; i < info.params.size(); ++i)
    if (info.params[i].name == name) return static_cast<int>(i);
  return -1;
}

bool is_wildcard(const Value& value) {
  return value.name() == "MPI_ANY_SOURCE" || value.name() == "MPI_ANY_TAG";
}

bool takes_nothing(const Signature& s) {
  return events::argument(s, "source").name() == "MPI_PROC_NULL";
}

}  // namespace

// The largest tag that there may be: programs that use it as well are not replayed as recorded.
int64_t Engine::unused_tag() {
  if (unused_tag_ >= 0) return unused_tag_;
  void* value = nullptr;
  int flag = 0;
  REFRAIN_QUIET(MPI_Comm_get_attr)(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  return unused_tag_ = flag != 0 ? *static_cast<int*>(value) : 32767;
}

// What a receive took that another thread completes.
bool Engine::taken_by_another(const Frame& frame, SignatureId request, int64_t& source,
                              int64_t& tag) {
  if (!state_.has_threads) return false;
  const std::vector<ThreadOrder::End>& ends = state_.order.ended_by_others[thread_];
  const auto end =
      std::lower_bound(ends.begin(), ends.end(), frame.staged.seq,
                       [](const ThreadOrder::End& one, uint64_t seq) { return one.seq < seq; });
  if (end == ends.end() || end->seq != frame.staged.seq) return false;
  const events::Op& op = decoder_->op(reader_.signature(SignatureId(end->name)));
  for (const events::RequestUse& use : op.requests) {
    if (use.request != request || !use.has_message) continue;
    source = use.source;
    tag = use.tag;
    return true;
  }
  return false;
}

void Engine::force_receive(Frame& frame, std::string_view source, std::string_view tag) {
  const Signature& s = frame.signature;
  const int source_at = index_of(frame.info, source), tag_at = index_of(frame.info, tag);
  if (source_at < 0 || tag_at < 0 || takes_nothing(s)) return;
  if (!is_wildcard(events::argument(s, source_at)) && !is_wildcard(events::argument(s, tag_at)))
    return;
  Slot& from = frame.arguments->slot(static_cast<size_t>(source_at));
  Slot& which = frame.arguments->slot(static_cast<size_t>(tag_at));
  const bool makes_request = frame.staged.op->makes_request;
  if (makes_request && frame.info.persistent) return;  // each start takes another: persistent.cc
  const Value* status = s.find("status");
  const Value* taken = status == nullptr ? nullptr : &status->at_exit();
  if (taken == nullptr || taken->kind != ValueKind::kStatus) taken = &s.matched;
  if (makes_request && !frame.staged.taken.empty()) {
    from.number = frame.staged.taken[0].source;
    which.number = tag_of(frame.staged.taken[0].tag);
  } else if (makes_request && taken_by_another(frame, s.id, from.number, which.number)) {
    // as found
  } else if (!makes_request && taken->source().is_integer() && taken->tag().is_integer()) {
    from.number = taken->source().number;
    which.number = tag_of(taken->tag().number);
  } else {
    which.number = unused_tag();  // took nothing: was cancelled, or looked in vain
  }
  ++counts_.masked;
}

base::Status Engine::force_probe(Frame& frame) {
  const Signature& s = frame.signature;
  force_receive(frame, "source", "tag");
  const Value* const flag = s.find("flag");
  if (flag == nullptr) return base::Done{};
  const auto tag_at = static_cast<size_t>(index_of(frame.info, "tag"));
  Arguments& a = *frame.arguments;
  if (takes_nothing(s)) return base::Done{};
  if (flag->at_exit().integer_or(0) == 0) {
    a.slot(tag_at).number = unused_tag();
    ++counts_.masked;
    return base::Done{};
  }
  // It was there: it will be.
  const auto comm = mpi_runtime::handle_of<MPI_Comm>(
      static_cast<uint64_t>(a.slot(static_cast<size_t>(index_of(frame.info, "comm"))).number));
  const auto source_at = static_cast<size_t>(index_of(frame.info, "source"));
  const OthersMayGo others(state_);
  REFRAIN_QUIET(MPI_Probe)
  (static_cast<int>(a.slot(source_at).number), static_cast<int>(a.slot(tag_at).number), comm,
   MPI_STATUS_IGNORE);
  return base::Done{};
}

// The status that the program asked about is told apart by its source and tag alone: what it says
// of the amount is set to what the trace says.
void Engine::force_amount(Frame& frame) {
  Arguments& a = *frame.arguments;
  const Value& count = frame.signature.args[2].value.at_exit();
  if (!count.is_integer() || !a.slot(0).is_address || a.slot(0).place == nullptr) return;
  auto* const status = static_cast<MPI_Status*>(a.slot(0).address);
  const auto type = mpi_runtime::handle_of<MPI_Datatype>(static_cast<uint64_t>(a.slot(1).number));
  const bool counts_types = frame.meaning.plain == mpi::kMPI_Get_count;
  const auto says = [&] {
    MPI_Count found = 0;
    int types = 0;
    if (counts_types)
      REFRAIN_QUIET(MPI_Get_count)(status, type, &types);
    else
      REFRAIN_QUIET(MPI_Get_elements_x)(status, type, &found);
    return counts_types ? MPI_Count{types} : found;
  };
  if (says() == count.number) return;
  int size = 0;
  REFRAIN_QUIET(MPI_Type_size)(type, &size);
  if (counts_types) {
    REFRAIN_QUIET(MPI_Status_set_elements_x)(status, MPI_BYTE, MPI_Count{size} * count.number);
    return;
  }
  constexpr int kLargestElement = 32;  // bytes of a predefined type
  for (int bytes = 1; bytes <= kLargestElement; ++bytes) {
    REFRAIN_QUIET(MPI_Status_set_elements_x)(status, MPI_BYTE, MPI_Count{bytes} * count.number);
    if (says() == count.number) return;
  }
}

// Whether a request was cancelled is in a status that is told apart by its source and tag alone.
void Engine::force_cancelled(Frame& frame) {
  Arguments& a = *frame.arguments;
  if (!a.slot(0).is_address || a.slot(0).place == nullptr) return;
  const int was = events::argument(frame.signature, "flag").at_exit().integer_or(0) != 0 ? 1 : 0;
  REFRAIN_QUIET(MPI_Status_set_cancelled)(static_cast<MPI_Status*>(a.slot(0).address), was);
}

base::Status Engine::force(Frame& frame) {
  const mpi::CallMeaning& meaning = frame.meaning;
  if (frame.info.id == mpi::kMPI_Test_cancelled) force_cancelled(frame);
  if (frame.info.id == mpi::kMPI_Get_elements_x || meaning.plain == mpi::kMPI_Get_count ||
      meaning.plain == mpi::kMPI_Get_elements)
    force_amount(frame);
  if (meaning.does_any(mpi::kDoesProbe)) return force_probe(frame);
  if (meaning.does_any(mpi::kDoesReceive)) {
    const bool exchanges = meaning.does_any(mpi::kDoesSend);
    force_receive(frame, "source", exchanges ? "recvtag" : "tag");
  }
  return base::Done{};
}

}  // namespace refrain::replay
