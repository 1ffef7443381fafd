// Who sent how much to whom: the matrix of pairs, the graph of the same, and where ranks lie.

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "format/trace_data.h"
#include "reader/internal.h"
#include "report/page/graph_layout.h"
#include "report/page/section.h"
#include "report/profile/profile_rows.h"
#include "text/numbers.h"

namespace refrain::report {

using Json = nlohmann::ordered_json;
using Numbers = std::vector<int64_t>;

namespace {

constexpr uint64_t kMostNodes = 512;  // that Graphviz lays out; a grid of any size is one
constexpr uint64_t kMostGridNodes = 4096;
constexpr size_t kMostEdges = 20'000;
constexpr double kScale = 10'000;  // places are whole numbers of this unit square

struct Pair {
  uint64_t messages = 0, bytes = 0;
  double ns = 0;
};
using Pairs = std::map<std::pair<int64_t, int64_t>, Pair>;

// Of ranks, or of blocks of `block` neighbouring ranks.
Pairs pairs_of(const PageAnswers& answers, uint64_t block) {
  Pairs out;
  const auto at = [&](Rank from, Rank to) -> Pair& {
    const auto size = static_cast<Rank>(block);
    return out[{from / size, to / size}];
  };
  for (const analysis::MatrixEntry& e : answers.matrix.entries) {
    Pair& pair = at(e.source, e.dest);
    pair.messages += e.messages;
    pair.bytes += e.bytes;
  }
  for (const auto& [ends, ns] : answers.loads.pair_ns) at(ends.first, ends.second).ns += ns;
  return out;
}

uint64_t block_for(const PageView& view) {
  uint64_t block = 1;
  const uint64_t pairs =
      std::max(view.answers.matrix.entries.size(), view.answers.loads.pair_ns.size());
  const auto ranks = static_cast<uint64_t>(view.trace.rank_count());
  while (pairs > view.options.most_pairs &&
         (ranks / block) * (ranks / block) > view.options.most_pairs)
    block *= 2;
  return block;
}

void put_pairs(const Pairs& pairs, const std::string& name, Columns& out) {
  Numbers source, dest, messages, bytes, ns;
  for (const auto& [ends, pair] : pairs) {
    source.push_back(ends.first);
    dest.push_back(ends.second);
    messages.push_back(static_cast<int64_t>(pair.messages));
    bytes.push_back(static_cast<int64_t>(pair.bytes));
    ns.push_back(static_cast<int64_t>(std::min<uint64_t>(text::rounded(pair.ns), INT64_MAX)));
  }
  out.put(name + ".source", std::move(source));
  out.put(name + ".dest", std::move(dest));
  out.put(name + ".messages", std::move(messages));
  out.put(name + ".bytes", std::move(bytes));
  out.put(name + ".ns", std::move(ns));
}

// Places of a grid's cells: rows down, columns across; a third dimension and more, obliquely.
std::vector<Place> grid_places(const events::CartesianGrid& grid, uint64_t nodes) {
  std::vector<Place> out(nodes);
  const size_t dims = grid.dims.size();
  for (size_t cell = 0; cell < grid.ranks.size(); ++cell) {
    const Rank rank = grid.ranks[cell];
    if (rank < 0 || static_cast<uint64_t>(rank) >= nodes) continue;
    Place place;
    size_t rest = cell;
    for (size_t d = dims; d-- > 0;) {
      const auto extent = static_cast<size_t>(grid.dims[d]);
      const auto c = static_cast<double>(rest % extent);
      rest /= extent;
      const size_t level = dims - 1 - d;  // 0: the fastest dimension
      if (level == 0) place.x += c;
      if (level == 1) place.y -= c;
      if (level >= 2) {
        place.x += c * 0.37 / static_cast<double>(level - 1);
        place.y += c * 0.31 / static_cast<double>(level - 1);
      }
    }
    out[static_cast<size_t>(rank)] = place;
  }
  return out;
}

std::vector<Place> circle(uint64_t nodes) {
  std::vector<Place> out;
  for (uint64_t i = 0; i < nodes; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(nodes);
    out.push_back({std::sin(angle), std::cos(angle)});
  }
  return out;
}

void put_places(const std::vector<Place>& places, Columns& out) {
  Numbers x, y;
  if (!places.empty()) {
    const auto [left, right] = std::minmax_element(
        places.begin(), places.end(), [](const Place& a, const Place& b) { return a.x < b.x; });
    const auto [low, high] = std::minmax_element(
        places.begin(), places.end(), [](const Place& a, const Place& b) { return a.y < b.y; });
    const double size = std::max({right->x - left->x, high->y - low->y, 1e-9});
    for (const Place& p : places) {
      x.push_back(std::llround((p.x - left->x) / size * kScale));
      y.push_back(std::llround((high->y - p.y) / size * kScale));
    }
  }
  out.put("graph.x", std::move(x));
  out.put("graph.y", std::move(y));
}

std::vector<GraphEdge> edges_of(const Pairs& pairs) {
  std::map<std::pair<int64_t, int64_t>, double> sum;
  for (const auto& [ends, pair] : pairs)
    if (ends.first != ends.second)
      sum[std::minmax(ends.first, ends.second)] += static_cast<double>(pair.bytes) + 1;
  std::vector<GraphEdge> out;
  for (const auto& [ends, weight] : sum)
    out.push_back({static_cast<uint32_t>(ends.first), static_cast<uint32_t>(ends.second), weight});
  if (out.size() > kMostEdges) {
    std::nth_element(out.begin(), out.begin() + kMostEdges, out.end(),
                     [](const GraphEdge& a, const GraphEdge& b) { return a.weight > b.weight; });
    out.resize(kMostEdges);
  }
  return out;
}

void put_graph(const PageView& view, PageData& out) {
  const auto ranks = static_cast<uint64_t>(view.trace.rank_count());
  const auto& grid = view.answers.grid;
  // The shape alone, from MPI_Dims_create, is no topology.
  const bool is_grid = grid && grid->source == "MPI_Cart_create" && grid->ranks.size() == ranks &&
                       ranks <= kMostGridNodes && ranks > kMostNodes;
  uint64_t block = 1;
  while (!is_grid && ranks / block > kMostNodes) block *= 2;
  const Pairs pairs = pairs_of(view.answers, block);
  const uint64_t nodes = (ranks + block - 1) / block;
  std::string layout;
  std::vector<Place> places;
  if (is_grid) {
    places = grid_places(*grid, nodes);
    layout = "grid";
  } else if (!pairs.empty()) {
    places = graph_layout(static_cast<uint32_t>(nodes), edges_of(pairs), layout);
  }
  if (places.empty()) {
    places = circle(nodes);
    layout = "circle";
  }
  out.json["graph"] = {
      {"layout", layout}, {"block", block}, {"nodes", nodes}, {"graphviz", has_graphviz()}};
  put_places(places, out.columns);
  // The matrix has the edges of a graph of single ranks already.
  const bool is_matrix = block == block_for(view);
  out.json["graph"]["edges"] = is_matrix ? "matrix" : "graph";
  if (!is_matrix) put_pairs(pairs, "graph", out.columns);
}

void put_grid(const PageView& view, PageData& out) {
  const auto& grid = view.answers.grid;
  out.json["grid"] = Json();
  if (!grid) return;
  out.json["grid"] = {{"source", grid->source},
                      {"communicator", grid->communicator},
                      {"dims", grid->dims},
                      {"periods", grid->periods}};
  out.columns.put("grid.rank", {grid->ranks.begin(), grid->ranks.end()});
}

void put_hosts(const PageView& view, Columns& out) {
  const format::Meta& meta = reader::data_of(view.trace).meta;
  Numbers host;
  for (const base::RunList::Run& run : meta.host_of_rank.runs())
    for (uint64_t i = 0; i < run.count; ++i)
      host.push_back(run.start + static_cast<int64_t>(i) * run.step);
  out.put("rank.host", std::move(host));
}

void put_matrix(const PageView& view, PageData& out) {
  const analysis::Matrix& m = view.answers.matrix;
  const uint64_t block = block_for(view);
  const Pairs pairs = pairs_of(view.answers, block);
  out.json["matrix"] = {{"ranks", m.rank_count},
                        {"messages", m.messages},
                        {"bytes", m.bytes},
                        {"pairs", m.entries.size()},
                        {"block", block},
                        {"other_world_messages", m.other_world_messages},
                        {"unsized_messages", m.unsized_messages}};
  put_pairs(pairs, "matrix", out.columns);
  put_hosts(view, out.columns);
  put_grid(view, out);
  put_graph(view, out);
}

class MatrixSection : public PageSection {
 public:
  void ask(const PageQuestion& page) override {
    page.say("matrix");
    page.answers.matrix = analysis::matrix(page.trace, analysis::MatrixKind::kP2p);
    page.answers.grid = events::cartesian_grid(page.trace);
  }
  void write(const PageView& view, PageData& out) const override { put_matrix(view, out); }
};

}  // namespace

std::unique_ptr<PageSection> matrix_section() { return std::make_unique<MatrixSection>(); }

namespace {

void put_density(const PageView& view, PageData& out) {
  const analysis::RankLoads& loads = view.answers.loads;
  const auto ranks = static_cast<size_t>(view.trace.rank_count());
  const size_t block = std::max<size_t>(
      1, (ranks + view.options.most_rank_cells - 1) / view.options.most_rank_cells);
  const size_t cells = (ranks + block - 1) / block;
  // With times a rank's own time in each function is known.
  std::map<CallId, std::vector<double>> exact;
  for (const analysis::FunctionTime& f : view.answers.timeline.times) {
    auto& of = exact.try_emplace(f.call, cells, 0.0).first->second;
    of[static_cast<size_t>(view.answers.timeline.rows[f.row].rank) / block] +=
        static_cast<double>(f.ns);
  }
  Numbers calls, bytes, ns;
  Json functions = Json::array();
  for (size_t f = 0; f < loads.functions.size(); ++f) {
    functions.push_back(call_name(loads.functions[f]));
    std::vector<analysis::Load> sum(cells);
    for (size_t r = 0; r < ranks; ++r) {
      sum[r / block].calls += loads.loads[f][r].calls;
      sum[r / block].bytes += loads.loads[f][r].bytes;
      sum[r / block].time_ns += loads.loads[f][r].time_ns;
    }
    const auto known = exact.find(loads.functions[f]);
    for (size_t c = 0; c < cells; ++c) {
      calls.push_back(static_cast<int64_t>(sum[c].calls));
      bytes.push_back(static_cast<int64_t>(sum[c].bytes));
      double time = sum[c].time_ns;
      if (view.answers.timeline.has_times) time = known == exact.end() ? 0 : known->second[c];
      ns.push_back(static_cast<int64_t>(text::rounded(time)));
    }
  }
  out.json["density"] = {{"functions", std::move(functions)},
                         {"block", block},
                         {"cells", cells},
                         {"time_is_exact", view.answers.timeline.has_times}};
  out.columns.put("density.calls", std::move(calls));
  out.columns.put("density.bytes", std::move(bytes));
  out.columns.put("density.ns", std::move(ns));
}

class DensitySection : public PageSection {
 public:
  void write(const PageView& view, PageData& out) const override { put_density(view, out); }
};

}  // namespace

std::unique_ptr<PageSection> density_section() { return std::make_unique<DensitySection>(); }

}  // namespace refrain::report
