// Layout of a message log, `run.rfn.messages/rank-N.rfm`: what the calls of one rank returned that
// its trace does not hold. docs/format.md, "Message logs", is normative.
//
// A log is a header, and then blocks of up to 1 MiB. The raw bytes of the blocks, one after the
// other, are records. encode/ writes them, decode/ reads them; they share this file only.
//
// After "PHANTOM" (2010), section 4.1: the logs that let one rank be run alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace refrain::format::messages {

inline constexpr char kMagic[8] = {'\x89', 'R', 'F', 'M', '\r', '\n', '\x1a', '\n'};
inline constexpr uint8_t kMajor = 1, kMinor = 1;
// A must-understand feature of a file: blocks may say by kPlainBlock that they have no second
// length.
inline constexpr uint16_t kPlainBlocks = 1;
// Another one: a status that says no more than the contents has no record.
inline constexpr uint16_t kImpliedStatuses = 2;
inline constexpr size_t kFixedHeaderBytes = 32;         // in front of its strings
inline constexpr size_t kBlockHeadBytes = 12;           // of a compressed block
inline constexpr size_t kPlainHeadBytes = 8;            // of one with the raw bytes themselves
inline constexpr size_t kBlockBytes = size_t{1} << 20;  // raw bytes of a block, at most
// Beside the raw length of a block.
inline constexpr uint32_t kFreshBlock = uint32_t{1} << 31;  // it begins a record
inline constexpr uint32_t kPlainBlock = uint32_t{1} << 30;  // the raw bytes; no stored length
// The fields of a record never take more; they lie in one block, only its bytes go on in the next.
inline constexpr size_t kMaxFieldBytes = 96;
inline constexpr uint8_t kLongAdvance = 15;  // in the upper half of a head: a varint follows

// The low half of a record's first byte. The numbers are those of the file.
enum class Kind : uint8_t {
  kTurn = 1,      // another thread goes on
  kContents = 2,  // what a buffer holds now, packed
  kInside = 3,    // the same of a message from the rank's own group: only how long it was
  kPart = 4,      // partitions of a partitioned receive
  kFetched = 5,   // what an RMA call brought that a synchronisation has completed
  kStatus = 6,
  kWtime = 7,    // the value of MPI_Wtime
  kWindow = 8,   // bytes of window memory that others changed
  kMissing = 9,  // contents that could not be kept
  kNoted = 10,   // something that was counted
  kEnd = 11,     // nothing follows
};

// Why contents are missing.
enum class Missing : uint8_t {
  kLayout = 1,   // the layout of the buffer is not known
  kDevice = 2,   // the buffer is not in memory that the host can read
  kRequest = 3,  // who made the request is not known
  kMemory = 4,   // there was no memory to remember the layout
};

// What is counted and does not end the logging.
enum class Noted : uint8_t {
  kFreedActive = 1,    // receives whose request was freed while they were active
  kSharedWindow = 2,   // shared windows with ranks of another group
  kPolledWindow = 3,   // windows that changed between two calls, neither of which could tell
  kUnknownWindow = 4,  // windows whose memory is not watched
  kOverlooked = 5,     // calls of functions that fill buffers and that the recorder does not know
};

enum class EndReason : uint8_t {
  kFinished = 1,  // the rank came to MPI_Finalize or exited
  kLimit = 2,     // --message-limit
  kDisk = 3,      // the file could not be written: the error number says why
  kMemory = 4,
};

// Ranks first, first + 1, ... of MPI_COMM_WORLD.
struct RankRun {
  uint32_t first = 0, count = 0;
  bool operator==(const RankRun&) const = default;
};

struct Header {
  uint64_t run = 0;              // the same in all logs and in the trace of a run
  uint32_t rank = 0, ranks = 0;  // of MPI_COMM_WORLD
  std::string build_id;          // of the program's executable, as bytes; empty: it has none
  std::string mpi;               // "mpich 4.0.2"
  // The rank's own group, itself included, ascending; contents of messages from inside are not
  // kept. Empty: everything is kept.
  std::vector<RankRun> group;
  bool operator==(const Header&) const = default;
};

// Sums over a whole log.
struct Sums {
  uint64_t receives = 0;        // buffers filled
  uint64_t received_bytes = 0;  // all that filled buffers
  uint64_t crossing_bytes = 0;  // of these: not from inside the group
  uint64_t kept_bytes = 0;  // of these: in the log; less than crossing_bytes where some is missing
  uint64_t unlogged = 0;    // buffers filled after logging had ended
  bool operator==(const Sums&) const = default;
};

struct StatusFields {
  uint64_t bytes = 0;  // received
  int64_t error = 0;   // MPI_ERROR as it is in memory after the call
  bool cancelled = false;
  bool has_count = true;  // false: MPI_Get_count() says MPI_UNDEFINED even for bytes
  bool operator==(const StatusFields&) const = default;
};

inline constexpr uint8_t kStatusCancelled = 1, kStatusError = 2, kStatusNoCount = 4;

}  // namespace refrain::format::messages
