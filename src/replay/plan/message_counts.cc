#include "replay/plan/message_counts.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/text.h"
#include "events/matching.h"
#include "events/open_ends.h"
#include "events/payload.h"
#include "mpi/call_name.h"
#include "refrain/calls.h"
#include "replay/plan/left_ends.h"
#include "replay/plan/look.h"

namespace refrain::replay::plan {
namespace {

using events::ChannelKey;
using events::Op;

constexpr uint64_t kMostSignatures = 20000000, kMostChannels = 4000000, kMostRanks = 1 << 20;

class Counter {
 public:
  Counter(const Trace& trace, const std::vector<CallId>& skipped, const LeavesOut& leaves_out)
      : trace_(trace),
        skipped_(skipped),
        leaves_out_(leaves_out),
        comms_(trace),
        left_ends_(trace, skipped, comms_),
        open_(trace.rank_count()) {}

  MessageCounts run() {
    for (Rank rank = 0; rank < trace_.rank_count(); ++rank) {
      add_rank(rank);
      if (channels_.size() > kMostChannels) {
        out_.why_not = "there are too many channels";
        return std::move(out_);
      }
    }
    compare();
    return std::move(out_);
  }

 private:
  struct Ends {
    uint64_t sent = 0, received = 0;
    CallId send_call = 0, receive_call = 0;
    DefinitionId send_site = kNoDefinition, receive_site = kNoDefinition;
  };

  bool is_skipped(CallId call) const {
    return std::find(skipped_.begin(), skipped_.end(), call) != skipped_.end();
  }

  void add_rank(Rank rank) {
    const auto group = trace_.group_of(rank);
    if (!group) {
      open_.add_rank(rank);
      return;
    }
    RankReader reader(trace_, rank);
    events::Decoder decoder(reader, comms_, places_);
    for (const Trace::Occurrence& seen : trace_.occurrences(*group)) {
      const auto is_out = [&](SignatureId id) { return leaves_out_ && leaves_out_(*group, id); };
      if (is_skipped(trace_.call_of(seen.signature)) || is_out(seen.signature)) continue;
      const Op& op = decoder.op(reader.signature(seen.signature));
      if (left_ends_.has(op, rank)) continue;
      open_.add(rank, op, decoder);
      if (!(op.makes_request && op.is_persistent)) add(rank, op, seen.calls);
      if (op.action != events::Action::kStart) continue;
      for (events::RequestUse use : op.requests)
        if (const Op* const maker = decoder.maker(use);
            maker != nullptr && !is_out(maker->signature->id)) {
          open_.add(rank, *maker, decoder);
          add(rank, *maker, seen.calls);
        }
    }
  }

  void add(Rank rank, const Op& op, uint64_t calls) {
    if (op.is_partitioned) return;  // these match among themselves
    if (op.sends() && op.send.peer >= 0) {
      Ends& ends = channels_[events::channel_of_send(op.send, rank)];
      ends.sent = events::add(ends.sent, calls);
      ends.send_call = op.call;
      ends.send_site = op.signature->site;
    }
    if (op.receives() && op.receive.peer >= 0 && op.receive.is_known()) {
      Ends& ends = channels_[events::channel_of_receive(op.receive, rank)];
      ends.received = events::add(ends.received, calls);
      ends.receive_call = op.call;
      ends.receive_site = op.signature->site;
    }
  }

  void compare() {
    for (const auto& [channel, ends] : channels_) {
      ++out_.channels;
      if (ends.sent == ends.received ||
          std::max(channel.source, channel.dest) >= trace_.rank_count() ||
          !open_.is_counted(channel.comm, channel.source, channel.dest, channel.tag))
        continue;
      const bool sends = ends.sent > ends.received;
      uint64_t& left = sends ? out_.sends_left : out_.receives_left;
      left = events::add(left, sends ? ends.sent - ends.received : ends.received - ends.sent);
      out_.uneven.push_back({channel.source, channel.dest, channel.tag, ends.sent, ends.received,
                             sends ? ends.send_call : ends.receive_call,
                             sends ? ends.send_site : ends.receive_site});
    }
    std::sort(out_.uneven.begin(), out_.uneven.end(),
              [](const UnevenChannel& a, const UnevenChannel& b) {
                return std::tie(a.source, a.dest, a.tag, a.sent, a.received) <
                       std::tie(b.source, b.dest, b.tag, b.sent, b.received);
              });
    if (out_.uneven.size() > MessageCounts::kMostShown)
      out_.uneven.resize(MessageCounts::kMostShown);
  }

  const Trace& trace_;
  const std::vector<CallId>& skipped_;
  const LeavesOut& leaves_out_;
  events::CommTable comms_;
  LeftEnds left_ends_;
  events::Decoder::Places places_;
  events::OpenEnds open_;
  std::unordered_map<ChannelKey, Ends, events::ChannelHash> channels_;
  MessageCounts out_;
};

}  // namespace

MessageCounts count_messages(const Trace& trace, const std::vector<CallId>& skipped,
                             const LeavesOut& leaves_out) {
  uint64_t signatures = 0;
  for (GroupId group = 0; group < trace.group_count(); ++group)
    signatures += trace.group_size(group) * trace.occurrences(group).size();
  if (signatures <= kMostSignatures && static_cast<uint64_t>(trace.rank_count()) <= kMostRanks)
    return Counter(trace, skipped, leaves_out).run();
  MessageCounts out;
  out.why_not = "the ranks have too many different calls";
  return out;
}

std::vector<std::string> uneven_texts(const Trace& trace, const MessageCounts& messages) {
  std::vector<std::string> out;
  for (const UnevenChannel& one : messages.uneven)
    out.push_back("from rank " + std::to_string(one.source) + " to rank " +
                  std::to_string(one.dest) + " with tag " + std::to_string(one.tag) + ": " +
                  base::counted_text(one.sent, "send") + ", " +
                  base::counted_text(one.received, "receive") + " (" + mpi::call_name(one.call) +
                  place_of(trace, one.site) + ")");
  return out;
}

}  // namespace refrain::replay::plan
