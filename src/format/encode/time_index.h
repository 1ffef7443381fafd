// Writes the index of the time section (docs/format.md, Time).
#pragma once

#include <string>

#include "format/time/data.h"

namespace refrain::format {

// What stands behind the blocks: the index, its length and its checksum.
std::string write_time_index(const TimeIndex& index);

}  // namespace refrain::format
