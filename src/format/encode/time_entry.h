// The time section's entry in the table of sections, which encode() and TraceFileWriter both write.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace refrain::format {

inline constexpr size_t kTimeEntryBytes = 14;
void put_time_entry(base::ByteWriter& table, uint64_t bytes, uint32_t checksum);

}  // namespace refrain::format
