#include <map>
#include <utility>

#include "events/guarded_op.h"
#include "events/op.h"
#include "events/pairing/ends.h"
#include "events/payload.h"
#include "refrain/calls.h"

namespace refrain::events {

namespace {

// All ends of a trace.
class EndFinder {
 public:
  explicit EndFinder(const Trace& trace) : trace_(trace), comms_(trace) {}

  std::vector<End> run() {
    for (GroupId g = 0; g < trace_.group_count(); ++g) {
      const auto occurrences = trace_.occurrences(g);
      for (uint64_t i = 0; i < trace_.group_size(g); ++i) {
        RankReader reader(trace_, trace_.group_rank(g, i));
        events::Decoder ops(reader, comms_, places_);
        starts_.clear();
        place_ = sends_ = receives_ = 0;
        for (const Trace::Occurrence& seen : occurrences) {
          ++place_;
          add(reader, ops, op_of(ops, reader.signature(seen.signature)), seen);
        }
        for (const auto& [id, calls] : starts_) {
          const Signature& made = reader.signature(id);
          post(reader, op_of(ops, made), static_cast<uint32_t>(id), calls);
        }
      }
    }
    return std::move(ends_);
  }

 private:
  void add(RankReader& reader, events::Decoder& ops, const events::Op& op,
           const Trace::Occurrence& seen) {
    if (!op.is_persistent) post(reader, op, static_cast<uint32_t>(seen.signature), seen.calls);
    const bool starts = op.action == events::Action::kStart;
    if (!starts && op.action != events::Action::kComplete) return;
    for (events::RequestUse use : op.requests) {
      const events::Op* made = ops.maker(use);
      if (made == nullptr) continue;
      if (starts) {
        uint64_t& n = starts_[use.request];
        n = events::add(n, seen.calls);
      } else if (use.has_message && made->receives() && !made->receive.is_known()) {
        events::MessageEnd end = made->receive;
        const auto comm = trace_.communicator(made->signature->context, reader.rank());
        end.peer = (comm ? *comm : trace_.world(reader.rank())).peer(use.source);
        end.tag = use.tag;
        put(reader, *made, end, false, static_cast<uint32_t>(use.request), seen.calls, true);
      }
    }
  }

  void post(RankReader& reader, const events::Op& op, uint32_t id, uint64_t calls) {
    if (op.sends()) put(reader, op, op.send, true, id, calls, false);
    if (op.receives()) put(reader, op, op.receive, false, id, calls, false);
    if (op.action == events::Action::kMatchedProbe)
      put(reader, op, op.receive, false, id, calls, true);
  }

  void put(RankReader& reader, const events::Op& op, const events::MessageEnd& end, bool sends,
           uint32_t id, uint64_t calls, bool is_fixed) {
    if (end.peer < 0 || !end.is_known()) return;
    End out;
    out.me = reader.rank();
    out.signature = id;
    out.place = place_;
    out.order = ++(sends ? sends_ : receives_);
    out.is_both = op.action == events::Action::kSendReceive;
    out.sends = sends;
    out.is_fixed = is_fixed || op.is_partitioned;
    out.comm = end.comm;
    out.peer = end.peer;
    out.tag = end.tag;
    out.calls = calls;
    out.bytes = end.bytes;
    out.context = op.signature->context;
    if (!sends) take_room(op, out);
    ends_.push_back(out);
  }

  void take_room(const events::Op& op, End& out) const {
    const Signature& call = *op.signature;
    const bool is_both =
        op.action == events::Action::kSendReceive && !call.find("sendbuf") == false;
    const Value& count = events::argument(call, is_both ? "recvcount" : "count");
    const auto size =
        events::element_bytes(trace_, events::argument(call, is_both ? "recvtype" : "datatype"));
    if (!count.is_integer() || count.number < 0 || !size || *size == 0) {
      out.bytes = UINT64_MAX;  // not known: left as it is
      return;
    }
    out.element_bytes = *size;
    out.bytes = events::multiply(static_cast<uint64_t>(count.number), *size);
  }

  const Trace& trace_;
  events::CommTable comms_;
  events::Decoder::Places places_;
  uint64_t place_ = 0, sends_ = 0, receives_ = 0;  // of the rank, so far
  std::map<SignatureId, uint64_t> starts_;         // of the rank: persistent requests
  std::vector<End> ends_;
};

}  // namespace

std::vector<End> find_ends(const Trace& trace) { return EndFinder(trace).run(); }

}  // namespace refrain::events
