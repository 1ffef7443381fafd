// One rank's record in the form that the merge takes, and the recorder's voice.
#pragma once

#include <map>
#include <string>

#include "format/merge/merge.h"
#include "tracer/process.h"

namespace refrain::tracer {

// Adds the first call of a terminal on any location; the calls of one location but that one.
void add_first_call(const Process& process, uint32_t terminal, format::DurationStats& to);
void add_calls(const Location& location, uint32_t terminal, format::DurationStats& to);
// What is known once per run; see format::Meta::text.
std::map<std::string, std::string> run_text(const Process& process);

// The grammar of the calls since the last part that went to the spool, and how many of the last
// ones it lacks: writing it down takes memory, which may not be there.
grammar::Grammar last_grammar(const Location& location, uint64_t* lost);

// Everything recorded so far. The process may not record meanwhile.
format::RankRecord make_record(Process& process);

// Merged record -> file, written beside and renamed. Complains on failure and gives false.
bool write_trace(Process& process, format::PartialTrace merged);

// One line on stderr: "refrain: rank 3: ...; the program continues".
void complain(const Process& process, const char* what);

}  // namespace refrain::tracer
