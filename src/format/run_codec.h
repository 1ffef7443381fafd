// Lists of integers as the file has them: runs of runs.
//
// The ranks of the inside of a grid, the communicator of each row, a transpose partner: their
// RunList has a run per row. As runs of equal runs whose starts are themselves a run they take a
// few bytes, whatever the number of rows.
//
//   list  := varint blocks, block*
//   block := zigzag (start - last value of the block before, 0 for the first)
//            varint count << 2 | has_repeat << 1 | has_step
//            [zigzag step]                          step 1 (0 when count is 1) if left out
//            [varint repeat - 2, zigzag distance]   so many runs, each starts `distance` later
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/runs.h"

namespace refrain::format {

// The same values in the one form that appending them one by one gives; O(values).
base::RunList canonical(const base::RunList& list);

void write_runs(const base::RunList& list, base::ByteWriter& out);

// Fails `in` when there are more than `max_values` values, or more than `repeated_budget` runs come
// out of repeats; what it uses is taken off the budget.
base::RunList read_runs(base::ByteReader& in, uint64_t max_values, uint64_t& repeated_budget);

}  // namespace refrain::format
