// One rank's record in the form that the merge takes, and the recorder's voice.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "format/merge/merge.h"
#include "tracer/process.h"
#include "tracer/time_handover.h"

namespace refrain::tracer {

// Adds the first call of a signature, by index in Process::signatures, on any location; the calls
// of one location but that one, by index in its memos.
void add_first_call(const Process& process, uint32_t index, format::DurationStats& to);
void add_calls(const Location& location, uint32_t index, format::DurationStats& to);
// What is known once per run; see format::Meta::text.
std::map<std::string, std::string> run_text(const Process& process);

// The grammar of the calls since the last part that went to the spool, and how many of the last
// ones it lacks: writing it down takes memory, which may not be there. The location's own is empty
// afterwards.
grammar::Grammar last_grammar(Location& location, uint64_t* lost);

// Everything recorded so far, for good: what goes into the record leaves the process' tables.
// Fails when the spool lost what the tables had no room for.
base::Result<format::RankRecord> make_record(Process& process);

// Merged record -> file, written beside and renamed; `times` may be null. Complains on failure and
// gives false.
bool write_trace(Process& process, format::PartialTrace merged, TimeSource* times);

// One line on stderr: "refrain: rank 3: ...; the program continues".
void complain(const Process& process, const char* what);
// The first call that is not recorded for want of memory: what the spool has stays there.
void out_of_memory(Process& process);

}  // namespace refrain::tracer
