// One reader per section type, the mirror image of encode/section_writers.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "format/decode/field_reader.h"
#include "format/stats/grain.h"
#include "format/trace_data.h"

namespace refrain::format {

// Durations of files before 1.4; they become numbers once the calls are counted.
struct DurationCodes {
  uint16_t min = 0, mean = 0, max = 0;
  uint8_t kind = 0;  // 0: all calls have the mean's code
  uint8_t first_bucket = 0;
  std::array<uint8_t, kStoredBuckets> shares{};
};

// Those of later ones.
struct CodedDurations {
  StatPrecision precision;
  std::string bytes;
  uint64_t section_bytes = 0;
};

// Consecutive signatures that differ only in numbers.
struct DecodedFamily {
  uint32_t first = 0, members = 0;
  bool shares_durations = false;
};

// What the readers fill, in the order of kSectionReaders.
struct Decoding {
  TraceData trace;
  std::vector<DecodedFamily> families;   // of the signatures
  std::vector<DurationCodes> durations;  // each family's one, or one for each of its members
  CodedDurations coded;                  // ... or these
  CodedDurations gaps;                   // if `has_gaps`
  bool shares_totals = false;            // features of the header: four bytes a rank
  bool is_compact = false;
  bool has_gaps = false;
  // What members of families, and lists of them, may still take: they need no bytes of the file.
  uint64_t family_bytes = 0;
  bool spend(uint64_t count, uint64_t bytes_each) {
    if (bytes_each != 0 && count > family_bytes / bytes_each) return false;
    family_bytes -= count * bytes_each;
    return true;
  }
};

struct SectionReader {
  SectionType type;
  bool required;
  void (*read)(FieldReader& in, Decoding& out);
};

void read_meta(FieldReader& in, Decoding& out);
void read_definitions(FieldReader& in, Decoding& out);
void read_signatures(FieldReader& in, Decoding& out);
void read_tables(FieldReader& in, Decoding& out);
void read_durations(FieldReader& in, Decoding& out);
void read_grammars(FieldReader& in, Decoding& out);
void read_groups(FieldReader& in, Decoding& out);
void read_totals(FieldReader& in, Decoding& out);
void read_losses(FieldReader& in, Decoding& out);
void read_ranks(FieldReader& in, Decoding& out);
void read_gaps(FieldReader& in, Decoding& out);
void read_posix(FieldReader& in, Decoding& out);
void read_clusters(FieldReader& in, Decoding& out);

// Later ones rely on what earlier ones filled in.
inline constexpr SectionReader kSectionReaders[] = {
    {SectionType::kMeta, true, read_meta},
    {SectionType::kDefinitions, true, read_definitions},
    {SectionType::kSignatures, true, read_signatures},
    {SectionType::kTables, false, read_tables},
    {SectionType::kDurations, true, read_durations},
    {SectionType::kGrammars, true, read_grammars},
    {SectionType::kGroups, true, read_groups},
    {SectionType::kTotals, true, read_totals},
    {SectionType::kLosses, false, read_losses},
    {SectionType::kRanks, false, read_ranks},
    {SectionType::kGaps, false, read_gaps},
    {SectionType::kPosix, false, read_posix},
    {SectionType::kClusters, false, read_clusters},
};

// Counts the calls of every signature and makes TraceData::durations and gaps of what was read. The
// trace must have passed check_content().
void finish_durations(Decoding& decoding, std::vector<Finding>& findings);

}  // namespace refrain::format
