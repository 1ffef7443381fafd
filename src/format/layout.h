// Where things stand in a trace file: numbers that encode/ and decode/ share. docs/format.md is the
// normative text; ids are append-only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace refrain::format {

inline constexpr std::string_view kMagic{"\x89RFN\r\n\x1a\n", 8};
inline constexpr uint8_t kMajor = 1;  // a reader refuses every other major
inline constexpr uint8_t kMinor = 7;  // a reader accepts every minor of its major from kOldestMinor

inline constexpr uint8_t kOldestMinor = 1;  // 1.0 was never released, and is laid out differently

// Header, fixed width, little-endian:
//   0 magic[8] | 8 u8 major | 9 u8 minor | 10 u16 must-understand bits | 12 u16 may-ignore bits
//   14 u8 state | 15 u8 reserved (0) | 16 u64 file length | 24 u32 table length
//   28 u32 checksum of bytes 0..27 and of the section table
inline constexpr uint32_t kHeaderBytes = 32;
inline constexpr uint32_t kFileLengthOffset = 16;
inline constexpr uint32_t kChecksumOffset = 28;
// Features that a reader must know: totals with what recording cost each rank (totals.h); what 1.4
// writes in fewer bytes: statistics of durations (stats/), requests, totals and loop counts; ranks
// that stand for others (clusters.h); sections that are compressed as planes (codes/planes.h).
inline constexpr uint16_t kFeatureSharedTotals = 1, kFeatureCompact = 2, kFeatureClusters = 4,
                          kFeaturePlanes = 8;
inline constexpr uint16_t kKnownMustUnderstand =
    kFeatureSharedTotals | kFeatureCompact | kFeatureClusters | kFeaturePlanes;
inline constexpr uint8_t kStateComplete = 1;  // every rank's calls are here
inline constexpr uint8_t kStateLosses = 2;    // the losses section is not empty

enum class SectionType : uint32_t {
  kBundle = 0,  // small sections one after the other (varint type, varint length, bytes)
  kMeta = 1,
  kDefinitions = 2,
  kSignatures = 3,
  kTables = 4,
  kDurations = 5,
  kGrammars = 6,
  kGroups = 7,
  kTotals = 8,
  kLosses = 9,
  kNumbers = 10,    // what other sections say apart from their structure
  kClusters = 11,   // ranks that stand for others
  kTime = 64,       // of single calls; last in the file, not read when a trace is opened
  kCallPaths = 65,  // reserved
  kRegions = 66,    // reserved: named regions of the program
  kRanks = 67,      // cores, the recorder's own work and interruptions of each rank
  kGaps = 68,       // statistics of the time before each call
  kPosix = 69,      // calls of POSIX and stdio functions of each rank
};
inline constexpr uint32_t kKnownSections = 12;  // types below this number are read by this build
// A reader skips a section of a type that it does not know when this bit is set, and refuses the
// file when it is not.
inline constexpr uint32_t kMayIgnoreSection = 64;
inline constexpr uint32_t kMaxSectionType = (1 << 20) - 1;

constexpr std::string_view to_string(SectionType type) {
  constexpr std::array<std::string_view, 12> kNames = {
      "bundle",   "meta",   "definitions", "signatures", "tables",  "durations",
      "grammars", "groups", "totals",      "losses",     "numbers", "clusters"};
  const auto i = static_cast<uint32_t>(type);
  if (type == SectionType::kTime) return "time";
  if (type == SectionType::kCallPaths) return "call_paths";
  if (type == SectionType::kRegions) return "regions";
  if (type == SectionType::kRanks) return "ranks";
  if (type == SectionType::kGaps) return "gaps";
  if (type == SectionType::kPosix) return "posix";
  return i < kNames.size() ? kNames[i] : "unknown";
}

enum class Codec : uint8_t { kRaw = 0, kZstd = 1, kZstdPlanes = 2 };

// Keys of Meta::text that are written as a number (index + 1); 0 announces a key in full.
inline constexpr std::array<std::string_view, 8> kTextKeys = {
    "program",  "command", "mpi",     "mpi_version",
    "recorder", "timing",  "started", "working_directory"};

// Flags of the section clusters.
inline constexpr uint8_t kClusterTwoSteps = 1, kClusterEuclidean = 2, kClusterByTree = 4,
                         kClusterLeadEndpoints = 8, kClusterMixed = 16, kClusterReplayable = 32,
                         kClusterFlags = 63;

// How an RankExpr is written: one code, then its operands.
enum class ExprCode : uint8_t {
  kConst = 0,   // value a
  kMePlus = 1,  // affine with factor 1: b
  kAffine = 2,  // a, b
  kMod = 3,     // a
  kXor = 4,     // a
  kCart = 5,    // a, b, d
  kTable = 6,   // table index
  kDigit = 7,   // a, b, c, d
};

// How one number of all members of a family is written. An *index* (of a definition, a signature, a
// table) is a varint among the fields, other numbers are wide ones in the numbers section.
enum class ColumnMode : uint8_t {
  kAsBefore = 0,     // all equal the number that this column is compared with
  kConstant = 1,     // all equal one number: an index less the one compared with, or a wide number
  kPlain = 2,        // each, zigzag varints
  kDifferences = 3,  // each less the one before (the one compared with at first), zigzag varints
  kList = 4,         // a list
  kWide = 5,         // each, wide numbers
};
inline constexpr uint8_t kColumnModes = 6;
// As many members at least for a list, as many at most for kWide.
inline constexpr size_t kMaxWideMembers = 255;

// What recording cost, behind totals that do not have it for each rank.
inline constexpr size_t kSpreadsBytes = 32;

// Durations keep so many buckets of a histogram.
inline constexpr size_t kStoredBuckets = 16;

// A small number among the fields; from this one on the number itself is in the numbers section.
inline constexpr uint64_t kScaledFrom = 8;
inline constexpr uint64_t kScaledSignatureFrom = 64;

// Which host each rank is on: a list, or rank r on host r / n.
enum class HostForm : uint8_t { kList = 0, kBlocks = 1 };

// The signatures of a group's terminals: codes relative to the group before, or a list.
enum class SignaturesForm : uint8_t { kCodes = 0, kList = 1 };

// Which place each rank runs at: a list, or all at the only one.
enum class PlaceForm : uint8_t { kList = 0, kOne = 1 };

// Several grammars that differ in counts only are a family: rules once, and columns of the counts.
enum class GrammarForm : uint8_t { kRules = 0, kSequence = 1, kFamily = 2 };

}  // namespace refrain::format
