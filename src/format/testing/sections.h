// Files put together from sections, for tests of damage below the level of checksums.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/encode/section_writers.h"
#include "format/layout.h"
#include "format/trace_data.h"

namespace refrain::format::testing {

using Sections = std::vector<std::pair<uint32_t, std::string>>;  // SectionType and bytes

// A file of the given sections, not compressed, with correct checksums: damage below that level.
inline std::string wrap(const Sections& sections, uint8_t state = kStateComplete | kStateLosses,
                        uint32_t features = kFeatureCompact) {
  base::ByteWriter table;
  std::string body;
  for (const auto& [type, raw] : sections) {
    table.put_varint(type);
    table.put_u8(0);
    table.put_u32(static_cast<uint32_t>(raw.size()));
    table.put_u32(static_cast<uint32_t>(raw.size()));
    table.put_u32(checksum32(raw));
    body += raw;
  }
  base::ByteWriter header;
  header.put_bytes(kMagic.data(), kMagic.size());
  header.put_u8(kMajor);
  header.put_u8(kMinor);
  header.put_u32(features);
  header.put_u8(state);
  header.put_u8(0);
  header.put_u64(kHeaderBytes + table.size() + body.size());
  header.put_u32(static_cast<uint32_t>(table.size()));
  std::string file = header.take() + table.take();
  base::ByteWriter sum;
  sum.put_u32(checksum32(file));
  file.insert(kChecksumOffset, sum.view());
  return file + body;
}

// Makes the checksum of header and section table right again, after a change to either.
inline void renew_header_checksum(std::string& file, uint32_t table_bytes) {
  base::ByteWriter sum;
  sum.put_u32(checksum32(file.substr(0, kChecksumOffset) + file.substr(kHeaderBytes, table_bytes)));
  file.replace(kChecksumOffset, sum.size(), sum.view());
}

// The sections of a trace that it has anything in, as bytes.
inline Sections sections_of(const TraceData& trace) {
  Sections out;
  Encoding encoding(trace);
  for (const SectionWriter& w : kSectionWriters) {
    base::ByteWriter raw;
    w.write(encoding, raw);
    if (raw.size() > 0) out.emplace_back(static_cast<uint32_t>(w.type), raw.take());
  }
  return out;
}

}  // namespace refrain::format::testing
