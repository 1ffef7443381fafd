// Reads and checks the index of the time section, without the times (docs/format.md, Time).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "format/time/data.h"

namespace refrain::format {

// Length of the index with its tail, from the section's last kTimeTailBytes bytes. Fails when it is
// more than the section or the limit.
inline constexpr uint64_t kTimeTailBytes = 8;
base::Result<uint64_t> time_index_bytes(std::string_view tail, uint64_t section_bytes);

// `bytes`: so many bytes from the section's end. Total: the blocks lie in the section one after the
// other and fill what the index leaves, blocks of a location follow each other in time, ranks are
// below `ranks`, clock points ascend.
base::Result<TimeIndex> read_time_index(std::string_view bytes, uint64_t section_bytes,
                                        uint64_t ranks);
// The same rules for an index that was put together in memory.
base::Status check_time_index(const TimeIndex& index, uint64_t block_bytes, uint64_t ranks);

}  // namespace refrain::format
