// The cores on which ranks may run (TraceData::places), as bytes of a trace and of a spool file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "format/trace_data.h"

namespace refrain::format {

//   varint cores, varint runs, {varint gap, varint count - 1}: a gap is what lies between the end
//   of the run before (0) and this one, at least 1 from the second run on
void put(base::ByteWriter& out, const RankPlace& place);
// Fails the reader where the bytes are not a place.
RankPlace read_place(base::ByteReader& in);

// What is wrong with a place; empty when nothing is.
std::string problem_of(const RankPlace& place);

// Of each rank's own work (TraceData::totals) what is not in the list of pieces, ns.
std::vector<uint64_t> small_own_work(const TraceData& trace);

// How many CPUs a rank may run on.
uint64_t cpu_count(const RankPlace& place);

}  // namespace refrain::format
