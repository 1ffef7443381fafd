// Reads the times of single calls from a spool file. It is called once all else has been read,
// because the calls of each thread must be known.
#pragma once

#include <cstdint>
#include <vector>

#include "format/spool/pieces.h"
#include "format/spool/read.h"

namespace refrain::format::spool {

// Times of the first calls of each thread of `rank`, which has all but these; `number_of`: the
// signature there of each terminal. Calls without times are counted as a loss.
void read_times(const std::vector<Piece>& pieces, const std::vector<uint32_t>& number_of,
                RankSpool& rank);

}  // namespace refrain::format::spool
