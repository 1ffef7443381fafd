// Layout of a spool file, which holds what one process has recorded so far.
//
// A spool file is read by the build that wrote it, after the writer died at any instruction; it is
// not an exchange format. Everything is little-endian, as in memory.
//
//   page 0        Header
//   page 1 ...    chunks, each a whole number of pages, one after the other, never moved:
//
//     tables      records: definitions, signatures, texts, losses, in order of creation
//     location    one a thread: LocationState, which changes with every call
//     log         one or more a thread: a word a call, 0 where nothing was written yet
//     base        up to two a thread: the grammar of the calls before the log, and one for each
//     part
//                 of the calls before those whose grammar was too large to keep in memory
//     stats       up to two a thread: durations of its calls before a position, and one for each
//                 part of the calls before those whose statistics are still in memory
//     times       any number a thread: times of its first calls, in blocks as in a trace
//     time row    up to one a thread: times of the calls behind those
//     posix       up to one: a PosixCounter for each function (`record --posix on`)
//     dead        was replaced
//
// Laws: data is written first, and its count, checksum or generation last, in program order. So a
// process that dies between two instructions leaves a valid file of everything recorded until then.
// The reader checks what is not protected in this way: see read.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/codes/checksum.h"

namespace refrain::format::spool {

inline constexpr uint64_t kMagic = 0x314c4f4f50534e52;  // "RNSPOOL1"
inline constexpr uint32_t kVersion = 7;
inline constexpr uint32_t kChunkMagic = 0x4b4e4843;  // "CHNK"
inline constexpr uint64_t kPageBytes = 4096;

enum class State : uint32_t {
  kRunning = 0,
  kExited = 1,     // the process ended on its own feet, without MPI_Finalize
  kFinishing = 2,  // in MPI_Finalize: the ranks' records are being merged
  kDone = 3,       // the trace was written; this file is about to be removed
  kStopped = 4,    // the spool went on no further (Header::error says why); the program did
  kLeft = 5,       // the analyser writes the trace, and removes this file (`record --live-only`)
};

struct Header {
  uint64_t magic = kMagic;
  uint32_t version = kVersion;
  uint32_t world_size = 0;
  uint64_t run = 0;  // the same on all ranks of a job; 0: not known
  uint64_t opened_realtime_ns = 0, opened_ticks = 0;
  uint64_t init_ticks = 0;  // begin of MPI_Init
  int32_t rank = 0, pid = 0;
  char host[256] = {};
  uint32_t reserved = 0;
  uint32_t check = 0;  // of all before it
  // From here on fields change.
  double ns_per_tick = 1.0;
  State state = State::kRunning;
  int32_t error = 0;  // errno that stopped the spool
  // Of a rank that does not let its analyser be late (`record --live-policy`): calls whose times
  // are in blocks, those of them that the analyser has (it alone writes this), and how long the
  // rank has waited for it.
  uint64_t timed_calls = 0, taken_calls = 0;
  uint64_t waited_ns = 0;
  uint32_t wants_word = 0;  // 1: it reads taken_calls
  uint32_t reserved_too = 0;
};
static_assert(sizeof(Header) == 368 && offsetof(Header, check) == 316);

enum class ChunkType : uint32_t {
  kDead = 0,
  kTables = 1,
  kLocation = 2,
  kLog = 3,
  kBase = 4,
  kStats = 5,
  kTimes = 6,
  kTimeRow = 7,
  kPosix = 8,
};

struct Chunk {
  uint32_t magic = kChunkMagic;
  ChunkType type{};
  uint64_t offset = 0;  // in the file
  uint64_t bytes = 0;   // this header included
  uint32_t owner = 0;   // thread of all but tables
  uint32_t check = 0;   // of all before it
  // From here on fields change.
  uint64_t generation = 0;  // base, stats: 0 nothing valid in it; the greater of two is the newer
  // log, time row: calls of the thread before it; base: the same behind it; stats: 1 if it is a
  // part
  uint64_t position = 0;
  uint64_t used = 0;            // tables, base, stats, times: bytes behind this header
  uint32_t checksum = 0;        // base, stats: of those bytes
  uint32_t first_terminal = 0;  // log, time row: what its words count terminals from
};
static_assert(sizeof(Chunk) == 64 && offsetof(Chunk, check) == 28);

inline uint32_t check_of(const Header& h) {
  return checksum32({reinterpret_cast<const char*>(&h), offsetof(Header, check)});
}
inline uint32_t check_of(const Chunk& c) {
  return checksum32({reinterpret_cast<const char*>(&c), offsetof(Chunk, check)});
}

// Behind the Chunk of a location.
struct LocationState {
  uint32_t open_call = 0;      // id of the call under way, 0: none
  uint32_t held_calls = 0;     // have returned, and a filter has not decided about them
  uint64_t entered_ticks = 0;  // when it began, or the one before it if there is none
};

// A word of a log: the terminal + 1, from first_terminal on, below, the call's duration in ticks
// above. A duration that does not fit there is announced by a word kLongCall with its upper half.
inline constexpr uint32_t kLongCall = UINT32_MAX;
// With `record --gaps` the ticks between the call before and this one stand in front of it, the
// upper half, if there is any, first.
inline constexpr uint32_t kGap = UINT32_MAX - 1, kLongGap = UINT32_MAX - 2;

// A block of times, and behind it its bytes; the next one begins at the next multiple of 8 bytes.
// The other fields are those of format::TimeBlock.
struct TimeBlockHead {
  uint64_t begin_ns = 0, end_ns = 0;
  uint32_t calls = 0, bytes = 0;
  uint32_t checksum = 0;
  uint32_t coding = 0;  // BlockCoding
};

// A time row: this, and then calls until the first that is none.
struct TimeRowHead {
  double ns_per_tick = 1.0;  // of the blocks before; ticks count from Header::init_ticks
  uint64_t reserved = 0;
};
struct TimeRowCall {
  uint64_t begin_ticks = 0, end_ticks = 0;
  uint32_t terminal = 0;  // + 1, from first_terminal on; 0: none
  uint32_t call = 0;      // its function
};

// A record of the tables; the next one begins at the next multiple of 8 bytes.
struct Record {
  uint32_t bytes = 0;  // behind this header
  uint32_t check = 0;  // of the kind and the bytes
};
enum class RecordKind : uint8_t {  // the first byte
  kDefinition = 1,                 // u8 kind, varint n, n varint refs, payload to the end
  kSignature = 2,                  // inline form to the end
  kText = 3,                       // string key, string value
  kLoss = 4,                       // string reason, varint calls, string detail
  kClock = 5,                      // zigzag ns of the rank's clock, the same of the common clock
  kOwnPiece = 6,  // varint thread, varint call, varint ns: OwnPiece; the last counts
  kPlace = 7,     // RankPlace, as in a trace: format/places.h
  kRunEnd = 8,    // RunEnd: when the run has ended, behind all others
};
inline uint64_t padded(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// Terminals are numbered by the records of signatures. A recorder that has little memory forgets
// signatures, and may write the same one again later: both numbers mean the same then.
//
// Bytes of a base: varint calls of the thread before it, varint first terminal, from which it
// counts, grammar.
// Bytes of stats: varint calls of the thread before its end, varint the same before its begin;
// varint ns in MPI, varint ns outside, varint ticks of the last call's end, these from the thread's
// first call on; and twice: varint first terminal, varint n, n DurationStats from that terminal on.
// Once they are those of the first call of each signature on any thread: where n is not 0, for all
// signatures from the first terminal to the next one that any chunk has. Then those of the thread's
// other calls. Then the gaps before the thread's calls, once as these; none where n is 0.

}  // namespace refrain::format::spool
