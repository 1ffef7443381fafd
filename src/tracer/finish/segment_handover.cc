#include "tracer/finish/segment_handover.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/decode/time_table.h"
#include "format/signatures/slot_evaluator.h"
#include "mpi_runtime/rank_exchange.h"
#include "tracer/state/complain.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"
#include "tracer/times/segment_times.h"

namespace refrain::tracer {

namespace {

constexpr int kTag = 3;
constexpr uint32_t kNoDefinition = UINT32_MAX;
// What coding takes for each representative of the trace, and in any case.
constexpr uint64_t kBytesPerNumber = 160, kTables = uint64_t{4} << 20;

// ---- plans ----

std::string plan_to_bytes(const SegmentPlan& plan) {
  base::ByteWriter out;
  out.put_zigzag(plan.base_ns);
  out.put_varint(plan.clock.size());
  for (const format::ClockPoint& p : plan.clock) {
    out.put_zigzag(p.local_ns);
    out.put_zigzag(p.common_ns);
  }
  out.put_varint(plan.signatures.size());
  for (size_t t = 0; t < plan.signatures.size(); ++t) {
    out.put_varint(plan.signatures[t]);
    out.put_varint(plan.paths[t]);
  }
  return out.take();
}

SegmentPlan plan_of_bytes(std::string_view bytes) {
  base::ByteReader in(bytes);
  SegmentPlan plan;
  plan.base_ns = in.zigzag();
  plan.clock.resize(in.count(bytes.size()));
  for (format::ClockPoint& p : plan.clock) {
    p.local_ns = in.zigzag();
    p.common_ns = in.zigzag();
  }
  const uint64_t n = in.count(bytes.size());
  for (uint64_t t = 0; t < n && in.ok(); ++t) {
    plan.signatures.push_back(static_cast<uint32_t>(in.varint()));
    plan.paths.push_back(in.varint());
  }
  return in.ok() ? plan : SegmentPlan();
}

// Call paths are the same on all ranks of a group but where a program is built in several ways:
// those of the first rank count.
std::vector<uint64_t> paths_of(const format::TraceData& trace, const format::Group& group,
                               format::SlotEvaluator& slots) {
  std::vector<uint64_t> paths;
  const auto rank = static_cast<uint64_t>(group.ranks.at(0));
  const auto place = static_cast<uint64_t>(group.place_of(group.ranks.at(0)));
  for (const uint32_t id : group.signatures) {
    const auto call =
        format::parse_fields(trace.signatures[id].shape, slots.values(id, {rank, place}));
    const bool has_site = call && call->site.tag == format::FieldTag::kObject &&
                          call->site.number < trace.definitions.size();
    paths.push_back(
        format::mix_keys(call ? call->call_id : 0, has_site ? call->site.number : kNoDefinition));
  }
  return paths;
}

// Sends each rank its plan, and gives that of rank 0. Ranks that are not in the trace get an empty
// one.
SegmentPlan send_plans(Process& p, const format::TraceData& trace,
                       const std::vector<std::vector<format::ClockPoint>>& clocks,
                       bool wants_paths) {
  SegmentPlan own, plan;
  format::SlotEvaluator slots(trace);
  bool is_first = true;
  for (size_t r = 0; r < clocks.size(); ++r) {
    if (!peers().has(static_cast<int>(r))) continue;
    const int64_t init = format::ClockMap::common_of(clocks[r], 0);
    plan.base_ns = is_first ? init : std::min(plan.base_ns, init);
    is_first = false;
  }
  std::vector<bool> has_one(static_cast<size_t>(p.size));
  has_one[static_cast<size_t>(p.rank)] = true;
  for (const format::Group& group : trace.groups) {
    plan.signatures = group.signatures;
    plan.paths = wants_paths ? paths_of(trace, group, slots)
                             : std::vector<uint64_t>(group.signatures.size());
    for (uint64_t i = 0; i < group.ranks.size(); ++i) {
      const auto rank = static_cast<size_t>(group.ranks.at(i));
      plan.clock = rank < clocks.size() ? clocks[rank] : std::vector<format::ClockPoint>();
      if (rank == static_cast<size_t>(p.rank)) own = plan;
      if (has_one[rank]) continue;
      has_one[rank] = true;
      send_bytes(recorders(), plan_to_bytes(plan), peers().peer_of(static_cast<int>(rank)), kTag);
    }
  }
  for (int peer = 1; peer < peers().count; ++peer)
    if (!has_one[static_cast<size_t>(peers().rank_of(peer))])
      send_bytes(recorders(), plan_to_bytes({}), peer, kTag);
  return own;
}

// ---- the tree ----

format::RunProfile receive_profile(int from) {
  format::RunProfile none;
  std::string bytes;
  if (!receive_bytes(recorders(), bytes, from, kTag, memory_for)) {
    none.problem = "no memory for the segments of another rank";
    return none;
  }
  auto profile = format::parse_profile(bytes);
  if (profile.ok()) return std::move(*profile);
  none.problem = profile.error().message;
  return none;
}

void unite_over_ranks(Process& p, format::RunProfile& mine) {
  const format::ReducedHow& how = p.times->segments()->how();
  for (int step = 1; step < peers().count; step *= 2) {
    if ((peers().mine & step) != 0) {
      send_bytes(recorders(), serialise(mine), peers().mine - step, kTag);
      return;
    }
    if (peers().mine + step < peers().count)
      unite(&mine, receive_profile(peers().mine + step), how.method, how.across);
  }
}

// ---- numbers ----

// Of one rank: for each of its locations what its sequence is in the trace; then, of each number
// once, calls and length.
std::string numbers_to_bytes(const format::RunProfile& all, const format::ReducedTimes& reduced,
                             std::pair<size_t, size_t> locations) {
  base::ByteWriter out;
  out.put_varint(reduced.info.step_ns);
  out.put_varint(reduced.representatives.size());
  out.put_varint(locations.second - locations.first);
  std::set<uint32_t> used;
  for (size_t i = locations.first; i < locations.second; ++i) {
    const uint32_t group = reduced.group_of[i];
    const std::vector<uint32_t> none;
    const std::vector<uint32_t>& sequence =
        group == format::ReducedTimes::kNoGroup ? none : all.profile.groups[group].sequence;
    out.put_varint(sequence.size());
    for (const uint32_t id : sequence) {
      out.put_varint(reduced.number_of[id]);
      used.insert(reduced.number_of[id]);
    }
  }
  out.put_varint(used.size());
  for (const uint32_t number : used) {
    const format::Representative& r = reduced.representatives[number];
    out.put_varint(number);
    out.put_varint(r.calls());
    out.put_zigzag(r.length_ns());
  }
  return out.take();
}

// Codes the starts of the rank's segments. False: it cannot, or there are none (no bytes).
bool take_numbers(Process& p, std::string_view bytes) {
  base::ByteReader in(bytes);
  SegmentTimes& own = *p.times->segments();
  const auto step_ns = static_cast<uint32_t>(in.varint());
  const uint64_t count = in.varint();
  if (!memory_for(kTables + kBytesPerNumber * count + 16 * bytes.size())) return false;
  std::vector<std::vector<uint32_t>> sequences(in.count(bytes.size()));
  for (std::vector<uint32_t>& sequence : sequences) {
    sequence.resize(in.count(bytes.size()));
    for (uint32_t& number : sequence) number = static_cast<uint32_t>(in.varint());
  }
  if (!in.ok() || sequences.size() != own.location_count()) return false;
  std::vector<format::Representative> all(count);
  for (uint64_t n = in.count(bytes.size()); n > 0 && in.ok(); --n) {
    const uint64_t number = in.varint(), calls = in.varint();
    const int64_t length_ns = in.zigzag();
    if (number >= count || calls == 0) return false;
    all[number].stamps.assign(2 * calls, 0);
    all[number].stamps.back() = length_ns;
  }
  for (size_t i = 0; i < sequences.size(); ++i)
    if (!own.encode(i, sequences[i], all, step_ns)) return false;
  return true;
}

// Rank 0: what ranks need to code their starts; then whether all of them could. The first that
// could not, or -1.
int hand_numbers_out(Process& p, const format::RunProfile& all,
                     const format::ReducedTimes* reduced) {
  size_t at = 0;
  uint64_t good = 0;
  for (int peer = 0; peer < peers().count; ++peer) {
    const size_t begin = at;
    const auto rank = static_cast<uint64_t>(peers().rank_of(peer));
    while (at < all.locations.size() && all.locations[at].first == rank) ++at;
    const std::string bytes =
        reduced == nullptr ? std::string() : numbers_to_bytes(all, *reduced, {begin, at});
    if (peer == 0)
      good = take_numbers(p, bytes) ? 1 : 0;
    else
      send_bytes(recorders(), bytes, peer, kTag);
  }
  int failed = good != 0 ? -1 : p.rank;
  for (int peer = 1; peer < peers().count; ++peer) {
    const bool came = receive_patiently(recorders(), &good, sizeof good, peer, kTag);
    if (failed < 0 && (!came || good == 0)) failed = peers().rank_of(peer);
  }
  return failed;
}

}  // namespace

base::Result<format::ReducedTimes> reduce_all(
    Process& p, const format::TraceData& trace,
    const std::vector<std::vector<format::ClockPoint>>& clocks) {
  SegmentTimes& own = *p.times->segments();
  const format::ReducedHow& how = own.how();
  const bool by_loops = how.source == format::SegmentSource::kLoops;
  format::RunProfile mine = own.match(p, send_plans(p, trace, clocks, by_loops));
  unite_over_ranks(p, mine);
  auto reduced = mine.problem.empty()
                     ? finish_profile(mine, how)
                     : base::Result<format::ReducedTimes>(base::fail(mine.problem));
  const int failed = hand_numbers_out(p, mine, reduced.ok() ? &*reduced : nullptr);
  if (reduced.ok() && failed >= 0)
    return base::fail("rank " + std::to_string(failed) +
                      ": no memory to code when its segments begin");
  if (reduced.ok())
    for (const std::string& line : similarity::describe(mine.counts.marks))
      complain(p, ("segments from marks: " + line).c_str());
  return reduced;
}

void take_part_in_reducing(Process& p) {
  std::string bytes;
  format::RunProfile mine;
  if (receive_bytes(recorders(), bytes, 0, kTag, memory_for))
    mine = p.times->segments()->match(p, plan_of_bytes(bytes));
  else
    mine.problem = "rank " + std::to_string(p.rank) + ": no memory to match its segments";
  unite_over_ranks(p, mine);
  mine = {};
  const uint64_t good =
      receive_bytes(recorders(), bytes, 0, kTag, memory_for) && take_numbers(p, bytes) ? 1 : 0;
  send_patiently(recorders(), &good, sizeof good, 0, kTag);
}

}  // namespace refrain::tracer
