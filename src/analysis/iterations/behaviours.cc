#include "analysis/iterations/behaviours.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace refrain::analysis::iterations {

using similarity::SegmentProfileBuilder;
using similarity::SegmentStore;

namespace {

// A, B, ..., Z, AA, AB, ...
std::string letters(size_t number) {
  std::string out;
  for (size_t n = number + 1; n > 0; n = (n - 1) / 26)
    out.insert(out.begin(), static_cast<char>('A' + (n - 1) % 26));
  return out;
}

}  // namespace

BehaviourFinder::BehaviourFinder(const similarity::MethodSpec& method) : method_(method) {}

void BehaviourFinder::add(const Segment& segment) {
  if (store_ == nullptr) {
    similarity::StoreOptions how;
    how.method = method_;
    builder_ = std::make_unique<SegmentProfileBuilder>();
    store_ = std::make_unique<SegmentStore>(how, builder_.get());
  }
  store_->match({0, segment.structure, static_cast<int64_t>(segment.begin_ns), segment.stamps});
  if (segment.longest == nullptr) return;
  auto& [longest, ns] = longest_[segment.structure];
  if (longest.call != 0 && segment.longest_ns <= ns) return;
  longest = {segment.longest->call, segment.longest->path};
  ns = segment.longest_ns;
}

void BehaviourFinder::next(size_t location) {
  if (store_ == nullptr) return;
  similarity::SegmentProfile mine = builder_->finish(*store_, static_cast<uint32_t>(location));
  store_.reset();
  builder_.reset();
  similarity::UniteOptions how;
  how.method = method_;
  how.uniting = similarity::Uniting::kRepresentatives;
  if (std::exchange(is_first_, false))
    all_ = std::move(mine);
  else
    similarity::unite(&all_, std::move(mine), how);
}

Behaviours BehaviourFinder::finish(const std::vector<KeptLocation>& locations) {
  Behaviours out;
  out.method = to_text(method_);
  out.rows.resize(all_.segments.size());
  std::vector<const similarity::ProcessGroup*> group_of(locations.size(), nullptr);
  for (const similarity::ProcessGroup& group : all_.groups)
    for (const similarity::GroupMember& member : group.members)
      if (member.rank < group_of.size()) group_of[member.rank] = &group;
  std::vector<std::set<Rank>> ranks(out.rows.size());
  for (size_t l = 0; l < locations.size(); ++l) {
    if (group_of[l] == nullptr) continue;
    const std::vector<uint32_t>& sequence = group_of[l]->sequence;
    const std::vector<KeptSegment>& segments = locations[l].segments;
    for (size_t i = 0; i < std::min(sequence.size(), segments.size()); ++i) {
      const KeptSegment& s = segments[i];
      Behaviour& row = out.rows[sequence[i]];
      const auto ns = static_cast<double>(s.end_ns - s.begin_ns);
      row.min_ns = row.segments == 0 ? ns : std::min(row.min_ns, ns);
      row.max_ns = std::max(row.max_ns, ns);
      row.sum_ns += ns;
      row.mpi_ns += static_cast<double>(s.mpi_ns);
      if (row.segments == 0) row.first_rank = locations[l].rank, row.calls = s.calls;
      if (row.loop < 0) row.loop = s.loop;
      ++row.segments;
      ranks[sequence[i]].insert(locations[l].rank);
      out.segments.push_back({locations[l].rank, locations[l].thread, s.begin_ns, s.end_ns,
                              sequence[i], s.loop < 0 ? -1 : static_cast<int64_t>(s.number)});
    }
  }
  for (size_t i = 0; i < out.rows.size(); ++i) {
    out.rows[i].ranks = ranks[i].size();
    out.rows[i].error_ns = all_.segments[i].error_ns;
    const auto longest = longest_.find(all_.segments[i].structure);
    if (longest == longest_.end()) continue;
    out.rows[i].call = longest->second.first.call;
    out.rows[i].path = longest->second.first.path;
  }
  name_rows(out);
  return out;
}

// By time; those that stand for nothing go.
void BehaviourFinder::name_rows(Behaviours& out) const {
  std::vector<uint32_t> order(out.rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](uint32_t i) { return out.rows[i].segments == 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return out.rows[a].sum_ns > out.rows[b].sum_ns; });
  std::vector<uint32_t> place(out.rows.size(), 0);
  std::vector<Behaviour> rows;
  for (const uint32_t i : order) {
    place[i] = static_cast<uint32_t>(rows.size());
    out.rows[i].name = letters(rows.size());
    rows.push_back(std::move(out.rows[i]));
  }
  out.rows = std::move(rows);
  for (BehaviourSegment& s : out.segments) s.behaviour = place[s.behaviour];
}

std::vector<BehaviourPattern> patterns_of(const Behaviours& behaviours,
                                          const std::vector<KeptLocation>& locations,
                                          size_t loops) {
  // By loop and number: what each location does, and how long the longest of them takes.
  struct Iteration {
    std::vector<std::pair<uint32_t, Rank>> parts;  // behaviour, rank
    uint64_t longest_ns = 0;
  };
  std::vector<std::map<uint64_t, Iteration>> all(loops);
  size_t at = 0;
  for (const KeptLocation& location : locations)
    for (const KeptSegment& s : location.segments) {
      // The segments of a location are all among the behaviours', or none is.
      if (at >= behaviours.segments.size()) break;
      const BehaviourSegment& b = behaviours.segments[at];
      if (b.rank != location.rank || b.thread != location.thread || b.begin_ns != s.begin_ns)
        continue;
      ++at;
      if (s.loop < 0) continue;
      Iteration& iteration = all[static_cast<size_t>(s.loop)][s.number];
      iteration.parts.emplace_back(b.behaviour, location.rank);
      iteration.longest_ns = std::max(iteration.longest_ns, s.end_ns - s.begin_ns);
    }
  std::vector<BehaviourPattern> out;
  for (size_t loop = 0; loop < loops; ++loop) {
    std::map<std::vector<std::pair<uint32_t, Rank>>, std::pair<std::vector<uint64_t>, double>>
        found;
    double all_ns = 0;
    for (auto& [number, iteration] : all[loop]) {
      std::sort(iteration.parts.begin(), iteration.parts.end());
      auto& [numbers, ns] = found[iteration.parts];
      numbers.push_back(number);
      ns += static_cast<double>(iteration.longest_ns);
      all_ns += static_cast<double>(iteration.longest_ns);
    }
    const size_t first = out.size();
    for (auto& [parts, times] : found) {
      BehaviourPattern pattern;
      pattern.loop = static_cast<uint32_t>(loop);
      pattern.share_of_iterations =
          static_cast<double>(times.first.size()) / static_cast<double>(all[loop].size());
      pattern.share_of_time = all_ns > 0 ? times.second / all_ns : 0;
      pattern.iterations = std::move(times.first);
      for (const auto& [behaviour, rank] : parts) {
        if (pattern.parts.empty() || pattern.parts.back().behaviour != behaviour)
          pattern.parts.push_back({behaviour, {}});
        std::vector<Rank>& ranks = pattern.parts.back().ranks;
        if (ranks.empty() || ranks.back() != rank) ranks.push_back(rank);
      }
      out.push_back(std::move(pattern));
    }
    std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                     [](const BehaviourPattern& a, const BehaviourPattern& b) {
                       return a.iterations.size() > b.iterations.size();
                     });
  }
  return out;
}

}  // namespace refrain::analysis::iterations
