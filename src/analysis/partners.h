// Who a call exchanges messages with: for all that divide the time of calls among pairs of ranks.
#pragma once

#include <cstdint>

#include "events/guarded_op.h"
#include "events/op.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::analysis {

// Calls visit(source, dest, share, is_send) for each message end of a call with a known partner in
// the world: its share of the call adds up to 1 where all are known. A completion is shared evenly
// among its requests, a call that sends and receives among the two; a persistent request has its
// messages when it completes.
template <class Visit>
void for_each_partner(RankReader& reader, events::Decoder& ops, const Signature& call,
                      Visit visit) {
  const Rank me = reader.rank(), all = reader.trace().rank_count();
  const auto count = [&](const events::Op& of, double share) {
    const bool sends = of.send.peer >= 0 && of.send.peer < all;
    const bool receives = of.receive.peer >= 0 && of.receive.peer < all;
    const double each = sends && receives ? share / 2 : share;
    if (sends) visit(me, of.send.peer, each, true);
    if (receives) visit(of.receive.peer, me, each, false);
  };
  const events::Op& op = events::op_of(ops, call);
  if (!op.is_persistent) count(op, 1);
  if (op.action != events::Action::kComplete || op.requests.empty()) return;
  const double share = 1 / static_cast<double>(op.requests.size());
  for (const events::RequestUse& use : op.requests)
    if (use.request < reader.trace().signature_count())
      count(events::op_of(ops, reader.signature(use.request)), share);
}

}  // namespace refrain::analysis
