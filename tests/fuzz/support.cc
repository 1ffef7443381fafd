#include "support.h"

#include <utility>
#include <vector>

#include "base/bytes.h"
#include "format/codes/checksum.h"
#include "format/decode/decode.h"

namespace refrain::fuzz {

namespace {

using format::kHeaderBytes;

void put_u32(std::string& bytes, size_t at, uint32_t v) {
  for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<char>(v >> (8 * i));
}

std::string repaired(std::string bytes) {
  if (bytes.size() < kHeaderBytes) return bytes;
  bytes.replace(0, format::kMagic.size(), format::kMagic);
  bytes[8] = static_cast<char>(format::kMajor);
  for (size_t i = 0; i < 8; ++i)
    bytes[16 + i] = static_cast<char>(static_cast<uint64_t>(bytes.size()) >> (8 * i));
  const auto table = static_cast<uint8_t>(bytes[24]);
  put_u32(bytes, 24, table);
  const auto seal = [&] {
    std::string covered = bytes.substr(0, format::kChecksumOffset);
    if (bytes.size() >= kHeaderBytes + table) covered += bytes.substr(kHeaderBytes, table);
    put_u32(bytes, format::kChecksumOffset, format::checksum32(covered));
  };
  seal();
  const auto header = format::read_header(bytes, "fuzz");
  if (!header.ok()) return bytes;
  for (const format::SectionEntry& e : header->sections) {
    const uint32_t sum =
        format::checksum32(std::string_view(bytes).substr(e.offset, e.stored_bytes));
    // The checksum is the last field of an entry; the next entry begins right after it.
    const size_t next = &e == &header->sections.back() ? kHeaderBytes + header->table_bytes
                                                       : (&e + 1)->entry_offset;
    put_u32(bytes, next - 4, sum);
  }
  seal();
  return bytes;
}

std::string from_sections(std::string_view input) {
  Input in(input);
  const uint8_t state = in.u8();
  base::ByteWriter table;
  std::string body;
  while (!in.at_end()) {
    const uint8_t type = in.u8();
    const std::string_view raw = in.bytes(in.u16());
    table.put_varint(type);
    table.put_u8(0);  // not compressed
    table.put_u32(static_cast<uint32_t>(raw.size()));
    table.put_u32(static_cast<uint32_t>(raw.size()));
    table.put_u32(format::checksum32(raw));
    body += raw;
  }
  base::ByteWriter header;
  header.put_bytes(format::kMagic.data(), format::kMagic.size());
  header.put_u8(format::kMajor);
  header.put_u8(format::kMinor);
  header.put_u16(state / 4 & format::kKnownMustUnderstand);
  header.put_u16(0);
  header.put_u8(state % 4);
  header.put_u8(0);
  header.put_u64(kHeaderBytes + table.size() + body.size());
  header.put_u32(static_cast<uint32_t>(table.size()));
  std::string file = header.take() + table.take();
  base::ByteWriter sum;
  sum.put_u32(format::checksum32(file));
  file.insert(format::kChecksumOffset, sum.view());
  return file + body;
}

}  // namespace

std::string trace_file(std::string_view input) {
  // The first byte of the magic, with its high bit set, is no state of a header.
  if (!input.empty() && input[0] == format::kMagic[0]) return repaired(std::string(input));
  return from_sections(input);
}

std::string as_section(uint32_t type, std::string_view bytes) {
  base::ByteWriter out;
  const std::string_view some = bytes.substr(0, UINT16_MAX);
  out.put_u8(static_cast<uint8_t>(type));
  out.put_u16(static_cast<uint16_t>(some.size()));
  out.put_bytes(some.data(), some.size());
  return out.take();
}

}  // namespace refrain::fuzz
