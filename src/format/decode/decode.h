// The bytes of a trace file -> TraceData. Independent of encode/; docs/format.md is normative.
//
// Total: whatever the bytes are, the result is a trace that keeps every rule of the document, or
// one error with the file's name and the offset. Memory is bounded by limits.h and by the size of
// the input. Thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/content.h"
#include "format/layout.h"
#include "format/rules.h"
#include "format/trace_data.h"

namespace refrain::format {

// `name` is what errors call the file. DurationStats::count is counted from the grammars; the other
// numbers of time have the error bounds of docs/format.md. A file of another major version, or with
// a feature that this build does not know, gives ErrorCode::kUnsupported.
// Times are left out; `bytes` may lack them, `file_bytes` is then how long the file is.
base::Result<TraceData> decode(std::string_view bytes, const std::string& name,
                               uint64_t file_bytes = 0);

// Reads the whole file (regular, at most 2^40 bytes), errors name the system's reason. Of a file
// that its header shows to be none of ours, only the header: decode() then says why.
base::Result<std::string> read_file(const std::string& path);

// The same without the times: the bytes up to them, and an open descriptor to read them with.
struct OpenFile {
  std::string bytes;
  uint64_t file_bytes = 0;
  int fd = -1;  // the caller's
};
base::Result<OpenFile> open_file(const std::string& path);

// What the header and section table say.
struct SectionEntry {
  SectionType type{};
  Codec codec{};
  uint64_t offset = 0;  // in the file
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
  uint32_t checksum = 0;
  uint64_t entry_offset = 0;  // of the table's entry
  bool bundled = false;       // inside the bundle before it: offset is in the bundle's raw bytes
};
struct FileHeader {
  uint8_t major = 0, minor = 0;
  uint16_t must_understand = 0, may_ignore = 0;
  bool complete = false, has_losses = false;
  uint64_t file_bytes = 0;
  uint32_t table_bytes = 0;
  uint32_t checksum = 0;
  std::vector<SectionEntry> sections;
};
// Header and table only, with their checksum verified; cheap. Bundled sections are not listed.
base::Result<FileHeader> read_header(std::string_view bytes, const std::string& name,
                                     uint64_t file_bytes = 0);

// All rules (format/rules.h) that can still be checked are, also after a first finding; empty for a
// good file.
std::vector<Finding> check(std::string_view bytes);

// One line of `dump --bytes`.
struct ByteLine {
  std::string section;  // "header", "table", or the section's name
  uint64_t offset = 0;  // in the file for header, table and stored sections ...
  bool in_raw = false;  // ... in the decompressed section otherwise
  std::string hex;      // "52 46 4e", long ranges are cut with "..."
  uint64_t length = 0;  // bytes that the line stands for
  std::string meaning;  // "signature count = 41"
};
// Goes as far as the bytes make sense; the last line then says why it stopped.
std::vector<ByteLine> annotate(std::string_view bytes);

// Sizes for `stats`.
struct SectionSize {
  SectionType type{};
  uint64_t raw_bytes = 0;
  double stored_bytes = 0;  // a bundled section's share of its bundle, by raw size
};
base::Result<std::vector<SectionSize>> section_sizes(std::string_view bytes,
                                                     const std::string& name);

}  // namespace refrain::format
