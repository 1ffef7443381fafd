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
  Search(Symbolic& symbolic, const std::set<std::string>& functions)
      : trace_(symbolic.trace()), functions_(functions) {}

  base::Status add(const std::vector<Family>& families) {
    events::CommTable comms(trace_);
    for (const Family& family : families)
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
    return base::Done{};
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
    count();
    return std::move(out_);
  }

 private:
  void add(Rank rank, CallOfKind call, const events::Op& op) {
    const bool probes = op.action == Action::kProbe || op.action == Action::kMatchedProbe;
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
  const std::set<std::string>& functions_;
  std::map<Messages, Ends> by_messages_;
  std::set<std::pair<events::CommKey, Rank>> takes_any_;
  std::set<CallOfKind> probes_, named_;
  Skipped out_;
};

}  // namespace

base::Result<Skipped> skipped_of(Symbolic& symbolic, const std::vector<Family>& families,
                                 const std::set<std::string>& functions) {
  if (functions.empty()) return Skipped();
  Search search(symbolic, functions);
  if (const base::Status good = search.add(families); !good.ok()) return good.error();
  return search.finish();
}

}  // namespace refrain::proxy
