#include "format/limits.h"
#include "format/spool/pieces.h"
#include "format/spool/read.h"

namespace refrain::format::spool {

base::Result<Header> read_header(std::string_view bytes) {
  if (bytes.size() < sizeof(Header)) return base::fail("too short for a spool file");
  auto h = load<Header>(bytes, 0);
  if (h.magic != kMagic) return base::fail("not a spool file of a recorder");
  if (h.version != kVersion)
    return base::unsupported("written by another version of the recorder: recover it with that");
  if (h.check != check_of(h)) return base::fail("its header is damaged");
  if (h.world_size == 0 || h.world_size > kMaxRanks || h.rank < 0 ||
      static_cast<uint32_t>(h.rank) >= h.world_size)
    return base::fail("its header names no rank of a world");
  h.host[sizeof h.host - 1] = '\0';
  if (!(h.ns_per_tick > 0 && h.ns_per_tick < 1e6)) h.ns_per_tick = 1.0;
  return h;
}

}  // namespace refrain::format::spool
