// The two hashes of the format: one for sections (in the file), one for tables in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace refrain::format {

inline uint64_t hash64(const void* data, size_t size) { return XXH3_64bits(data, size); }

// The low 32 bits of XXH3 (64 bits, seed 0).
inline uint32_t checksum32(std::string_view bytes) {
  return static_cast<uint32_t>(hash64(bytes.data(), bytes.size()));
}

}  // namespace refrain::format
