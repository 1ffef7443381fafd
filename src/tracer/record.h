// One rank's record in the form that the merge takes, and the recorder's voice.
#pragma once

#include "format/merge/merge.h"
#include "tracer/process.h"

namespace refrain::tracer {

// Everything recorded so far. The process may not record meanwhile.
format::RankRecord make_record(Process& process);

// Merged record -> file, written beside and renamed. Complains on failure.
void write_trace(Process& process, format::PartialTrace merged);

// One line on stderr: "refrain: rank 3: ...; the program continues".
void complain(const Process& process, const char* what);

}  // namespace refrain::tracer
