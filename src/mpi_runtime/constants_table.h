// Values of the MPI at hand -> ids of named constants (spec/mpi/constants), and back for a few. The
// tables behind these functions are generated (constants_table.cc) but for those of constants.cc;
// all lookups are total and return 0 for "no name".
#pragma once

#include <cstdint>

#include "format/signatures/signature.h"
#include "mpi/constant_ids.h"
#include "mpi_runtime/namespace.h"

namespace refrain::mpi_runtime {

// domain: mpi::domain::kThreadLevel and the like.
uint32_t constant_of(int domain, int64_t value);

// Splits mode bits: ids of the named bits that are set, at most `max`; bits without a name stay in
// *value. Returns how many.
int constants_in(int domain, int64_t* value, uint32_t* ids, int max);

// A predefined or null handle of that kind. key: handle_map.h, handle_key().
uint32_t handle_constant(format::DefinitionKind kind, uint64_t key);

// MPI_BOTTOM, MPI_IN_PLACE, NULL, ... as the address of a buffer.
uint32_t buffer_constant(const void* p);

// MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, MPI_STATUSES_IGNORE, MPI_ARGV_NULL, MPI_ERRCODES_IGNORE, ...
// as the address of an array; NULL only where this MPI gives it such a name.
uint32_t array_constant(const void* p);

// MPI_NULL_COPY_FN, MPI_COMM_DUP_FN, ... as the address of a callback.
uint32_t function_constant(const void* p);

// ---- constants.cc ----
// Of negative ranks, of tags, and of counts that may be MPI_UNDEFINED.
uint32_t constant_of_rank(int64_t value);
uint32_t constant_of_tag(int64_t value);
uint32_t constant_of_undefined(int64_t value);
// MPI_STATUS_IGNORE.
bool is_status_ignored(const void* status);
// MPI_REQUEST_NULL, as a key of handle_map.h.
bool is_null_request(uint64_t request);
bool is_null_comm(uint64_t comm);
bool is_null_datatype(uint64_t type);
uint64_t comm_world_key();
uint64_t comm_self_key();
// A receive from anybody, or of any tag.
bool is_wildcard(int source, int tag);
// MPI_ROOT.
bool is_root_constant(int root);

}  // namespace refrain::mpi_runtime
