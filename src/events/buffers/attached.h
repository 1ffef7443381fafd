// Memory of dynamic windows: where it stood in the recorded run, and where it stands in a replay.
//
// An access to a dynamic window names an address of its target. The trace has these addresses. Of
// memory that is attached it has only what it is (stack#1, heap#4+128), but a program that lets
// others know an address has asked MPI_Get_address for it, and what that said is in the trace.
//
// A replay has other addresses. Each rank attaches memory at replayed_address() of the recorded
// one, which the ranks that access it can work out by themselves: nothing is exchanged.
//
// Pure. Errors: none; what cannot be told is nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "refrain/calls.h"

namespace refrain::events {

// Where memory stood that a call of MPI_Win_attach names, by what a call of MPI_Get_address said of
// a place in the same block of memory. Nothing: it is of another one. Of a heap whose blocks are
// not told apart (`record --buffers on` does), each place looks like every other one.
std::optional<int64_t> address_by(const Signature& attach, const Signature& get_address);

// Whether address_by() tells one for this call of a rank of the group.
bool has_address(const Trace& trace, GroupId group, SignatureId attach);

// Recorded addresses of what a thread of a rank attaches, by the number of the call. The call of
// MPI_Get_address is taken that comes next, if that is before the next memory that looks alike is
// attached; else the one before. O(calls of the thread).
std::map<uint64_t, int64_t> attached_addresses(RankReader& reader, uint32_t thread);

// Where a replay has what stood there: between 2^45 and 2^45 + 2^44, which systems leave empty. Two
// places of one process are two places again, unless they are a multiple of 2^44 bytes apart. Of a
// replayed address it is the same.
constexpr int64_t replayed_address(int64_t recorded) {
  constexpr int64_t kBegin = int64_t{1} << 45, kSpan = int64_t{1} << 44;
  return kBegin | (recorded & (kSpan - 1));
}

}  // namespace refrain::events
