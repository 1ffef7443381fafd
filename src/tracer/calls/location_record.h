// The record of a location, in the form of the record of the rank and of the spool.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/trace_data.h"
#include "grammar/grammar.h"

namespace refrain::tracer {

class Process;
struct Location;

// Adds the first call of a signature, by index in Process::signatures, on any location; the calls
// of one location but that one, by index in its memos.
void add_first_call(const Process& process, uint32_t index, format::DurationStats& to);
void add_calls(const Location& location, uint32_t index, format::DurationStats& to);
// Of a process whose tables never began anew: all calls of the first `signatures`.
void list_calls(const Process& process, size_t signatures, format::DurationList& to);
// The gaps before all calls of the location, which keeps them, by index as above.
void add_gaps(const Location& location, uint32_t index, format::DurationStats& to);

// The grammar of the calls since the last part that went to the spool, and how many of the last
// ones it lacks: writing it down takes memory, which may not be there. The location's own is empty
// afterwards.
grammar::Grammar last_grammar(Location& location, uint64_t* lost);

}  // namespace refrain::tracer
