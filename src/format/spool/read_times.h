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

// On the rank's own clock: ns since the begin of its MPI_Init.
uint64_t time_of_ticks(const Header& header, uint64_t ticks, double ns_per_tick);

// Appends to `to`, which has the blocks before, what the process would have encoded next: calls of
// a row, `room` at most.
struct TimeRow;
void encode_row(const Header& header, const TimeSpec& timing,
                const std::vector<uint32_t>& number_of, const TimeRow& row, uint64_t room,
                ThreadTimes& to);

}  // namespace refrain::format::spool
