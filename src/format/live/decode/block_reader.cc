#include "format/live/decode/block_reader.h"

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/live/layout.h"

namespace refrain::format::live {

base::Error BlockReader::bad(const std::string& what) const {
  return base::fail(what, "block " + std::to_string(number_) + " of the stream");
}

base::Result<BlockReader::Head> BlockReader::read_head(std::string_view bytes) const {
  base::ByteReader in(bytes);
  const uint32_t magic = in.u32(), version = in.u32();
  Head h;
  h.writer = in.u64();
  h.number = in.u64();
  h.bytes = in.u32();
  h.checksum = in.u32();
  if (magic != kBlockMagic) return bad("not a block of a stream");
  if (version != kVersion)
    return base::unsupported("the stream is of another version of refrain: use the same one",
                             "block " + std::to_string(number_) + " of the stream");
  if (in.u32() != checksum32(bytes.substr(0, kBlockHeadBytes - 4)))
    return bad("its header is damaged");
  if (number_ > 0 && h.writer != writer_) return bad("it is of another writer");
  if (h.number < number_) return bad("block " + std::to_string(h.number) + " came again");
  if (h.number > number_) return bad("missing: block " + std::to_string(h.number) + " came");
  if (h.bytes > kMaxBlockBytes) return bad("it is too long");
  return h;
}

base::Status BlockReader::block(const Head& head, std::string_view payload, const Visit& visit) {
  if (checksum32(payload) != head.checksum) return bad("its content is damaged");
  const uint64_t before = payload_bytes_;
  base::ByteReader in(payload);
  while (!in.at_end()) {
    payload_bytes_ = before + in.position();
    const uint8_t kind = in.u8();
    const std::string_view record = in.string();
    if (!in.ok()) return bad("a record is cut off");
    if (const base::Status done = visit(kind, record); !done.ok()) return done;
  }
  payload_bytes_ = before + payload.size();
  writer_ = head.writer;
  ++number_;
  bytes_ += kBlockHeadBytes + payload.size();
  return base::Done{};
}

base::Status BlockReader::feed(std::string_view bytes, const Visit& visit) {
  if (!outcome_.ok()) return outcome_;
  pending_ += bytes;
  size_t at = 0;
  while (outcome_.ok() && pending_.size() - at >= kBlockHeadBytes) {
    const std::string_view left = std::string_view(pending_).substr(at);
    const auto head = read_head(left.substr(0, kBlockHeadBytes));
    if (!head.ok()) {
      outcome_ = head.error();
      break;
    }
    if (left.size() - kBlockHeadBytes < head->bytes) break;
    outcome_ = block(*head, left.substr(kBlockHeadBytes, head->bytes), visit);
    at += kBlockHeadBytes + head->bytes;
  }
  if (!outcome_.ok()) at = pending_.size();
  pending_.erase(0, at);
  return outcome_;
}

}  // namespace refrain::format::live
