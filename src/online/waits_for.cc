#include "online/waits_for.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/partners.h"
#include "mpi/call_name.h"

namespace refrain::online {

namespace {

constexpr uint64_t kMostCalls = 4096;
constexpr size_t kMostContext = 8;
constexpr size_t kMostRanks = 4096;  // that are asked: a circle among the first ones is enough

// The signature of the call that is most like the one under way.
std::optional<SignatureId> most_like(const Trace& trace, RankReader& reader,
                                     const std::string& function) {
  const auto locations = trace.locations(reader.rank());
  if (locations.empty()) return std::nullopt;
  auto cursor = reader.cursor(0);
  if (!cursor.ok()) return std::nullopt;
  const uint64_t calls = locations.front().calls;
  cursor->seek(calls > kMostCalls ? calls - kMostCalls : 0);
  std::vector<SignatureId> last;
  while (const Call* call = cursor->next()) last.push_back(call->signature->id);
  std::optional<SignatureId> best;
  size_t longest = 0;
  for (size_t i = last.size(); i-- > 0;) {
    if (mpi::call_name(trace.call_of(last[i])) != function) continue;
    size_t context = 0;
    while (context < std::min(i, kMostContext) &&
           last[i - 1 - context] == last[last.size() - 1 - context])
      ++context;
    if (best && context <= longest) continue;  // of equal ones the newest
    best = last[i];
    longest = context;
  }
  return best;
}

// Ranks that must do something before this one goes on.
std::vector<uint64_t> waited_for(RankReader& reader, events::Decoder& ops, SignatureId id) {
  std::vector<uint64_t> out;
  const auto me = static_cast<uint64_t>(reader.rank());
  analysis::for_each_partner(reader, ops, reader.signature(id),
                             [&](Rank source, Rank dest, double, bool is_send) {
                               out.push_back(static_cast<uint64_t>(is_send ? dest : source));
                             });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::erase(out, me);
  return out;
}

using Edges = std::map<uint64_t, std::vector<uint64_t>>;

// The shortest circle through `begin`, breadth first; empty: none.
std::vector<uint64_t> circle_through(const Edges& edges, uint64_t begin) {
  std::map<uint64_t, uint64_t> before;
  std::vector<uint64_t> queue{begin};
  for (size_t at = 0; at < queue.size(); ++at) {
    const auto it = edges.find(queue[at]);
    if (it == edges.end()) continue;
    for (const uint64_t next : it->second) {
      if (next == begin) {
        std::vector<uint64_t> circle{queue[at]};
        while (circle.back() != begin) circle.push_back(before[circle.back()]);
        std::reverse(circle.begin(), circle.end());
        return circle;
      }
      if (edges.contains(next) && before.emplace(next, queue[at]).second) queue.push_back(next);
    }
  }
  return {};
}

}  // namespace

void find_circle(JobNow& job) {
  job.circle.clear();
  if (!job.nobody_moves || !job.trace) return;
  const Trace& trace = *job.trace;
  events::CommTable comms(trace);
  events::Decoder::Places places;
  Edges edges;
  std::map<uint64_t, std::string> calls;
  for (const RankNow& rank : job.ranks) {
    if (rank.state != RankState::kStuck || edges.size() >= kMostRanks ||
        rank.rank >= static_cast<uint64_t>(trace.rank_count()))
      continue;
    RankReader reader(trace, static_cast<Rank>(rank.rank));
    const auto id = most_like(trace, reader, rank.call);
    if (!id) continue;
    events::Decoder ops(reader, comms, places);
    edges[rank.rank] = waited_for(reader, ops, *id);
    calls[rank.rank] = rank.call;
  }
  for (const auto& [rank, ends] : edges) {
    const std::vector<uint64_t> circle = circle_through(edges, rank);
    if (circle.empty()) continue;
    for (const uint64_t r : circle) job.circle.emplace_back(r, calls[r]);
    return;
  }
}

}  // namespace refrain::online
