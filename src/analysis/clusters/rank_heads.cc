#include "analysis/clusters/rank_heads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/clusters/signature_event.h"
#include "analysis/clusters/structure.h"
#include "events/buffers/transfers.h"
#include "events/payload.h"
#include "grammar/concatenate.h"
#include "grammar/fold.h"
#include "reader/call_gaps.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {

namespace {

using similarity::RankEvent;
using similarity::RankHead;

// From the times of single calls, of a trace without totals.
Result<similarity::RankTimes> times_of_calls(const Trace& trace, Rank rank) {
  similarity::RankTimes out;
  RankReader reader(trace, rank, Times::kRead);
  for (const Location& location : trace.locations(rank)) {
    auto cursor = reader.cursor(location.thread);
    if (!cursor.ok()) return cursor.error();
    reader::CallGaps gaps(trace, rank, location.thread);
    while (const Call* call = cursor->next()) {
      out.computation_ns += static_cast<double>(gaps.before(*call).value_or(0));
      out.communication_ns += static_cast<double>(call->end_ns - call->begin_ns);
    }
    if (!cursor->time_status().ok()) return cursor->time_status().error();
  }
  return out;
}

Result<similarity::RankTimes> times_of(const Trace& trace, Rank rank) {
  const auto& totals = reader::data_of(trace).totals;
  const auto r = static_cast<size_t>(rank);
  if (r < totals.size())
    return similarity::RankTimes{static_cast<double>(totals[r].outside_ns),
                                 static_cast<double>(totals[r].in_mpi_ns)};
  if (trace.has_times()) return times_of_calls(trace, rank);
  return similarity::RankTimes{};
}

// The ranks of one group have one grammar; most of their signatures say the same of all of them.
class GroupHeads {
 public:
  GroupHeads(const Trace& trace, GroupId group)
      : trace_(trace), signatures_(reader::data_of(trace).groups[group].signatures) {
    const auto& data = reader::data_of(trace);
    grammar::Concatenation all;
    const auto& locations = data.groups[group].locations;
    for (const auto& location : locations) all.add(data.grammars[location.grammar]);
    grammar_ = locations.size() == 1 ? data.grammars[locations[0].grammar] : all.finish();
    used_ = grammar::occurrences(grammar_, signatures_.size());
    events_.resize(signatures_.size());
    classes_.resize(signatures_.size());
    is_shared_.resize(signatures_.size());
    for (const uint64_t n : used_) calls_ += n;
  }

  uint64_t calls() const { return calls_; }

  void head(SignatureEvents& rank, const similarity::RankTimes& times, RankHead& head,
            uint64_t& sequence) {
    bool has_new_class = is_first_;
    for (size_t t = 0; t < events_.size(); ++t) {
      if (used_[t] == 0 || is_shared_[t]) continue;
      SignatureEvents::Event event = rank.of(SignatureId(signatures_[t]));
      is_shared_[t] =
          event.is_absolute && reader::data_of(trace_).signatures.is_constant(signatures_[t]);
      has_new_class = has_new_class || classes_[t] != event.call_class;
      classes_[t] = event.call_class;
      events_[t] = std::move(event.event);
    }
    is_first_ = false;
    if (has_new_class) {
      structure_ = sequence_hash(grammar_, classes_, true);
      sequence_ = sequence_hash(grammar_, classes_, false);
    }
    head.structure = structure_;
    head.signature = similarity::rank_signature(grammar_, events_, times);
    sequence = sequence_;
  }

 private:
  const Trace& trace_;
  const std::vector<uint32_t>& signatures_;
  grammar::Grammar grammar_;
  std::vector<uint64_t> used_;
  std::vector<RankEvent> events_;  // by terminal, of the rank before
  std::vector<uint64_t> classes_;
  std::vector<bool> is_shared_;
  uint64_t calls_ = 0;
  bool is_first_ = true;
  uint64_t structure_ = 0, sequence_ = 0;
};

// Visits every rank that left a record: visit(rank, head, sequence, calls).
template <class Visit>
Status for_each_head(const Trace& trace, Visit visit) {
  events::CommTable comms(trace);
  events::Decoder::Places places;
  StackHashes stacks(trace);
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    GroupHeads group(trace, g);
    for (uint64_t i = 0; i < trace.group_size(g); ++i) {
      const Rank rank = trace.group_rank(g, i);
      const auto times = times_of(trace, rank);
      if (!times.ok()) return times.error();
      RankReader reader(trace, rank);
      SignatureEvents events(reader, comms, places, stacks);
      RankHead head;
      head.rank = static_cast<uint32_t>(rank);
      uint64_t sequence = 0;
      group.head(events, *times, head, sequence);
      visit(rank, head, sequence, group.calls());
    }
  }
  return base::Done{};
}

// load(rank) is where its sums go, or null.
template <class Load>
void add_loads(const Trace& trace, Load load_of) {
  const auto& totals = reader::data_of(trace).totals;
  events::GraphDegrees graphs(trace);
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const auto occurrences = trace.occurrences(g);
    for (uint64_t i = 0; i < trace.group_size(g); ++i) {
      const Rank rank = trace.group_rank(g, i);
      format::RankLoad& load = load_of(rank);
      if (static_cast<size_t>(rank) < totals.size()) {
        load.in_mpi_ns = totals[static_cast<size_t>(rank)].in_mpi_ns;
        load.outside_ns = totals[static_cast<size_t>(rank)].outside_ns;
      }
      RankReader reader(trace, rank);
      events::TransferReader transfers(reader, graphs);
      for (const Trace::Occurrence& seen : occurrences) {
        load.calls = events::add(load.calls, seen.calls);
        for (const events::Transfer& t : transfers.transfers(seen.signature))
          load.bytes = events::add(
              load.bytes, events::multiply(t.bytes, events::multiply(t.repeat, seen.calls)));
      }
    }
  }
}

}  // namespace

Result<RankHeads> rank_heads(const Trace& trace) {
  RankHeads out;
  const auto ranks = static_cast<size_t>(trace.rank_count());
  out.heads.resize(ranks);
  out.sequence.resize(ranks);
  out.calls.resize(ranks);
  for (size_t r = 0; r < ranks; ++r) out.heads[r].rank = static_cast<uint32_t>(r);
  const Status done =
      for_each_head(trace, [&](Rank rank, const RankHead& head, uint64_t sequence, uint64_t calls) {
        const auto r = static_cast<size_t>(rank);
        out.heads[r] = head;
        out.sequence[r] = sequence;
        out.calls[r] = calls;
      });
  if (!done.ok()) return done.error();
  return out;
}

Result<format::ClusterMember> cluster_member(const Trace& trace, Rank rank) {
  format::ClusterMember out;
  out.head.rank = static_cast<uint32_t>(rank);
  const Status done =
      for_each_head(trace, [&](Rank of, const RankHead& head, uint64_t sequence, uint64_t) {
        if (of == rank) out.head = head, out.sequence = sequence;
      });
  if (!done.ok()) return done.error();
  format::RankLoad other;
  add_loads(trace, [&](Rank of) -> format::RankLoad& { return of == rank ? out.load : other; });
  return out;
}

Result<std::vector<format::ClusterMember>> cluster_members(const Trace& trace) {
  auto heads = rank_heads(trace);
  if (!heads.ok()) return heads.error();
  std::vector<format::ClusterMember> out(heads->heads.size());
  for (size_t r = 0; r < out.size(); ++r) {
    out[r].head = heads->heads[r];
    out[r].sequence = heads->sequence[r];
  }
  add_loads(trace,
            [&](Rank rank) -> format::RankLoad& { return out[static_cast<size_t>(rank)].load; });
  return out;
}

size_t count_structures(const std::vector<RankHead>& heads) {
  std::vector<uint64_t> all;
  for (const RankHead& h : heads) all.push_back(h.structure);
  std::sort(all.begin(), all.end());
  return static_cast<size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

}  // namespace refrain::analysis::clusters
