#include "format/spool/time_chunks.h"

#include <cstring>

#include "format/limits.h"

namespace refrain::format::spool {

bool read_time_blocks(std::string_view chunk, std::vector<TimeBlock>& blocks, std::string& bytes) {
  Chunk c;
  if (chunk.size() < sizeof c) return false;
  std::memcpy(&c, chunk.data(), sizeof c);
  const std::string_view data = chunk.substr(sizeof c);
  if (c.type != ChunkType::kTimes || c.used > data.size()) return false;
  for (uint64_t at = 0; at < c.used;) {
    TimeBlockHead head;
    if (c.used - at < sizeof head) return false;
    std::memcpy(&head, data.data() + at, sizeof head);
    at += sizeof head;
    if (head.bytes > c.used - at || head.calls == 0 || head.calls > kMaxCallsPerBlock ||
        head.end_ns < head.begin_ns || head.coding > static_cast<uint32_t>(BlockCoding::kMatched))
      return false;
    const std::string_view coded = data.substr(at, head.bytes);
    if (checksum32(coded) != head.checksum) return false;
    blocks.push_back({head.calls, head.bytes, head.checksum, head.begin_ns, head.end_ns,
                      static_cast<BlockCoding>(head.coding)});
    bytes += coded;
    at += padded(head.bytes);
  }
  return true;
}

TimeRow read_time_row(std::string_view chunk) {
  TimeRow row;
  Chunk c;
  TimeRowHead head;
  if (chunk.size() < sizeof c + sizeof head) return row;
  std::memcpy(&c, chunk.data(), sizeof c);
  std::memcpy(&head, chunk.data() + sizeof c, sizeof head);
  if (c.type != ChunkType::kTimeRow || !(head.ns_per_tick > 0 && head.ns_per_tick < 1e6))
    return row;
  row.position = c.position;
  row.first_terminal = c.first_terminal;
  row.ns_per_tick = head.ns_per_tick;
  for (uint64_t at = sizeof c + sizeof head; at + sizeof(TimeRowCall) <= chunk.size();
       at += sizeof(TimeRowCall)) {
    TimeRowCall call;
    std::memcpy(&call, chunk.data() + at, sizeof call);
    if (call.terminal == 0) break;
    row.calls.push_back(call);
  }
  return row;
}

}  // namespace refrain::format::spool
