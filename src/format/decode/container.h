// Reads the container of the sections: header, table of sections, checksums, compression, bundles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/decode/decode.h"

namespace refrain::format {

struct RawSection {
  SectionEntry entry;
  std::string raw;      // decompressed
  uint64_t base = 0;    // what FieldReader calls its first byte
  bool in_raw = false;  // base counts in decompressed bytes
};

struct Container {
  FileHeader header;
  bool header_ok = false;  // enough to go on to the sections
  std::vector<RawSection>
      sections;  // those that are sound, bundles unpacked, unknown ones left out
};

// Findings are added in the order of the file; `lines` may be null.
// `file_bytes`: how long the file is; `bytes` may lack what begins with the times, which are left
// out then.
Container open_container(std::string_view bytes, uint64_t file_bytes,
                         std::vector<Finding>& findings, std::vector<ByteLine>* lines);
// The first part of it: header and table.
FileHeader open_header(std::string_view bytes, uint64_t file_bytes, std::vector<Finding>& findings,
                       std::vector<ByteLine>* lines, bool& header_ok);

}  // namespace refrain::format
