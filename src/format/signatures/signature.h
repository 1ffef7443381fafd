// The bytes of one call signature: function, call path and parameters in symbolic form.
//
//   signature := varint call_id   field(site)   field(parameter)*   [field(result)]
//
// There is one field per parameter of the call table's row, in this order. A field begins with its
// type, so a reader can walk a signature without the table. `result` (kResult) is present only if
// the call did not return MPI_SUCCESS, or if the function does not return an error code.
//
// A signature exists in two forms:
//   inline   what the recorder builds and compares. SLOT values stand in the bytes as varints.
//   split    what merging and the file work with: the same bytes without the SLOT values (the
//            "shape"), and the values as a list in order. Ranks whose shapes are equal differ at
//            most in slot values, and those become rank expressions.
//
// Written by tracer/, split and merged by format/merge, walked by reader/. See docs/format.md.
#pragma once

#include <cstdint>

namespace refrain::format {

// What follows each tag. "int" = SLOT, zigzag varint in inline form. "def" = SLOT, varint index of
// a definition. "const" = varint id of a named constant (spec/mpi/constants). All other varints and
// bytes belong to the shape.
enum class FieldTag : uint8_t {
  kNone = 0,         // undefined or not significant (an output that the call left alone): JSON null
  kInt = 1,          // int
  kConst = 2,        // const: a named constant, predefined null handles included
  kObject = 3,       // def: an MPI object (communicator, datatype, ...), see DefinitionKind
  kRequest = 4,      // varint: the signature (terminal) of the call that created the request
  kNewRequest = 5,   // varint: position in the pool of the requests that this very signature made
  kBuffer = 6,       // u8 BufferClass, int id, int offset_bytes; for kDevice also int device
  kString = 7,       // varint length, bytes
  kStatus = 8,       // field source, field tag
  kStatusError = 9,  // field source, field tag, field error (int)
  kStatusAsPosted = 10,  // source and tag equal those that the receive asked for
  kStatusEmpty = 11,     // the empty status: MPI_ANY_SOURCE, MPI_ANY_TAG
  kMatched = 12,       // status was MPI_STATUS_IGNORE; field source, field tag of the message taken
  kMatchedArray = 13,  // statuses were MPI_STATUSES_IGNORE; varint n, n fields (kNone or kMatched)
  kArray = 14,         // varint n, then runs until n elements are covered: varint repeat, field
  kIntRuns = 15,       // varint n, then runs until covered: varint count, int start, int step
  kChanged = 16,       // inout parameter: field at exit, field at entry
  kFunction = 17,      // def: address of a function of the program
  kBytes = 18,         // varint length, bytes: opaque value
  kBits = 19,       // varint mask, varint n, n consts: modes such as MPI_MODE_CREATE|MPI_MODE_RDWR;
                    // mask holds bits without a name (normally 0)
  kResult = 20,     // last field: field value (int or const or object); error code, or return value
  kPairArray = 21,  // varint n, n times 3 ints: ranges of MPI_Group_range_incl and _excl
  // What merging makes of kIntRuns, so that regular arrays of one element per rank are a handful of
  // slots. list: varint items, then each: u8 0, int start, int step, int count: a run; or u8 1, int
  // step, int count, list: that list count times, each time step higher.
  kIntList = 22,
};

enum class BufferClass : uint8_t {
  kUnknown = 0,  // an address that nothing is known about
  kStack = 1,    // id: by first use in the location
  kData = 2,     // id: which writable segment of the program or its libraries, in load order
  kHeap = 3,     // id: allocation (-1: not known), by first use
  kDevice = 4,   // id: allocation on an accelerator, counted for each device
  kManaged = 5,  // id: allocation that host and accelerators share
  kPinned = 6,   // id: allocation on the host that accelerators can reach
};

// What an index of a kObject/kFunction/site slot points to. A definition is interned: equal
// content, equal index. payload is kind-specific (docs/format.md), refs are indices of earlier
// definitions.
enum class DefinitionKind : uint8_t {
  kSite = 0,      // call site. payload: zigzag offset in module (-1 unknown); refs: {module}
  kModule = 1,    // payload: string path, string build id
  kComm = 2,      // payload: see CommDefinition
  kDatatype = 3,  // payload: see DatatypeDefinition; refs: the types it is made of
  kGroup = 4,     // payload from here on: zigzag symbolic id
  kWin = 5,       // zigzag id; refs: {comm}
  kFile = 6,      // zigzag id; refs: {comm}
  kOp = 7,
  kErrhandler = 8,
  kInfo = 9,
  kMessage = 10,
  kSession = 11,
  kKeyval = 12,
  kToolEnum = 13,  // MPI_T handles
  kToolCvar = 14,
  kToolPvar = 15,
  kToolPvarSession = 16,
  kToolEvent = 17,
  kToolRegistration = 18,
  kPath = 19,    // call path. refs: sites, innermost first
  kRegion = 20,  // named region (reserved)
  kStream = 21,  // of MPICH (MPIX_Stream)
};
// kComm payload: zigzag id | varint const (0, or the name of a predefined one) | u8 flags (1:
// inter)
//   | for all but MPI_COMM_WORLD and MPI_COMM_SELF: RunList local members as world ranks (-1: not
//   of this world), and if inter RunList remote members.
// kDatatype payload: zigzag id | varint const (0: derived) | zigzag size_bytes | zigzag lb | zigzag
//   extent | derived only: varint combiner (const id), RunList integers, RunList addresses; refs =
//   types.
// Object names are kind#id, or the constant's name.

}  // namespace refrain::format
