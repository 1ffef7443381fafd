// Every maximum of the trace format, in one place: encoder, decoder and document agree by this
// file.
//
// A limit is larger than real programs need, and small enough that a hostile file cannot make a
// reader allocate or loop without bound. Changing one is a change of the format (docs/format.md).
#pragma once

#include <cstdint>

namespace refrain::format {

// -- the file --
inline constexpr uint32_t kMaxSections = 4096;
inline constexpr uint64_t kMaxSectionRawBytes = uint64_t{1} << 31;  // after decompression
// Decompressed bytes for each stored byte, above a free allowance: what zstd does with real
// sections stays far below, a decompression bomb does not.
inline constexpr uint64_t kMaxExpansion = 1024;
inline constexpr uint64_t kFreeRawBytes = uint64_t{1} << 20;

// -- one signature --
inline constexpr uint32_t kMaxCallId = 65535;
inline constexpr uint32_t kMaxSignatureBytes = 1 << 24;
inline constexpr uint32_t kMaxSlots = 1 << 22;
inline constexpr uint32_t kMaxFieldDepth = 8;  // fields inside fields
// Values that the fields of one signature stand for, all run lengths multiplied out.
inline constexpr uint64_t kMaxSignatureValues = uint64_t{1} << 24;

// -- the tables of a trace --
inline constexpr uint64_t kMaxRanks = uint64_t{1} << 24;
inline constexpr uint64_t kMaxDefinitions = uint64_t{1} << 22;
inline constexpr uint64_t kMaxDefinitionBytes = uint64_t{1} << 26;  // payload of one definition
inline constexpr uint64_t kMaxDefinitionRefs = uint64_t{1} << 20;   // of one definition
inline constexpr uint64_t kMaxMembers = uint64_t{1} << 24;          // of one communicator
inline constexpr uint64_t kMaxSignatures = uint64_t{1} << 22;
inline constexpr uint64_t kMaxTotalSlots = uint64_t{1} << 25;  // of all signatures together
inline constexpr uint64_t kMaxTables = uint64_t{1} << 22;
inline constexpr uint64_t kMaxGrammars = uint64_t{1} << 20;
inline constexpr uint64_t kMaxGrammarSymbols = uint64_t{1} << 25;  // of all grammars together
inline constexpr uint64_t kMaxGroups = uint64_t{1} << 20;
inline constexpr uint64_t kMaxLocations = uint64_t{1} << 16;  // threads of one group
inline constexpr uint64_t kMaxHosts = uint64_t{1} << 20;
inline constexpr uint64_t kMaxTextBytes = uint64_t{1} << 20;  // one string of meta or losses
inline constexpr uint64_t kMaxPlaces = uint64_t{1} << 20;     // where ranks may run
inline constexpr uint64_t kMaxCpus = uint64_t{1} << 20;       // of a host
inline constexpr uint64_t kMaxTexts = 1024;
inline constexpr uint64_t kMaxLosses = uint64_t{1} << 16;
// Runs that the compact form of lists (run_codec.h) may make out of repetition, per list.
inline constexpr uint64_t kMaxRepeatedRuns = uint64_t{1} << 18;
// The same over a whole section.
inline constexpr uint64_t kMaxRepeatedRunsPerSection = uint64_t{1} << 22;
// Memory for definitions, signatures and hosts that regular families stand for, above a free
// allowance: bytes for each byte of all sections together, before compression.
inline constexpr uint64_t kMaxFamilyBytesPerByte = 256;
inline constexpr uint64_t kFreeFamilyBytes = uint64_t{1} << 26;
// Statistics of so many signatures for each byte of theirs, beyond the first thousand.
inline constexpr uint64_t kMaxStatisticsPerByte = 256;
// Ranks with totals: so many, and so many more for each byte of these.
inline constexpr uint64_t kFreeTotals = uint64_t{1} << 20, kMaxTotalsPerByte = 4096;
// Terminals of all groups together.
inline constexpr uint64_t kMaxGroupTerminals = uint64_t{1} << 26;

// -- times of single calls --
inline constexpr uint64_t kMaxTimeBytes = UINT32_MAX;  // the section
inline constexpr uint64_t kMaxTimeIndexBytes = uint64_t{1} << 28;
inline constexpr uint64_t kMaxTimeChunks = uint64_t{1} << 24;
inline constexpr uint64_t kMaxTimeBlocks = uint64_t{1} << 24;
inline constexpr uint64_t kMaxCallsPerBlock = uint64_t{1} << 16;
inline constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 21;
// Calls of all representatives of segments: so many, and so many more for each of their bytes.
inline constexpr uint64_t kFreeRepresentativeCalls = uint64_t{1} << 16;
inline constexpr uint64_t kRepresentativeCallsPerByte = 512;
inline constexpr uint64_t kMaxSegmentContexts = uint64_t{1} << 20;
inline constexpr uint64_t kMaxMethodBytes = 64;
inline constexpr uint64_t kMaxClockPoints = uint64_t{1} << 16;  // of one rank
inline constexpr uint64_t kMaxClockPointsOfAll = uint64_t{1} << 24;

// -- a message log --
inline constexpr uint64_t kMaxLogHeaderBytes = uint64_t{1} << 16;
inline constexpr uint64_t kMaxBuildIdBytes = 64;
inline constexpr uint64_t kMaxLogNameBytes = 256;  // of the MPI

}  // namespace refrain::format
