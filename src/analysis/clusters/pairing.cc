// Counts messages by channel, from what each signature stands for and how often it is called.

#include <unordered_map>

#include "analysis/clusters/lead_endpoints.h"
#include "analysis/rank_loads.h"
#include "events/channel.h"
#include "events/op.h"
#include "events/payload.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {

namespace {

class Pairing {
 public:
  explicit Pairing(const Trace& trace) : trace_(trace), comms_(trace) {}

  Unpaired run() {
    for (GroupId g = 0; g < trace_.group_count(); ++g) {
      const auto occurrences = trace_.occurrences(g);
      for (uint64_t i = 0; i < trace_.group_size(g); ++i) {
        RankReader reader(trace_, trace_.group_rank(g, i));
        events::Decoder ops(reader, comms_, places_);
        for (const Trace::Occurrence& seen : occurrences)
          add(reader, ops, op_of(ops, reader.signature(seen.signature)), seen.calls);
      }
    }
    Unpaired out;
    for (const auto& [channel, counts] : channels_) {
      out.of = events::add(out.of, events::add(counts.sent, counts.received));
      out.messages =
          events::add(out.messages, counts.sent > counts.received ? counts.sent - counts.received
                                                                  : counts.received - counts.sent);
    }
    return out;
  }

 private:
  struct Counts {
    uint64_t sent = 0, received = 0;
  };

  void count(Rank me, const events::MessageEnd& end, bool sends, uint64_t calls) {
    if (end.peer < 0 || !end.is_known()) return;
    Counts& counts = channels_[sends ? events::ChannelKey{end.comm, me, end.peer, end.tag}
                                     : events::ChannelKey{end.comm, end.peer, me, end.tag}];
    uint64_t& n = sends ? counts.sent : counts.received;
    n = events::add(n, calls);
  }

  // What the call posts. A receive from anybody is counted where it says what it took.
  void post(Rank me, const events::Op& op, uint64_t calls) {
    if (op.sends()) count(me, op.send, true, calls);
    if (op.receives() || op.action == events::Action::kMatchedProbe)
      count(me, op.receive, false, calls);
  }

  void add(RankReader& reader, events::Decoder& ops, const events::Op& op, uint64_t calls) {
    const Rank me = reader.rank();
    if (!op.is_persistent) post(me, op, calls);
    if (op.action != events::Action::kStart && op.action != events::Action::kComplete) return;
    for (events::RequestUse use : op.requests) {
      const events::Op* made = ops.maker(use);
      if (made == nullptr) continue;
      if (op.action == events::Action::kStart) {
        post(me, *made, calls);
      } else if (use.has_message && made->receives() && !made->receive.is_known()) {
        events::MessageEnd end = made->receive;
        const auto comm = trace_.communicator(made->signature->context, me);
        end.peer = (comm ? *comm : trace_.world(me)).peer(use.source);
        end.tag = use.tag;
        count(me, end, false, calls);
      }
    }
  }

  const Trace& trace_;
  events::CommTable comms_;
  events::Decoder::Places places_;
  std::unordered_map<events::ChannelKey, Counts, events::ChannelHash> channels_;
};

}  // namespace

Unpaired unpaired_messages(const Trace& trace) { return Pairing(trace).run(); }

}  // namespace refrain::analysis::clusters
