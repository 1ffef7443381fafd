#include "online/maps.h"

#include <algorithm>
#include <utility>

#include "analysis/rank_loads.h"
#include "format/posix.h"
#include "online/wall_clock.h"
#include "reader/internal.h"

namespace refrain::online {

namespace {

constexpr uint64_t kShareOfTime = 20;

// What was seen so far of a row, in all bins.
MapCell sum_of(const std::vector<MapCell>& temporal, size_t row) {
  MapCell sum;
  for (size_t bin = 0; bin < Maps::kMostBins; ++bin) {
    const MapCell& cell = temporal[row * Maps::kMostBins + bin];
    sum.calls += cell.calls;
    sum.bytes += cell.bytes;
    sum.ns += cell.ns;
  }
  return sum;
}

// Divides what came in [from_ns, to_ns) among the bins there; nothing is lost by rounding.
class Spread {
 public:
  Spread(uint64_t from_ns, uint64_t to_ns, uint64_t bin_ns)
      : from_ns_(from_ns), to_ns_(std::max(to_ns, from_ns + 1)), bin_ns_(bin_ns) {}

  void put(uint64_t MapCell::*member, uint64_t before, uint64_t now, MapCell* row) const {
    if (now <= before) return;
    const auto all = static_cast<double>(now - before);
    const auto length = static_cast<double>(to_ns_ - from_ns_);
    uint64_t given = 0;
    const size_t last = (to_ns_ - 1) / bin_ns_;
    for (size_t bin = from_ns_ / bin_ns_; bin <= last; ++bin) {
      const uint64_t end = std::min(to_ns_, (bin + 1) * bin_ns_);
      const uint64_t until =
          bin == last ? now - before
                      : static_cast<uint64_t>(all * static_cast<double>(end - from_ns_) / length);
      row[bin].*member += until - given;
      given = until;
    }
  }

 private:
  const uint64_t from_ns_, to_ns_, bin_ns_;
};

void fold_bins(Maps::OfCall& of, size_t rows) {
  for (size_t row = 0; row < rows; ++row) {
    MapCell* const cells = &of.temporal[row * Maps::kMostBins];
    for (size_t bin = 0; bin < Maps::kMostBins; ++bin) {
      const MapCell cell = std::exchange(cells[bin], {});
      cells[bin / 2].calls += cell.calls;
      cells[bin / 2].bytes += cell.bytes;
      cells[bin / 2].ns += cell.ns;
    }
  }
}

// What is known of a function now, and when what is new came.
void put(std::vector<MapCell> density, const Spread& spread, Maps::OfCall& of) {
  of.density = std::move(density);
  of.temporal.resize(of.density.size() * Maps::kMostBins);
  for (size_t row = 0; row < of.density.size(); ++row) {
    const MapCell before = sum_of(of.temporal, row), &now = of.density[row];
    MapCell* const cells = &of.temporal[row * Maps::kMostBins];
    spread.put(&MapCell::calls, before.calls, now.calls, cells);
    spread.put(&MapCell::bytes, before.bytes, now.bytes, cells);
    spread.put(&MapCell::ns, before.ns, now.ns, cells);
  }
}

std::vector<MapCell> density_of(const format::PosixColumn& column, const Maps& maps) {
  std::vector<MapCell> density(maps.rows);
  for (uint64_t i = 0; i < column.ranks.size(); ++i) {
    const format::PosixUse use = format::use_at(column, i);
    const auto row = static_cast<size_t>(column.ranks.at(i) / maps.ranks_a_row);
    if (row >= density.size()) continue;
    density[row].calls += use.calls;
    density[row].bytes += use.bytes;
    density[row].ns += use.time_ns;
  }
  return density;
}

}  // namespace

void MapLog::make_room(Maps& maps, uint64_t age_ns) const {
  while (age_ns >= maps.bin_ns * Maps::kMostBins) {
    for (auto& [call, of] : maps.calls) fold_bins(of, maps.rows);
    for (auto& [function, of] : maps.posix) fold_bins(of, maps.rows);
    maps.bin_ns *= 2;
  }
  maps.bins = static_cast<size_t>(age_ns / maps.bin_ns) + 1;
}

void MapLog::add(const Trace& trace, uint64_t age_ns, bool is_last) {
  const uint64_t begin = realtime_ns();
  if ((begin < next_ns_ && !is_last) || trace.rank_count() == 0) return;
  auto maps = now_ ? std::make_shared<Maps>(*now_) : std::make_shared<Maps>();
  if (!now_) {
    maps->ranks = trace.rank_count();
    const auto most = static_cast<Rank>(Maps::kMostRows);
    maps->ranks_a_row = (maps->ranks + most - 1) / most;
    maps->rows = static_cast<size_t>((maps->ranks + maps->ranks_a_row - 1) / maps->ranks_a_row);
    // Nobody saw it run: it is known what was done, and not when.
    if (is_last) maps->bin_ns = std::max(maps->bin_ns, age_ns + 1);
  }
  if (trace.rank_count() != maps->ranks) return;
  age_ns = std::max(age_ns, last_age_ns_);
  make_room(*maps, age_ns);
  const analysis::RankLoads loads = analysis::rank_loads(trace);
  const Spread spread(last_age_ns_, std::max<uint64_t>(age_ns, 1), maps->bin_ns);
  for (size_t f = 0; f < loads.functions.size(); ++f) {
    std::vector<MapCell> density(maps->rows);
    for (size_t rank = 0; rank < loads.loads[f].size(); ++rank) {
      MapCell& cell = density[rank / static_cast<size_t>(maps->ranks_a_row)];
      const analysis::Load& load = loads.loads[f][rank];
      cell.calls += load.calls;
      cell.bytes += load.bytes;
      cell.ns += static_cast<uint64_t>(load.time_ns);
    }
    put(std::move(density), spread, maps->calls[loads.functions[f]]);
  }
  for (const format::PosixColumn& column : reader::data_of(trace).posix)
    put(density_of(column, *maps), spread, maps->posix[column.function]);
  now_ = std::move(maps);
  last_age_ns_ = age_ns;
  const uint64_t end = realtime_ns();
  next_ns_ = end + kShareOfTime * (end - begin);
}

}  // namespace refrain::online
