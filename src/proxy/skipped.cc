#include "proxy/skipped.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "events/op.h"

namespace refrain::proxy {
namespace {

using events::Action;
using events::MessageEnd;
using CallOfKind = std::pair<uint32_t, SignatureId>;
// Messages that MPI keeps in order: communicator, world ranks of both ends, tag.
using Messages = std::tuple<events::CommKey, Rank, Rank, int64_t>;

struct Ends {
  std::set<CallOfKind> sends, receives;  // receives: probes as well
};

class Search {
 public:
  Search(Symbolic& symbolic, const std::vector<Family>& families,
         const std::set<std::string>& functions)
      : trace_(symbolic.trace()), families_(families), functions_(functions) {}

  void add() {
    events::CommTable comms(trace_);
    for (const Family& family : families_)
      for (const Kind& kind : family.kinds)
        kind.for_each_rank([&](Rank rank) {
          RankReader reader(trace_, rank);
          events::Decoder::Places places;
          events::Decoder decoder(reader, comms, places);
          for (const uint32_t t : kind.terminals()) {
            const Signature& signature = reader.signature(kind.signature(t));
            if (functions_.contains(std::string(signature.name)))
              out_.all.insert({kind.number, signature.id});
            add(rank, {kind.number, signature.id}, decoder.op(signature));
          }
        });
  }

  base::Result<Skipped> finish() {
    named_ = out_.all;
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (const auto& [messages, ends] : by_messages_) {
        const std::set<CallOfKind> takers = without_probes(ends.receives);
        const size_t sends = dropped(ends.sends), taken = dropped(takers);
        if (sends == 0 && taken == 0) continue;
        if (sends == 0 ? taken < takers.size() : sends < ends.sends.size())
          return base::unsupported(
              fmt::format("--skip leaves out only some of the messages from rank {} to {} with "
                          "tag {}",
                          std::get<1>(messages), std::get<2>(messages), std::get<3>(messages)),
              trace_.name());
        for (const auto* all : {&ends.sends, &ends.receives})
          for (const CallOfKind& one : *all) is_new |= out_.all.insert(one).second;
      }
    }
    for (const auto& [messages, ends] : by_messages_)
      if (dropped(ends.sends) > 0 &&
          takes_any_.contains({std::get<0>(messages), std::get<2>(messages)}))
        return base::unsupported(
            fmt::format("--skip leaves out messages to rank {}, which receives from anybody",
                        std::get<2>(messages)),
            trace_.name());
    drop_at_borders();
    count();
    return std::move(out_);
  }

 private:
  void add(Rank rank, CallOfKind call, const events::Op& op) {
    const bool probes = op.action == Action::kProbe || op.action == Action::kMatchedProbe;
    const auto is_nobody = [](const MessageEnd& end) { return end.peer == events::kNobody; };
    if ((op.sends() || op.receives()) && (!op.sends() || is_nobody(op.send)) &&
        (!op.receives() || is_nobody(op.receive)))
      to_nobody_.insert(call);
    if (op.sends() && op.send.peer >= 0)
      by_messages_[{op.send.comm, rank, op.send.peer, op.send.tag}].sends.insert(call);
    if (!op.receives() && !probes) return;
    const MessageEnd& end = op.receive;
    if (!end.is_known() && !op.is_poll && !out_.all.contains(call))
      takes_any_.insert({end.comm, rank});
    if (!end.is_known() || end.peer < 0) return;
    by_messages_[{end.comm, end.peer, rank, end.tag}].receives.insert(call);
    if (probes) probes_.insert(call);
  }
  // What stands in one place of the program is left out as a whole, where ranks at a border have
  // nobody to send to.
  void drop_at_borders() {
    for (const Family& family : families_)
      for (const uint32_t t : family.kinds.front().terminals()) {
        bool is_any_out = false, are_others_to_nobody = true;
        for (const Kind& kind : family.kinds) {
          const CallOfKind call{kind.number, kind.signature(t)};
          const bool is_out = out_.all.contains(call);
          is_any_out = is_any_out || is_out;
          are_others_to_nobody = are_others_to_nobody && (is_out || to_nobody_.contains(call));
        }
        if (is_any_out && are_others_to_nobody)
          for (const Kind& kind : family.kinds) out_.all.insert({kind.number, kind.signature(t)});
      }
  }
  size_t dropped(const std::set<CallOfKind>& calls) const {
    size_t out = 0;
    for (const CallOfKind& one : calls) out += out_.all.contains(one) ? 1 : 0;
    return out;
  }
  // Probes leave the message where it is.
  std::set<CallOfKind> without_probes(const std::set<CallOfKind>& calls) const {
    std::set<CallOfKind> out;
    for (const CallOfKind& one : calls)
      if (!probes_.contains(one)) out.insert(one);
    return out;
  }
  void count() {
    for (GroupId g = 0; g < trace_.group_count(); ++g)
      for (const Trace::Occurrence& seen : trace_.occurrences(g)) {
        const uint64_t calls = seen.calls * trace_.group_size(g);
        if (named_.contains({g, seen.signature}))
          out_.named += calls;
        else if (out_.all.contains({g, seen.signature}))
          out_.other_ends += calls;
      }
  }

  const Trace& trace_;
  const std::vector<Family>& families_;
  const std::set<std::string>& functions_;
  std::map<Messages, Ends> by_messages_;
  std::set<std::pair<events::CommKey, Rank>> takes_any_;
  std::set<CallOfKind> probes_, named_, to_nobody_;
  Skipped out_;
};

}  // namespace

base::Result<Skipped> skipped_of(Symbolic& symbolic, const std::vector<Family>& families,
                                 const std::set<std::string>& functions) {
  if (functions.empty()) return Skipped();
  Search search(symbolic, families, functions);
  search.add();
  return search.finish();
}

}  // namespace refrain::proxy
