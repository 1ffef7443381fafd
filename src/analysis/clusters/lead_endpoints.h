// Lead endpoints: the calls of a member are those of its lead, with the other ends of messages as
// far away from it as they are from the lead, around the communicator (ACURDION, section II: ranks
// that ScalaTrace writes relative to the own one).
#pragma once

#include <cstdint>

#include "format/trace_data.h"
#include "refrain/trace.h"

namespace refrain::analysis::clusters {

// `data` is the trace's, and has clusters. Every cluster becomes a group with the calls of its
// lead; sampled ranks keep their own. Ranks that calls name (but roots) are relative, objects are
// those of the member with the same number, color and key of MPI_Comm_split are such that it makes
// them, all else is the lead's. What no group needs any longer
// is left out. Messages may lose their other end: a replay pairs them anew
// (events/pairing/pair_anew.h). Where that cannot be, data.clusters says why the result cannot be
// replayed.
void take_lead_endpoints(const Trace& trace, format::TraceData& data);

// Messages that are sent and never received, or the other way around.
struct Unpaired {
  uint64_t messages = 0;  // sends and receives together
  uint64_t of = 0;
};
Unpaired unpaired_messages(const Trace& trace);

}  // namespace refrain::analysis::clusters
