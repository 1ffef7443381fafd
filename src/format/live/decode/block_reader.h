// BlockReader: bytes of a stream, in pieces of any size -> the records of its blocks
// (docs/live_format.md).
//
// Any bytes give records or an error. A record is given only when its whole block is there and its
// checksums, writer and number are right. After an error every further call gives the same one.
// Memory: the bytes of a block that is not whole. Not thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace refrain::format::live {

class BlockReader {
 public:
  // An error of it ends the stream.
  using Visit = std::function<base::Status(uint8_t kind, std::string_view record)>;

  base::Status feed(std::string_view bytes, const Visit& visit);

  // Where the stream may end: behind a whole block.
  bool is_between_blocks() const { return pending_.empty(); }
  uint64_t bytes() const { return bytes_; }  // of whole blocks
  uint64_t blocks() const { return number_; }
  // Bytes of payloads before the record that is being visited.
  uint64_t payload_bytes() const { return payload_bytes_; }

 private:
  struct Head {
    uint64_t writer = 0, number = 0;
    uint32_t bytes = 0, checksum = 0;
  };
  base::Result<Head> read_head(std::string_view bytes) const;
  base::Status block(const Head& head, std::string_view payload, const Visit& visit);
  base::Error bad(const std::string& what) const;

  std::string pending_;
  uint64_t writer_ = 0, number_ = 0, bytes_ = 0, payload_bytes_ = 0;
  base::Status outcome_ = base::Done{};
};

}  // namespace refrain::format::live
