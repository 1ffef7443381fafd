// Numbers that name things in a trace. All of them are dense and begin at 0.
//
// They are plain integers: what a number may be used for is in its type's name, and every function
// that takes one says what happens when it is out of range.
#pragma once

#include <cstdint>

namespace refrain {

using Rank = int64_t;           // in MPI_COMM_WORLD unless said otherwise; -1: not of this world
using CallId = uint16_t;        // which MPI function; append-only, the same in every version
using SignatureId = uint32_t;   // a function together with all its parameters
using DefinitionId = uint32_t;  // a communicator, datatype, call site, ... (see definitions.h)
using GroupId = uint32_t;       // ranks that did the same, up to rank expressions
using GrammarId = uint32_t;     // a compressed sequence of calls
using ConstantId = uint32_t;    // a named constant of MPI; 0 is none

inline constexpr DefinitionId kNoDefinition = UINT32_MAX;

}  // namespace refrain
