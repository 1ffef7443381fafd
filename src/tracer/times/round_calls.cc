#include "tracer/times/round_calls.h"

#include "format/signatures/walk.h"
#include "mpi/call_ids.h"
#include "mpi_runtime/constants_table.h"
#include "tracer/state/location.h"
#include "tracer/state/process.h"

namespace refrain::tracer {

namespace {

// Of all members of the world, of this one alone.
bool spans_world(const Process& p, const CommInfo& c) {
  if (c.inter || c.size != p.size || c.local.size() != static_cast<uint64_t>(p.size)) return false;
  for (uint64_t i = 0; i < c.local.size(); ++i)
    if (c.local.at(i) < 0) return false;
  return true;
}
}  // namespace

// Collectives after which every rank knows that all others have come: these have the same number on
// every rank, so ranks agree on a round by counting, without a message. A broadcast or a reduction
// lets some go on before others have come.
bool RoundCalls::may_count(mpi::CallId call) {
  switch (call) {
    case mpi::kMPI_Barrier:
    case mpi::kMPI_Allreduce:
    case mpi::kMPI_Allgather:
    case mpi::kMPI_Alltoall: return true;
    default: return false;
  }
}

// Without an error, on a communicator of all ranks, and with something to hand on, so that it ends
// nowhere before all have come.
bool RoundCalls::counts(const Process& p, uint32_t terminal, std::string_view signature) {
  if (by_terminal_.size() <= terminal) by_terminal_.resize(terminal + 1, Counts::kUnknown);
  Counts& known = by_terminal_[terminal];
  if (known != Counts::kUnknown) return known == Counts::kYes;
  // Whatever is found below, it stays: a signature is judged once.
  known = Counts::kNo;
  const auto split = format::split_signature(signature);
  if (!split) return false;
  const auto fields = format::parse_fields(split->shape, split->values);
  if (!fields || fields->result) return false;
  const CommInfo* comm = nullptr;
  for (const format::Field& f : fields->parameters) {
    if (f.tag == format::FieldTag::kInt && f.value <= 0) return false;
    if (f.tag != format::FieldTag::kObject || f.number >= p.definitions.size()) continue;
    const auto def = static_cast<uint32_t>(f.number);
    if (p.definitions[def].kind != format::DefinitionKind::kComm || def >= p.comms.size()) continue;
    // With threads two communicators may be used in different orders on two ranks. Then only the
    // world counts.
    if (p.threads_anywhere &&
        def != p.handles.find(format::DefinitionKind::kComm, comm_world_key()))
      return false;
    comm = __atomic_load_n(&p.comms[def], __ATOMIC_ACQUIRE);
  }
  if (comm != nullptr && spans_world(p, *comm)) known = Counts::kYes;
  return known == Counts::kYes;
}

bool RoundCalls::counts(const Location& l, uint32_t terminal) {
  Process& p = *l.process;
  const Process::Guard guard(p);
  // Several threads of a rank may make such calls, and share the table.
  const std::lock_guard<std::mutex> lock(mutex_);
  if (l.first_terminal != p.first_terminal || terminal >= p.signatures.size()) return false;
  // New tables give the same terminals to other signatures.
  if (first_terminal_ != p.first_terminal) by_terminal_.clear();
  first_terminal_ = p.first_terminal;
  return counts(p, terminal, p.signatures.at(terminal));
}

}  // namespace refrain::tracer
