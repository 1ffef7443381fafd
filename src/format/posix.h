// Calls of POSIX and stdio functions by rank (TraceData::posix), from and to what ranks have, and
// as bytes on their way to a trace.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/codes/quantise.h"
#include "format/posix_functions.h"
#include "format/trace_data.h"

namespace refrain::format {

// Times in the file: exact below 64 ns, relative error at most 2^-6 (1.6 %) above.
constexpr uint16_t posix_time_code(uint64_t ns) { return float_code<uint16_t, 5>(ns); }
constexpr uint64_t posix_time_of(uint16_t code) { return float_of<uint16_t, 5>(code); }
inline constexpr uint16_t kMaxPosixTimeCode = posix_time_code(UINT64_MAX) - 1;

// Numbers above this become this, so that sums over ranks fit.
inline constexpr uint64_t kMostOfPosix = uint64_t{1} << 62;

// Of counters that another process may be changing, or was as it died: what contradicts itself is
// put right. Functions that were not called are left out.
std::vector<PosixUse> posix_uses(const PosixCounter* counters,
                                 const std::function<uint64_t(uint64_t ticks)>& to_ns);

// By function; `ranks`: ascending.
std::vector<PosixColumn> posix_columns(const std::vector<PosixOfRank>& ranks);

// What one rank did.
std::vector<PosixUse> posix_of_rank(const TraceData& trace, uint64_t rank);
// The same from a column, by position in its ranks.
PosixUse use_at(const PosixColumn& column, uint64_t position);

// varint n, n times u8 function and varints: calls, errors, bytes, all ns, least, greatest.
void put(base::ByteWriter& out, const std::vector<PosixUse>& uses);
// Fails the reader where the bytes are no such list, or contradict themselves.
std::vector<PosixUse> read_posix_uses(base::ByteReader& in);

// Whether functions are in order, with ranks of the world in order, and sound numbers for each.
bool is_sound(const std::vector<PosixColumn>& columns, uint64_t world_size);
// What is wrong with the numbers of a rank; empty when nothing is.
std::string problem_of(const PosixUse& use);

}  // namespace refrain::format
