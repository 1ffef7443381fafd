#include "analysis/wait_table.h"

#include <algorithm>
#include <cmath>

namespace refrain::analysis {

WaitTable::WaitTable(const Timeline& t, size_t most_rows, size_t most_columns)
    : bins_(t.bins), locations_(t.rows.size()), begin_ns_(static_cast<double>(t.begin_ns)) {
  if (bins_ == 0 || locations_ == 0 || t.end_ns <= t.begin_ns) return;
  block_ = (locations_ + most_rows - 1) / most_rows;
  rows_ = (locations_ + block_ - 1) / block_;
  columns_ = std::min(bins_, most_columns);
  bin_ns_ = static_cast<double>(t.end_ns - t.begin_ns) / static_cast<double>(bins_);
  ns_.resize(rows_ * columns_);
  for (size_t i = 0; i < locations_; ++i) place_[{t.rows[i].rank, t.rows[i].thread}] = i;
}

double WaitTable::edge(size_t column) const {
  return begin_ns_ + static_cast<double>(column * bins_ / columns_) * bin_ns_;
}

void WaitTable::add(Rank rank, uint32_t thread, uint64_t begin_ns, uint64_t end_ns) {
  const auto known = place_.find({rank, thread});
  if (known == place_.end() || ns_.empty()) return;
  const size_t row = known->second / block_;
  const auto from = static_cast<double>(begin_ns), to = static_cast<double>(end_ns);
  const double first =
      (from - begin_ns_) / bin_ns_ / static_cast<double>(bins_) * static_cast<double>(columns_);
  if (!(first < static_cast<double>(columns_))) return;
  size_t column = first > 1 ? static_cast<size_t>(first) - 1 : 0;
  for (; column < columns_ && edge(column) < to; ++column) {
    const double part = std::min(to, edge(column + 1)) - std::max(from, edge(column));
    if (part > 0) ns_[row * columns_ + column] += part;
  }
}

std::string WaitTable::shares() const {
  std::string out(ns_.size(), '\0');
  for (size_t row = 0; row < rows_; ++row) {
    const size_t here = std::min(block_, locations_ - row * block_);
    for (size_t column = 0; column < columns_; ++column) {
      const double all = (edge(column + 1) - edge(column)) * static_cast<double>(here);
      const double share = all > 0 ? ns_[row * columns_ + column] / all : 0;
      out[row * columns_ + column] =
          static_cast<char>(static_cast<uint8_t>(std::lround(255 * std::min(share, 1.0))));
    }
  }
  return out;
}

}  // namespace refrain::analysis
