// One writer per section type; the layouts are in docs/format.md.
#pragma once

#include "base/bytes.h"
#include "format/layout.h"
#include "format/trace_data.h"

namespace refrain::format {

struct SectionWriter {
  SectionType type;
  void (*write)(const TraceData& trace, base::ByteWriter& out);
};

void write_meta(const TraceData& trace, base::ByteWriter& out);
void write_definitions(const TraceData& trace, base::ByteWriter& out);
void write_signatures(const TraceData& trace, base::ByteWriter& out);
void write_tables(const TraceData& trace, base::ByteWriter& out);
void write_durations(const TraceData& trace, base::ByteWriter& out);
void write_grammars(const TraceData& trace, base::ByteWriter& out);
void write_groups(const TraceData& trace, base::ByteWriter& out);
void write_totals(const TraceData& trace, base::ByteWriter& out);
void write_losses(const TraceData& trace, base::ByteWriter& out);

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
};

}  // namespace refrain::format
