// Decides when a written file must have reached the disk. Until then a loss of power loses the
// file.
#pragma once

#include <cstdint>

namespace refrain::format {

// kNow: when the function returns. kSoon: the system begins to write, and nobody waits for the
// disk. kLater: who asks for it syncs by himself.
enum class Sync : uint8_t { kNow, kSoon, kLater };

}  // namespace refrain::format
