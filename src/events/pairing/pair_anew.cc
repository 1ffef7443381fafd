#include "events/pairing/pair_anew.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/channel.h"
#include "events/pairing/ends.h"
#include "events/payload.h"
#include "reader/internal.h"

namespace refrain::events {

namespace {

using Channel = std::pair<std::vector<size_t>, std::vector<size_t>>;  // sends, receives
using Channels = std::unordered_map<events::ChannelKey, Channel, events::ChannelHash>;

Channels channels_of(const std::vector<End>& ends) {
  Channels out;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].is_nobody) continue;
    Channel& c = out[ends[i].channel()];
    (ends[i].sends ? c.first : c.second).push_back(i);
  }
  return out;
}

uint64_t sum(const std::vector<End>& ends, const std::vector<size_t>& of) {
  uint64_t n = 0;
  for (const size_t i : of) n = events::add(n, ends[i].calls);
  return n;
}

// What both ends of a message have in common; 0: nothing is asked of it.
uint64_t phase_of(const End& e, Pairing how) {
  if (how == Pairing::kByOrder) return e.order;
  return how == Pairing::kByPlace && e.is_both ? e.place : 0;
}

// Steps 1 to 3.
class Pairer {
 public:
  explicit Pairer(std::vector<End>& ends) : ends_(ends) {}

  // False: ends are left over that may not be changed.
  bool run(Pairing how) {
    for (auto& [key, channel] : channels_of(ends_)) {
      if (how != Pairing::kByChannel) keep_phases(channel, how);
      if (sum(ends_, channel.first) != sum(ends_, channel.second)) keep_equals(channel);
    }
    std::sort(loose_.begin(), loose_.end());
    for (const size_t i : loose_)
      if (ends_[i].is_fixed) return false;
    if (how != Pairing::kByChannel) pair(true, how);
    for (const bool same_tag : {true, false}) pair(same_tag, Pairing::kByChannel);
    for (const size_t i : loose_) ends_[i].is_nobody = true;
    return true;
  }

 private:
  // Ends that have a phase stay if the other end has the same one; else they are loose.
  void keep_phases(Channel& channel, Pairing how) {
    Channel phased;
    const auto take = [&](std::vector<size_t>& from, std::vector<size_t>& to) {
      const auto at = std::stable_partition(from.begin(), from.end(),
                                            [&](size_t i) { return phase_of(ends_[i], how) == 0; });
      to.assign(at, from.end());
      from.erase(at, from.end());
    };
    take(channel.first, phased.first);
    take(channel.second, phased.second);
    keep(phased, [&](const End& s, const End& r) {
      return s.calls == r.calls && phase_of(s, how) == phase_of(r, how);
    });
  }

  void keep_equals(Channel& channel) {
    keep(channel, [](const End& s, const End& r) { return s.calls == r.calls; });
  }

  // What stays as it is; the rest is loose.
  template <class Equal>
  void keep(Channel& channel, const Equal& equal) {
    std::vector<size_t>& receives = channel.second;
    for (const size_t s : channel.first) {
      const auto at = std::find_if(receives.begin(), receives.end(),
                                   [&](size_t r) { return equal(ends_[s], ends_[r]); });
      if (at == receives.end())
        loose_.push_back(s);
      else
        receives.erase(at);
    }
    loose_.insert(loose_.end(), receives.begin(), receives.end());
  }

  // Communicator, calls, tag, phase of those that are paired by it.
  using Key = std::tuple<events::CommKey, uint64_t, int64_t, uint64_t>;
  void pair(bool same_tag, Pairing how) {
    const auto key = [&](const End& e) {
      return Key{e.comm, e.calls, same_tag ? e.tag : 0, phase_of(e, how)};
    };
    std::map<Key, std::multimap<Rank, size_t>> receives;
    for (const size_t i : loose_)
      if (!ends_[i].sends && (how == Pairing::kByChannel || phase_of(ends_[i], how) != 0))
        receives[key(ends_[i])].emplace(ends_[i].me, i);
    std::set<size_t> done;
    for (const size_t i : loose_) {
      End& send = ends_[i];
      const auto at = send.sends ? receives.find(key(send)) : receives.end();
      if (at == receives.end()) continue;
      const auto found = nearest(at->second, send);
      if (found == at->second.end()) continue;
      End& receive = ends_[found->second];
      send.is_moved = send.is_moved || send.peer != receive.me;
      receive.is_moved = receive.is_moved || receive.peer != send.me || receive.tag != send.tag;
      send.peer = receive.me;
      receive.peer = send.me;
      receive.tag = send.tag;
      done.insert({i, found->second});
      at->second.erase(found);
    }
    loose_.erase(
        std::remove_if(loose_.begin(), loose_.end(), [&](size_t i) { return done.count(i) > 0; }),
        loose_.end());
  }

  // The receive of the rank that is nearest to where the message was to go; not of the sender.
  static std::multimap<Rank, size_t>::iterator nearest(std::multimap<Rank, size_t>& of,
                                                       const End& send) {
    auto up = of.lower_bound(send.peer), down = up;
    while (up != of.end() && up->first == send.me) ++up;
    while (down != of.begin()) {
      --down;
      if (down->first == send.me) continue;
      return up == of.end() || send.peer - down->first < up->first - send.peer ? down : up;
    }
    return up;
  }

  std::vector<End>& ends_;
  std::vector<size_t> loose_;
};

// Step 4.
void give_room(std::vector<End>& ends) {
  for (const auto& [key, channel] : channels_of(ends)) {
    uint64_t most = 0;
    for (const size_t s : channel.first) most = std::max(most, ends[s].bytes);
    for (const size_t r : channel.second) {
      End& e = ends[r];
      if (e.element_bytes == 0 || e.bytes >= most || e.is_fixed) continue;
      e.elements = most / e.element_bytes + (most % e.element_bytes != 0 ? 1 : 0);
    }
  }
}

void count(const std::vector<End>& ends, PairedAnew& out) {
  for (const End& e : ends) {
    if (e.is_nobody)
      out.left_out = events::add(out.left_out, e.calls);
    else if (e.is_moved)
      out.paired = events::add(out.paired, e.calls);
    if (!e.is_nobody && e.elements > 0) out.widened = events::add(out.widened, e.calls);
  }
}

}  // namespace

PairedAnew pair_anew(const Trace& trace, Pairing how) {
  PairedAnew out;
  std::vector<End> ends = find_ends(trace);
  if (!Pairer(ends).run(how)) {
    out.why_not = "receives from anybody, or partitioned ones, have no other end";
    return out;
  }
  give_room(ends);
  count(ends, out);
  if (!write_ends(trace, ends, out.data))
    out.why_not = "a call does not say its partner in a way that can be changed";
  return out;
}

Result<Trace> paired_trace(const Trace& trace, PairedAnew& out, Pairing how) {
  out = pair_anew(trace, how);
  if (!out.why_not.empty())
    return base::unsupported("its calls cannot be made again: " + out.why_not, trace.name());
  format::TraceData data = std::exchange(out.data, {});
  if (trace.has_times()) {
    auto parts = reader::time_parts_of(trace);
    if (!parts.ok()) return parts.error();
    uint64_t bytes = parts->index.segments.bytes;
    for (const format::TimeChunk& chunk : parts->index.chunks)
      for (const format::TimeBlock& block : chunk.blocks) bytes += block.bytes;
    auto read = parts->read(0, bytes);
    if (!read.ok()) return base::fail(read.error().message, trace.name());
    data.times = {std::move(parts->index), std::move(*read)};
  }
  return reader::trace_of(std::move(data), trace.name(), trace.info().file_bytes);
}

}  // namespace refrain::events
