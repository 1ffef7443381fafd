// One writer per section type; the layouts are in docs/format.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "format/layout.h"
#include "format/limits.h"
#include "format/trace_data.h"

namespace refrain::format {

// Consecutive signatures that differ only in numbers.
struct Family {
  uint32_t first = 0, members = 0;
  bool is_plain = false;  // too much for the reader's free allowance
  bool shares_durations = false;
};

// What the writers hand on to later ones.
struct Encoding {
  explicit Encoding(const TraceData& t)
      : trace(t),
        family_bytes(kFreeFamilyBytes / 4 * 3 + 4 * t.totals.size() * kMaxFamilyBytesPerByte) {}
  const TraceData& trace;
  TraceData* own = nullptr;      // the same, if what is written of it may be freed
  base::ByteWriter numbers;      // the numbers section
  std::vector<Family> families;  // of all signatures
  // What regular families may still cost a reader: less than it allows for the totals and for free.
  uint64_t family_bytes;
  // Takes `cost` for each of the members off it; false, and nothing, when that is too much.
  bool spend(uint64_t members, uint64_t cost) {
    if (members * cost > family_bytes) return false;
    family_bytes -= members * cost;
    return true;
  }
};

struct SectionWriter {
  SectionType type;
  void (*write)(Encoding& in, base::ByteWriter& out);
};

void write_meta(Encoding& in, base::ByteWriter& out);
void write_definitions(Encoding& in, base::ByteWriter& out);
void write_signatures(Encoding& in, base::ByteWriter& out);
void write_tables(Encoding& in, base::ByteWriter& out);
void write_durations(Encoding& in, base::ByteWriter& out);
void write_grammars(Encoding& in, base::ByteWriter& out);
void write_groups(Encoding& in, base::ByteWriter& out);
void write_totals(Encoding& in, base::ByteWriter& out);
void write_losses(Encoding& in, base::ByteWriter& out);
void write_ranks(Encoding& in, base::ByteWriter& out);
void write_clusters(Encoding& in, base::ByteWriter& out);
void write_numbers(Encoding& in, base::ByteWriter& out);
void write_gaps(Encoding& in, base::ByteWriter& out);
void write_posix(Encoding& in, base::ByteWriter& out);

// In this order: numbers are taken in the order in which the others left them.
inline constexpr SectionWriter kSectionWriters[] = {
    {SectionType::kMeta, write_meta},
    {SectionType::kDefinitions, write_definitions},
    {SectionType::kSignatures, write_signatures},
    {SectionType::kTables, write_tables},
    {SectionType::kDurations, write_durations},
    {SectionType::kGrammars, write_grammars},
    {SectionType::kGroups, write_groups},
    {SectionType::kTotals, write_totals},
    {SectionType::kLosses, write_losses},
    {SectionType::kNumbers, write_numbers},
    {SectionType::kRanks, write_ranks},
    {SectionType::kGaps, write_gaps},
    {SectionType::kPosix, write_posix},
    {SectionType::kClusters, write_clusters},
};

}  // namespace refrain::format
