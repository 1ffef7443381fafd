// Appends a call to the record: from the bytes of its signature to a terminal in the grammar.
#pragma once

#include <cstdint>
#include <string_view>

#include "mpi/call_table.h"

namespace refrain::tracer {

struct Location;

// A call of this location that took so many ticks. Its terminal; InternTable::kMissing, and nothing
// is recorded from then on: there is no memory.
uint32_t extend_grammar(Location& location, std::string_view bytes, uint64_t ticks);

// The same of a call whose terminal is known, and whose duration is counted.
void append_to_grammar(Location& location, uint32_t terminal);

// Of a location that keeps gaps: the one before a call that the grammar was given, in ticks, with
// which it goes into the log.
uint64_t count_gap(Location& location, uint32_t terminal, bool is_outermost, uint64_t begin,
                   uint64_t end);

// A call that has waited for its turn (held_calls.h).
struct HeldSignature {
  uint32_t signature = 0;  // index of Tables::left_out
  mpi::CallId call = 0;
  bool outermost = false;
};
// With its place in log and times. `begin`: 0 where that is not kept.
void append_held(Location& location, const HeldSignature& call, uint64_t begin, uint64_t ticks);

}  // namespace refrain::tracer
