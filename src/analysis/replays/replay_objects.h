// Whether objects of two traces are of one kind: communicators with the same members, datatypes
// with the same size, extent and constructor. Their names are not looked at.
#pragma once

#include "mpi/call_table.h"
#include "refrain/calls.h"
#include "refrain/trace.h"

namespace refrain::analysis {

// `a` of the original and `b` of the replay are objects (ValueKind::kObject), as `rank` sees them.
bool same_object(const Trace& original, const Trace& again, Rank rank, const Value& a,
                 const Value& b);

// A function that says what the MPI, the machine or a clock is like.
bool asks_environment(const mpi::CallInfo& info);

}  // namespace refrain::analysis
