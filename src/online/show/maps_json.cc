#include "online/show/maps_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "events/payload.h"
#include "format/posix_functions.h"
#include "report/profile/profile_rows.h"
#include "text/numbers.h"

namespace refrain::online {

namespace {

using Json = nlohmann::ordered_json;

Json columns_of(const std::vector<MapCell>& cells) {
  Json calls = Json::array(), bytes = Json::array(), ns = Json::array();
  for (const MapCell& cell : cells) {
    calls.push_back(cell.calls);
    bytes.push_back(cell.bytes);
    ns.push_back(cell.ns);
  }
  return {{"calls", std::move(calls)}, {"bytes", std::move(bytes)}, {"ns", std::move(ns)}};
}

// The bins that have begun, of each row or of all together.
std::vector<MapCell> bins_of(const Maps& maps, const Maps::OfCall& of, bool by_row) {
  std::vector<MapCell> out(by_row ? maps.rows * maps.bins : maps.bins);
  for (size_t row = 0; row < maps.rows; ++row)
    for (size_t bin = 0; bin < maps.bins; ++bin) {
      const MapCell& from = of.temporal[row * Maps::kMostBins + bin];
      MapCell& to = out[(by_row ? row * maps.bins : 0) + bin];
      to.calls += from.calls;
      to.bytes += from.bytes;
      to.ns += from.ns;
    }
  return out;
}

struct EdgeSum {
  uint64_t hits = 0, bytes = 0;
  double time_ns = 0;
  void add(const analysis::TopologyEdge& edge) {
    hits = events::add(hits, edge.hits);
    bytes = events::add(bytes, edge.bytes);
    time_ns += edge.time_ns;
  }
};

}  // namespace

std::string topology_json(const std::vector<analysis::TopologyOfCall>& topology, Rank ranks,
                          Rank most_cells) {
  const Rank a_cell = std::max<Rank>(1, (ranks + most_cells - 1) / most_cells);
  Json kinds = Json::array();
  for (const analysis::TopologyOfCall& of : topology) {
    std::map<std::pair<Rank, Rank>, EdgeSum> edges;
    EdgeSum all;
    for (const analysis::TopologyEdge& edge : of.edges) {
      edges[{edge.source / a_cell, edge.dest / a_cell}].add(edge);
      all.add(edge);
    }
    Json source = Json::array(), dest = Json::array(), hits = Json::array(), bytes = Json::array(),
         time = Json::array();
    for (const auto& [ends, sum] : edges) {
      source.push_back(ends.first);
      dest.push_back(ends.second);
      hits.push_back(sum.hits);
      bytes.push_back(sum.bytes);
      time.push_back(text::rounded(sum.time_ns));
    }
    kinds.push_back({{"call", report::call_name(of.call)},
                     {"hits", all.hits},
                     {"bytes", all.bytes},
                     {"time_ns", text::rounded(all.time_ns)},
                     {"source", std::move(source)},
                     {"dest", std::move(dest)},
                     {"edge_hits", std::move(hits)},
                     {"edge_bytes", std::move(bytes)},
                     {"edge_time_ns", std::move(time)}});
  }
  return Json({{"ranks", ranks}, {"ranks_a_cell", a_cell}, {"kinds", std::move(kinds)}}).dump() +
         "\n";
}

std::string maps_json(const Maps& maps, const std::string& of, bool is_whole) {
  Json functions = Json::array();
  for (const auto& [call, map] : maps.calls) {
    const std::string name = report::call_name(call);
    functions.push_back({{"call", name},
                         {"density", columns_of(map.density)},
                         {"temporal", columns_of(bins_of(maps, map, is_whole || name == of))}});
  }
  for (const auto& [function, map] : maps.posix) {
    const std::string name(format::posix_name(function));
    functions.push_back({{"call", name},
                         {"kind", "posix"},
                         {"density", columns_of(map.density)},
                         {"temporal", columns_of(bins_of(maps, map, is_whole || name == of))}});
  }
  return Json({{"ranks", maps.ranks},
               {"ranks_a_row", maps.ranks_a_row},
               {"rows", maps.rows},
               {"bins", maps.bins},
               {"bin_ns", maps.bin_ns},
               {"functions", std::move(functions)}})
             .dump() +
         "\n";
}

}  // namespace refrain::online
