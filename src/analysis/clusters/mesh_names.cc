#include "analysis/clusters/mesh_names.h"

#include <algorithm>
#include <array>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "refrain/calls.h"

namespace refrain::analysis::clusters {

namespace {

using Dims = std::vector<uint64_t>;

enum class Place : uint8_t { kNone, kFirst, kLast, kInside, kAll };

// Where the members lie in each dimension, if they fill a box.
std::vector<Place> places_of(const Dims& dims, const base::RunList& members) {
  const size_t n = dims.size();
  std::vector<uint64_t> low(n, UINT64_MAX), high(n, 0);
  for (uint64_t i = 0; i < members.size(); ++i) {
    auto rest = static_cast<uint64_t>(members.at(i));
    for (size_t d = n; d-- > 0; rest /= dims[d]) {
      low[d] = std::min(low[d], rest % dims[d]);
      high[d] = std::max(high[d], rest % dims[d]);
    }
  }
  uint64_t box = 1;
  std::vector<Place> out(n, Place::kNone);
  for (size_t d = 0; d < n; ++d) {
    box *= high[d] - low[d] + 1;
    const uint64_t last = dims[d] - 1;
    if (low[d] == 0 && high[d] == last)
      out[d] = Place::kAll;
    else if (low[d] == 0 && high[d] == 0)
      out[d] = Place::kFirst;
    else if (low[d] == last && high[d] == last)
      out[d] = Place::kLast;
    else if (low[d] == 1 && high[d] + 1 == last)
      out[d] = Place::kInside;
  }
  const bool is_box = box == members.size() &&
                      std::find(out.begin(), out.end(), Place::kNone) == out.end() &&
                      std::count(out.begin(), out.end(), Place::kAll) == 0;
  return is_box ? out : std::vector<Place>();
}

// All ways to write `ranks` as a product of numbers from 3 on.
void factor(uint64_t ranks, size_t dimensions, Dims& begun, std::vector<Dims>& out) {
  constexpr size_t kMost = 256;
  if (dimensions == 1) {
    if (ranks < 3) return;
    begun.push_back(ranks);
    out.push_back(begun);
    begun.pop_back();
    return;
  }
  for (uint64_t f = 3; f <= ranks / 3 && out.size() < kMost; ++f) {
    if (ranks % f != 0) continue;
    begun.push_back(f);
    factor(ranks / f, dimensions - 1, begun, out);
    begun.pop_back();
  }
}

// What calls of the lowest rank say of Cartesian meshes of all ranks.
std::vector<Dims> made_by(const Trace& trace) {
  std::vector<Dims> out;
  if (trace.group_count() == 0) return out;
  RankReader reader(trace, trace.group_rank(GroupId(0), 0));
  for (const Trace::Occurrence& seen : trace.occurrences(GroupId(0))) {
    const Signature& call = reader.signature(seen.signature);
    const Value& dims = events::argument(call, "dims");
    if (call.call != mpi::kMPI_Cart_create || dims.size() == 0 || dims.size() > 3) continue;
    Dims found;
    uint64_t ranks = 1;
    dims.for_each([&](const Value& d) {
      found.push_back(static_cast<uint64_t>(std::max<int64_t>(d.integer_or(1), 1)));
      ranks = events::multiply(ranks, found.back());
    });
    if (ranks == static_cast<uint64_t>(trace.rank_count())) out.push_back(std::move(found));
  }
  return out;
}

}  // namespace

std::vector<uint64_t> mesh_of(const Trace& trace, const std::vector<format::Cluster>& clusters) {
  constexpr uint64_t kMostRanks = 1 << 17;
  const auto ranks = static_cast<uint64_t>(trace.rank_count());
  if (ranks > kMostRanks || clusters.size() > 1024) return {};
  std::vector<Dims> candidates = made_by(trace);
  const size_t made = candidates.size();
  Dims begun;
  for (const size_t dimensions : {2, 3, 1}) {
    std::vector<Dims> some;
    factor(ranks, dimensions, begun, some);
    // The squarer ones first.
    std::stable_sort(some.begin(), some.end(), [](const Dims& a, const Dims& b) {
      return *std::max_element(a.begin(), a.end()) < *std::max_element(b.begin(), b.end());
    });
    candidates.insert(candidates.end(), some.begin(), some.end());
  }
  Dims best;
  size_t most = 1;
  for (size_t i = 0; i < candidates.size(); ++i) {
    size_t named = 0;
    for (const format::Cluster& c : clusters)
      named += mesh_place(candidates[i], c.members).empty() ? 0 : 1;
    // Of a mesh that the program never spoke of, some clusters are places by chance.
    if (i >= made && named < clusters.size()) continue;
    if (named > most) most = named, best = candidates[i];
    if (most == clusters.size()) break;
  }
  return best;
}

std::string mesh_place(const std::vector<uint64_t>& dims, const base::RunList& members) {
  const std::vector<Place> places = places_of(dims, members);
  if (places.empty()) return {};
  // The last dimension goes from left to right, the one before downwards.
  constexpr std::array<const char*, 2> kSides[] = {
      {"left", "right"}, {"top", "bottom"}, {"front", "back"}};
  std::string sides;
  size_t borders = 0;
  for (size_t d = 0; d < places.size(); ++d) {
    if (places[d] == Place::kInside) continue;
    ++borders;
    sides += kSides[places.size() - 1 - d][places[d] == Place::kLast ? 1 : 0];
    sides += ' ';
  }
  if (borders == 0) return "interior";
  const size_t inside = places.size() - borders;
  const char* const kWord = inside == 0   ? (places.size() == 1 ? "end" : "corner")
                            : inside == 1 ? "edge"
                                          : "face";
  return sides + kWord;
}

std::string mesh_name(const std::vector<uint64_t>& dims, const base::RunList& members) {
  const std::string place = mesh_place(dims, members);
  return place.empty() ? place : place + " of " + mesh_size(dims);
}

std::string mesh_size(const std::vector<uint64_t>& dims) {
  std::string out;
  for (const uint64_t d : dims) out += (out.empty() ? "" : " x ") + std::to_string(d);
  return out;
}

}  // namespace refrain::analysis::clusters
