// What analyses of every rank's signatures have in common: each rank is decoded once, with how
// often it makes each call.
#pragma once

#include <cstdint>
#include <vector>

#include "events/comms.h"
#include "events/op.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::analysis {

// Calls fold.add(reader, occurrences, ops) for every rank, group by group; the arguments live for
// that call only. Costs ranks x signatures, however many calls they stand for.
template <class Fold>
void fold_over_ranks(const Trace& trace, Fold& fold) {
  events::CommTable comms(trace);
  events::Decoder::Places places;
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const std::vector<Trace::Occurrence> occurrences = trace.occurrences(g);
    for (uint64_t i = 0; i < trace.group_size(g); ++i) {
      RankReader reader(trace, trace.group_rank(g, i));
      events::Decoder ops(reader, comms, places);
      fold.add(reader, occurrences, ops);
    }
  }
}

}  // namespace refrain::analysis
