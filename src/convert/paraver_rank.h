// ParaverRank: makes the records of a .prv file from the calls of one rank, before they are sorted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "convert/enter_leave.h"
#include "convert/job.h"
#include "convert/paraver_names.h"
#include "events/by_rank/external_sort.h"
#include "events/by_rank/rank_events.h"

namespace refrain::convert::paraver {

// A record of the .prv file.
struct Record {
  uint64_t ns = 0;
  uint64_t order = 0;  // of those at the same time
  uint32_t kind = 0;   // 1 state, 2 event, 3 message
  uint32_t task = 0, thread = 0, other_task = 0, other_thread = 0;
  uint32_t pairs = 0;       // of an event: types and values
  uint64_t value[5] = {0};  // state: end, state; event: type, value, type, value;
                            // message: posted, received, bytes, tag
  bool operator<(const Record& o) const {
    return std::tie(ns, kind, order) < std::tie(o.ns, o.kind, o.order);
  }
};

// One end of a message: of the channel with this number, the n-th.
struct End {
  uint64_t channel = 0, number = 0;
  uint32_t sends = 0, task = 0, thread = 0;
  int64_t tag = 0;
  uint64_t begin_ns = 0, end_ns = 0, bytes = 0;
  bool operator<(const End& o) const {
    return std::tie(channel, number, sends) < std::tie(o.channel, o.number, o.sends);
  }
};

// An end whose channel has no number yet, but which end it is of all that were met.
struct MetEnd {
  events::ChannelKey key;
  End end;
  auto order() const { return std::tie(key.comm, key.source, key.dest, key.tag, end.channel); }
  bool operator<(const MetEnd& o) const { return order() < o.order(); }
};

class ParaverRank : public EnterLeaveSink {
 public:
  struct Shared {
    Shared(const Job& job, bool has_table)
        : records(job.folder(), job.sort_bytes()), ends(job.folder(), job.sort_bytes()) {
      if (!has_table) met.emplace(job.folder(), job.sort_bytes());
    }
    events::ExternalSort<Record> records;
    events::ExternalSort<End> ends;
    // Channels by number, in the order in which they are met; or ends that are not numbered yet.
    std::unordered_map<events::ChannelKey, uint64_t, events::ChannelHash> channels;
    std::optional<events::ExternalSort<MetEnd>> met;
    uint64_t ends_met = 0;
    std::unordered_map<std::string, uint32_t> sites;
    ParaverNames names;
    uint64_t last_ns = 0, order = 0;
    Status status = base::Done{};
  };

  ParaverRank(Job& job, Shared& shared, Regions& regions, Rank rank)
      : job_(job), shared_(shared), regions_(regions), rank_(rank) {
    uint32_t number = 0;
    for (const Location& location : job.trace.locations(rank))
      threads_[location.thread].number = ++number;
  }

  void enter(const events::Event& call) override {
    Thread& thread = threads_[call.thread];
    for (const events::Step& step : call.steps) {
      if (step.has_message && step.begins_send()) add_end(step, thread, call.begin_ns, call.end_ns);
      if (step.kind == events::StepKind::kPostReceive) posted_[step.request] = call.begin_ns;
    }
    job_.out.collectives += call.collective.is_there ? 1 : 0;
    if (thread.depth++ > 0) return job_.not_held("calls inside of other calls' callbacks");
    running(thread, call.begin_ns);
    const ParaverCall what = paraver_call(call.call->call);
    shared_.names.values[what.type].try_emplace(what.value, call.call->name);
    state(thread, call.begin_ns, call.end_ns, what.state);
    event(thread, call.begin_ns, what.type, what.value, site(*call.call));
    thread.since = call.end_ns;
  }

  void leave(const events::Event& call) override {
    Thread& thread = threads_[call.thread];
    for (const events::Step& step : call.steps) {
      if (!step.ends_receive()) continue;
      const auto posted = posted_.find(step.request);
      const bool blocks = step.kind == events::StepKind::kReceive || posted == posted_.end();
      if (step.has_message)
        add_end(step, thread, blocks ? call.begin_ns : posted->second, call.end_ns);
      if (!blocks) posted_.erase(posted);
    }
    if (--thread.depth > 0) return;
    event(thread, call.end_ns, paraver_call(call.call->call).type, 0, 0);
  }

  void enter_region(uint32_t number, uint64_t ns, RegionId region) override {
    Thread& thread = threads_[number];
    shared_.names.values[kParaverRegion].try_emplace(region + 1, regions_.name(region));
    thread.regions.push_back(region + 1);
    event(thread, ns, kParaverRegion, region + 1, 0);
  }
  void leave_region(uint32_t number, uint64_t ns, RegionId) override {
    Thread& thread = threads_[number];
    if (!thread.regions.empty()) thread.regions.pop_back();
    event(thread, ns, kParaverRegion, thread.regions.empty() ? 0 : thread.regions.back(), 0);
  }

 private:
  struct Thread {
    uint32_t number = 0;  // from 1
    uint32_t depth = 0;
    uint64_t since = UINT64_MAX;  // end of the last call
    std::vector<uint32_t> regions;
  };

  Record record(const Thread& thread, uint32_t kind, uint64_t ns) {
    Record out;
    out.ns = ns;
    out.order = shared_.order++;
    out.kind = kind;
    out.task = static_cast<uint32_t>(job_.position(rank_)) + 1;
    out.thread = thread.number;
    shared_.last_ns = std::max(shared_.last_ns, ns);
    return out;
  }
  void add(const Record& record) {
    if (shared_.status.ok()) shared_.status = shared_.records.add(record);
  }
  void state(const Thread& thread, uint64_t begin, uint64_t end, uint32_t state) {
    if (begin >= end) return;
    Record out = record(thread, 1, begin);
    out.value[0] = end;
    out.value[1] = state;
    add(out);
  }
  void running(const Thread& thread, uint64_t until) {
    if (thread.since < until) state(thread, thread.since, until, kParaverRunning);
  }
  void event(const Thread& thread, uint64_t ns, uint32_t type, uint32_t value, uint32_t site) {
    Record out = record(thread, 2, ns);
    out.value[0] = type;
    out.value[1] = value;
    out.value[2] = kParaverSite;
    out.value[3] = site;
    out.pairs = site > 0 ? 2 : 1;
    add(out);
  }
  uint32_t site(const Signature& call) {
    const std::string& name = job_.sites.name(call.site);
    if (name.empty()) return 0;
    const auto [known, is_new] =
        shared_.sites.try_emplace(name, static_cast<uint32_t>(shared_.sites.size()) + 1);
    if (is_new) shared_.names.values[kParaverSite][known->second] = name;
    return known->second;
  }

  void add_end(const events::Step& step, const Thread& thread, uint64_t begin, uint64_t end) {
    const bool sends = step.begins_send();
    if (job_.position(sends ? step.channel.dest : step.channel.source) < 0)
      return job_.not_held("ends of messages whose other end is not there");
    End out;
    out.number = step.number;
    out.sends = sends ? 0 : 1;  // the sender's end first
    out.task = static_cast<uint32_t>(job_.position(rank_)) + 1;
    out.thread = thread.number;
    out.tag = step.channel.tag;
    out.begin_ns = begin;
    out.end_ns = end;
    out.bytes = step.bytes;
    if (!shared_.status.ok()) return;
    if (shared_.met) {
      out.channel = shared_.ends_met++;
      shared_.status = shared_.met->add({step.channel, out});
      return;
    }
    out.channel = shared_.channels.try_emplace(step.channel, shared_.channels.size()).first->second;
    shared_.status = shared_.ends.add(out);
  }

  Job& job_;
  Shared& shared_;
  Regions& regions_;
  const Rank rank_;
  std::map<uint32_t, Thread> threads_;
  std::unordered_map<uint64_t, uint64_t> posted_;  // by request
};

}  // namespace refrain::convert::paraver
