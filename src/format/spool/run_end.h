// What a rank knows of its whole run when it has ended: a record of the tables of its spool, so
// that whoever has all of the spool says of the rank what the trace of the recorder says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "format/trace_data.h"

namespace refrain::format::spool {

struct RunEnd {
  uint64_t duration_ns = 0;
  RankTotals totals;  // with the cost; pieces of work are in own_ns, too

  void put(base::ByteWriter& out) const {
    for (const uint64_t v : {duration_ns, totals.in_mpi_ns, totals.outside_ns, totals.own_ns,
                             totals.switches, totals.cost.memory_bytes, totals.cost.time_ns})
      out.put_varint(v);
  }
  // Nothing: damaged. Sums over ranks must fit.
  static std::optional<RunEnd> read(base::ByteReader& in) {
    RunEnd e;
    bool fits = true;
    for (uint64_t* v : {&e.duration_ns, &e.totals.in_mpi_ns, &e.totals.outside_ns, &e.totals.own_ns,
                        &e.totals.switches, &e.totals.cost.memory_bytes, &e.totals.cost.time_ns}) {
      *v = in.varint();
      fits = fits && *v <= uint64_t{1} << 62;
    }
    return in.ok() && in.at_end() && fits ? std::optional<RunEnd>(e) : std::nullopt;
  }
  // In place of what calls and gaps add up to.
  void put(RankRecord& r) const {
    r.duration_ns = duration_ns;
    r.totals = totals;
    r.totals.cost = {};
    r.cost = totals.cost;
    r.knows_cost = totals.cost.memory_bytes > 0;
  }
};

}  // namespace refrain::format::spool
