// MPI's functions as data: one row per function, from spec/mpi/calls, without any <mpi.h>.
//
// Ids are append-only: a CallId means the same function with the same parameters in every version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace refrain::mpi {

using CallId = uint16_t;

enum class Direction : uint8_t { kIn, kOut, kInOut };

// What the reader needs to know of a parameter; the word in spec/mpi/calls is the name in lower
// case.
enum class ParamKind : uint8_t {
  kInt,
  kCount,
  kRank,
  kTag,
  kLogical,
  kIndex,
  kAddress,
  kOffset,
  kDisplacement,
  kEnum,
  kBits,
  kBuffer,
  kString,
  kStatus,
  kRequest,
  kComm,
  kDatatype,
  kGroup,
  kWin,
  kFile,
  kOp,
  kErrhandler,
  kInfo,
  kMessage,
  kSession,
  kKeyval,
  kToolHandle,
  kFunction,
  kPointer,
  kRanges,
  kStream,
};

struct ParamInfo {
  std::string_view name;  // of the C binding in the MPI standard
  ParamKind kind;
  Direction direction;
  bool is_array;  // recorded as an array
};

// Groups for filters and profiles.
enum class CallGroup : uint8_t {
  kP2p,
  kCompletion,
  kColl,
  kRma,
  kIo,
  kComm,
  kGroup,
  kTopo,
  kType,
  kInfo,
  kEnv,
  kError,
  kAttr,
  kSpawn,
  kSession,
  kPersist,
  kTool,
  kMisc,
  kMark,  // the program's own marks, see refrain/mark.h
};

// How a call's bytes and messages follow from its parameters (bytes: what this rank hands in to be
// sent). Parameter positions below are indices into `params`, -1 where there is none.
enum class Traffic : uint8_t {
  kNothing,
  kSend,            // count * datatype to dest (also the send half of Sendrecv)
  kStart,           // as the persistent request's creating call says, once per Start
  kRecv,            // a receive (posts count, source): no bytes of its own
  kColl,            // count * datatype handed in by every rank
  kCollRoot,        // count * datatype times the communicator's size, at the root only (Scatter)
  kCollVector,      // sum of counts[] * datatype
  kCollVectorRoot,  // the same, at the root only (Scatterv)
  kCollW,           // sum of counts[i] * size(types[i])
  kCollTimesSize,   // count * datatype times the communicator's size (Alltoall,
                    // Reduce_scatter_block)
  kCollTimesNeighbours,  // count * datatype times the out-degree (length of the topology)
  kBcast,                // count * datatype at the root only
  kRma,                  // origin count * datatype to target_rank
  kIo,                   // count * datatype written or read
};

struct CallInfo {
  CallId id;
  std::string_view name;  // "MPI_Isend"
  CallGroup group;
  std::span<const ParamInfo> params;
  Traffic traffic;
  int8_t count_param;
  int8_t times_param;  // a second factor of the count: partitions of a partitioned call
  int8_t type_param, peer_param, tag_param, comm_param, root_param;
  bool persistent;               // creates a persistent request: traffic counts at Start
  std::string_view return_kind;  // "error" for an error code, else "int", "address", ...
};

// nullptr when the id or name is unknown (a file from the future).
const CallInfo* find_call(CallId id);
const CallInfo* find_call(std::string_view name);
std::span<const CallInfo> all_calls();  // by id; ids may have gaps
std::string_view to_string(CallGroup group);

// Named constants (spec/mpi/constants; ids append-only, 0 is none). Empty view / 0 when unknown.
std::string_view constant_name(uint32_t id);
uint32_t constant_id(std::string_view name);
uint32_t constant_count();

}  // namespace refrain::mpi
