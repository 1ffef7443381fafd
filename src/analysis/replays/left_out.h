// Calls of a trace that its replay need not have.
#pragma once

#include <cstdint>

#include "refrain/calls.h"

namespace refrain::analysis {

// The same function, or one form of it and another: MPI_Send and MPI_Send_c.
bool same_function(const Signature& a, const Signature& b);

// Whether the call succeeded as far as its flag says; true where it has none.
bool has_flag(const Signature& s);

// A failed test of a window can neither be made to fail nor be tried before; for a program that
// does not exist launchers end the job.
bool cannot_fail_again(const Signature& s);

// Whether call `a` of the original is about an object of MPI's own, which a replay does not have,
// and `b`, the one that stands in its place, is not.
bool is_about_what_is_missing(const Signature& a, const Signature* b);

// A call that another MPI may lack or answer otherwise, so that a replay may do without it; and one
// that failed, which proxies leave out.
bool may_be_left_out(const Signature& call);

// Whether call `a` of a thread failed and the replay does without it, where `b`, which did not
// fail, stands in its place and is of the same function: the next call that did not fail is of that
// function, too. `original`: the reader of the rank, of which another cursor is taken.
bool is_failure_left_out(RankReader& original, uint32_t thread, const Call& a, const Signature& b);

}  // namespace refrain::analysis
