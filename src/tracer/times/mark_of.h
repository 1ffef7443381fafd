// The mark of a call, from its signature: begin or end of a segment from marks.
#pragma once

#include <vector>

#include "format/content.h"
#include "format/segments/cut.h"
#include "format/signatures/walk.h"
#include "mpi/call_table.h"

namespace refrain::tracer {

// Whether such calls are marks; MPI_Pcontrol is one with some levels.
bool may_be_mark(mpi::CallId call);
// `definitions`: those of the call's rank.
format::Mark mark_of(const format::CallFields& call,
                     const std::vector<format::Definition>& definitions);

}  // namespace refrain::tracer
