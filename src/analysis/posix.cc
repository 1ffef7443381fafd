#include "analysis/posix.h"

#include <algorithm>
#include <utility>

#include "format/posix.h"
#include "reader/internal.h"

namespace refrain::analysis {

namespace {

void take_in(PosixSpread& spread, uint64_t value, Rank rank, bool is_first) {
  if (is_first || value < spread.least) {
    spread.least = value;
    spread.least_rank = rank;
  }
  if (is_first || value > spread.greatest) {
    spread.greatest = value;
    spread.greatest_rank = rank;
  }
}

// Sums over many ranks of a made-up file end at the largest number.
void add(uint64_t& to, uint64_t n) {
  if (__builtin_add_overflow(to, n, &to)) to = UINT64_MAX;
}

void add(format::PosixUse& to, const format::PosixUse& use) {
  add(to.calls, use.calls);
  add(to.errors, use.errors);
  add(to.bytes, use.bytes);
  add(to.time_ns, use.time_ns);
}

PosixRow posix_row(const format::PosixColumn& column) {
  PosixRow row;
  row.function = format::posix_name(column.function);
  row.ranks = column.ranks.size();
  row.all.function = column.function;
  row.all.least_ns = UINT64_MAX;
  for (uint64_t i = 0; i < row.ranks; ++i) {
    const auto rank = static_cast<Rank>(column.ranks.at(i));
    const format::PosixUse use = format::use_at(column, i);
    add(row.all, use);
    row.all.least_ns = std::min(row.all.least_ns, use.least_ns);
    row.all.greatest_ns = std::max(row.all.greatest_ns, use.greatest_ns);
    take_in(row.calls, use.calls, rank, i == 0);
    take_in(row.bytes, use.bytes, rank, i == 0);
    take_in(row.time_ns, use.time_ns, rank, i == 0);
    row.by_rank.emplace_back(rank, use);
  }
  return row;
}

}  // namespace

bool has_posix(const Trace& trace) {
  return trace.info().text_of("posix") == "on" || !reader::data_of(trace).posix.empty();
}

PosixProfile posix_profile(const Trace& trace) {
  PosixProfile out;
  out.is_known = has_posix(trace);
  for (const format::PosixColumn& column : reader::data_of(trace).posix) {
    out.rows.push_back(posix_row(column));
    add(out.all, out.rows.back().all);
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const PosixRow& a, const PosixRow& b) {
    return a.all.time_ns > b.all.time_ns;
  });
  return out;
}

}  // namespace refrain::analysis
