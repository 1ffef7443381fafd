// The order of the checks is that of trust. Magic and version say whether the rest means anything;
// the length tells a file that was cut short from one that is damaged; the checksum of header and
// table comes before any entry is believed; a section's checksum comes before it is decompressed.
// So the message names the first thing that is wrong with the file, and none of its consequences.

#include "format/decode/container.h"

#include <zstd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "format/codes/checksum.h"
#include "format/codes/planes.h"
#include "format/decode/field_reader.h"
#include "format/decode/section_readers.h"
#include "format/limits.h"

namespace refrain::format {

namespace {

void add(std::vector<Finding>& findings, int rule, const std::string& section, uint64_t offset,
         std::string text) {
  findings.push_back(Finding{rule, section, static_cast<int64_t>(offset), false, std::move(text)});
}

// Magic and version: whether the rest of the header can be read at all.
bool check_version(std::string_view bytes, std::vector<Finding>& findings) {
  const size_t known = std::min(bytes.size(), kMagic.size());
  if (bytes.empty() || bytes.substr(0, known) != kMagic.substr(0, known)) {
    add(findings, kRuleMagic, "header", 0, "not a Refrain trace");
    return false;
  }
  if (bytes.size() >= 10 && static_cast<uint8_t>(bytes[8]) != kMajor) {
    const auto version = [](uint8_t major, uint8_t minor) {
      return std::to_string(major) + "." + std::to_string(minor);
    };
    const bool newer = static_cast<uint8_t>(bytes[8]) > kMajor;
    add(findings, kRuleMajor, "header", 8,
        std::string(newer ? "a newer" : "another") + " format, version " +
            version(static_cast<uint8_t>(bytes[8]), static_cast<uint8_t>(bytes[9])) +
            "; this build reads version " + std::to_string(kMajor) + ".x: use a " +
            (newer ? "newer release" : "release that fits the file"));
    return false;
  }
  if (bytes.size() >= 10 && static_cast<uint8_t>(bytes[9]) < kOldestMinor) {
    add(findings, kRuleMajor, "header", 9,
        "format version " + std::to_string(kMajor) + "." +
            std::to_string(static_cast<uint8_t>(bytes[9])) +
            " is from before the first release: record again");
    return false;
  }
  if (bytes.size() < kHeaderBytes) {
    add(findings, kRuleFileLength, "header", bytes.size(),
        "the file ends inside the header: it was cut short");
    return false;
  }
  return true;
}

// Covers the header up to the checksum itself, and the table behind it: the file's structure, not
// its sections.
bool checksum_matches(std::string_view bytes, const FileHeader& h) {
  std::string covered(bytes.substr(0, kChecksumOffset));
  covered += bytes.substr(kHeaderBytes, h.table_bytes);
  return checksum32(covered) == h.checksum;
}

const char* how_stored(Codec codec) {
  if (codec == Codec::kRaw) return "stored bytes, as they are";
  return codec == Codec::kZstd ? "stored bytes, zstd; decompressed below"
                               : "stored bytes, zstd of planes; decompressed and in order below";
}

bool is_known(Codec codec, const FileHeader& h) {
  if (codec == Codec::kZstdPlanes) return (h.must_understand & kFeaturePlanes) != 0;
  return codec == Codec::kRaw || codec == Codec::kZstd;
}

// Sections follow each other in the order of the table, without gaps: offsets are not stored, and
// no two can overlap.
void read_table(FieldReader& in, FileHeader& h) {
  uint64_t offset = kHeaderBytes + h.table_bytes;
  for (int64_t i = 0; in.ok() && in.remaining() > 0; ++i) {
    SectionEntry e;
    e.entry_offset = kHeaderBytes + in.position();
    if (i >= kMaxSections) return in.fail(kRuleTableEntry, in.position(), "too many sections");
    e.type = static_cast<SectionType>(in.varint("type of section", i, kMaxSectionType));
    const size_t codec_at = in.position();
    e.codec = static_cast<Codec>(in.u8("codec of section", i));
    // Positions are noted before each field, so that the message names the byte where the wrong
    // value begins.
    if (in.ok() && !is_known(e.codec, h))
      return in.fail(kRuleTableEntry, codec_at, "unknown codec");
    const size_t stored_at = in.position();
    e.stored_bytes = in.u32("stored bytes of section", i);
    const size_t raw_at = in.position();
    e.raw_bytes = in.u32("raw bytes of section", i);
    e.checksum = in.u32("checksum of section", i);
    if (!in.ok()) return;
    // Subtracted and not added, so that lengths near 2^32 cannot wrap round.
    if (e.stored_bytes > h.file_bytes - offset)
      return in.fail(kRuleSectionsFill, stored_at, "section reaches past the end of the file");
    if (e.codec == Codec::kRaw && e.raw_bytes != e.stored_bytes)
      return in.fail(kRuleTableEntry, raw_at, "two lengths of a section that is not compressed");
    // What is said to be its length is allocated before it is decompressed: it has to be in
    // proportion to what is there.
    if (e.raw_bytes > kMaxSectionRawBytes ||
        e.raw_bytes > kFreeRawBytes + e.stored_bytes * kMaxExpansion)
      return in.fail(kRuleTableEntry, raw_at, "raw length beyond the limit");
    e.offset = offset;
    offset += e.stored_bytes;
    h.sections.push_back(e);
  }
  if (in.ok() && offset != h.file_bytes)
    in.fail(kRuleSectionsFill, in.position(), "the sections do not end where the file ends");
}

// Exactly raw_bytes, or it is damaged. ZSTD_decompress() writes no byte beyond what it is given.
bool decompress(std::string_view stored, const SectionEntry& e, std::string& raw) {
  raw.resize(static_cast<size_t>(e.raw_bytes));
  const size_t n = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(n) != 0 || n != raw.size()) return false;
  if (e.codec == Codec::kZstdPlanes) raw = out_of_planes(raw);
  return true;
}

// Sections inside a bundle become sections of their own. Offsets of their fields count in the
// bundle, in which `dump --bytes` shows them.
void unpack_bundle(RawSection bundle, std::vector<RawSection>& out, std::vector<Finding>& findings,
                   std::vector<ByteLine>* lines) {
  // A bundle (docs/format.md, "Sections") is small sections that are compressed together, since
  // each of them alone compresses badly.
  FieldReader in(bundle.raw, "bundle", bundle.base, bundle.in_raw, lines);
  while (in.ok() && in.remaining() > 0) {
    const size_t type_at = in.position();
    RawSection s;
    // Its place in the table is that of the bundle: a message about it names bytes that are in the
    // file.
    s.entry = bundle.entry;
    s.entry.type = static_cast<SectionType>(in.varint("type", -1, kMaxSectionType));
    if (in.ok() && s.entry.type == SectionType::kBundle) {
      in.fail(kRuleBundle, type_at, "a bundle inside a bundle");
      break;
    }
    const uint64_t length = in.count("length", kMaxSectionRawBytes);
    const size_t begin = in.position();
    if (!in.ok()) break;
    s.raw = in.bytes().bytes(static_cast<size_t>(length));
    s.base = bundle.base + begin;
    s.in_raw = bundle.in_raw;
    s.entry.bundled = true;
    s.entry.offset = begin;
    s.entry.raw_bytes = length;
    out.push_back(std::move(s));
  }
  if (in.finding()) {
    findings.push_back(*in.finding());
    // Whatever the field was, to the user the bundle is damaged.
    findings.back().rule = kRuleBundle;
  }
}

bool is_known(SectionType type) {
  if (static_cast<uint32_t>(type) < kKnownSections) return true;
  return std::any_of(std::begin(kSectionReaders), std::end(kSectionReaders),
                     [&](const SectionReader& reader) { return reader.type == type; });
}

// Duplicates and unknown types are no sections to read. An unknown type whose number has bit 6 is
// left out without a word: that is what a later minor version may add. Any other one changes what
// the known sections mean.
std::vector<RawSection> sort_out(std::vector<RawSection> all, std::vector<Finding>& findings) {
  std::vector<RawSection> out;
  std::set<SectionType> seen;
  for (RawSection& s : all) {
    const auto type = static_cast<uint32_t>(s.entry.type);
    const std::string name(to_string(s.entry.type));
    // Times are read block by block from the file, which needs them uncompressed and at its end.
    if (s.entry.type == SectionType::kTime) {
      add(findings, kRuleTimesLast, name, s.entry.entry_offset, "times in a bundle");
    } else if (!seen.insert(s.entry.type).second) {
      add(findings, kRuleSectionOnce, name, s.entry.entry_offset, "a second section of this type");
    } else if (is_known(s.entry.type)) {
      out.push_back(std::move(s));
    } else if ((type & kMayIgnoreSection) == 0) {
      add(findings, kRuleSectionKnown, name, s.entry.entry_offset,
          "section type " + std::to_string(type) +
              " is needed to understand the file, which is of a newer format, and this build does "
              "not know it: use a newer release");
    }
  }
  return out;
}

}  // namespace

FileHeader open_header(std::string_view bytes, uint64_t file_bytes, std::vector<Finding>& findings,
                       std::vector<ByteLine>* lines, bool& header_ok) {
  FileHeader h;
  header_ok = false;
  if (!check_version(bytes, findings)) return h;
  FieldReader in(bytes.substr(0, kHeaderBytes), "header", 0, false, lines);
  in.bytes("magic", kMagic.size());
  h.major = in.u8("major version");
  h.minor = in.u8("minor version");
  h.must_understand = in.u16("must-understand bits");
  h.may_ignore = in.u16("may-ignore bits");
  const uint8_t state = in.u8("state (1: complete, 2: has losses)");
  const uint8_t reserved = in.u8("reserved");
  h.file_bytes = in.u64("file bytes");
  h.table_bytes = in.u32("table bytes");
  h.checksum = in.u32("header checksum");
  h.complete = (state & kStateComplete) != 0;
  h.has_losses = (state & kStateLosses) != 0;

  // Before the checksum: a newer version may compute even that in another way.
  if ((h.must_understand & ~kKnownMustUnderstand) != 0) {
    add(findings, kRuleFeatures, "header", 10,
        "a newer format: the file uses a feature that this build does not know; use a newer "
        "release");
    return h;
  }
  if (h.file_bytes != file_bytes) {
    const bool cut = h.file_bytes > file_bytes;
    add(findings, kRuleFileLength, "header", 16,
        "the file has " + std::to_string(file_bytes) + " bytes, its header says " +
            std::to_string(h.file_bytes) +
            (cut ? ": it was cut short" : ": something was added or the header is damaged"));
    return h;
  }
  if (h.table_bytes > bytes.size() - kHeaderBytes) {
    add(findings, kRuleTableLength, "header", 24, "the section table reaches past the end");
    return h;
  }
  if (!checksum_matches(bytes, h)) {
    add(findings, kRuleHeaderChecksum, "header", kChecksumOffset,
        "wrong checksum of header and section table: the file is damaged");
    return h;
  }
  // Noted, but no reason to stop: everything else in the header has been found good.
  if (reserved != 0 || (state & ~(kStateComplete | kStateLosses)) != 0)
    add(findings, kRuleReserved, "header", 14, "a reserved bit is set");
  FieldReader table(bytes.substr(kHeaderBytes, h.table_bytes), "table", kHeaderBytes, false, lines);
  read_table(table, h);
  if (table.finding()) {
    findings.push_back(*table.finding());
    return h;
  }
  header_ok = true;
  return h;
}

Container open_container(std::string_view bytes, uint64_t file_bytes,
                         std::vector<Finding>& findings, std::vector<ByteLine>* lines) {
  Container c;
  c.header = open_header(bytes, file_bytes, findings, lines, c.header_ok);
  if (!c.header_ok) return c;
  std::vector<RawSection> all;
  for (const SectionEntry& e : c.header.sections) {
    const std::string name(to_string(e.type));
    if (e.type == SectionType::kTime &&
        (e.codec != Codec::kRaw || e.offset + e.stored_bytes != c.header.file_bytes)) {
      add(findings, kRuleTimesLast, name, e.entry_offset, "times that are not the last section");
      break;
    }
    // Times may be most of a large file: the caller has left them on the disk, and their blocks are
    // checked when they are read.
    if (e.type == SectionType::kTime && bytes.size() < file_bytes) break;
    // The table fits the length that the file had when it was opened; it may have been cut since
    // then.
    if (e.offset > bytes.size() || e.stored_bytes > bytes.size() - e.offset) {
      add(findings, kRuleFileLength, name, e.offset, "the file was cut short meanwhile");
      break;
    }
    const std::string_view stored = bytes.substr(e.offset, e.stored_bytes);
    if (checksum32(stored) != e.checksum) {
      add(findings, kRuleSectionChecksum, name, e.offset, "wrong checksum: the section is damaged");
      continue;
    }
    if (e.type == SectionType::kTime) continue;
    RawSection s;
    s.entry = e;
    s.in_raw = e.codec != Codec::kRaw;
    // Messages count bytes in the file where they can, and else in what was decompressed.
    s.base = s.in_raw ? 0 : e.offset;
    if (e.codec == Codec::kRaw) {
      s.raw = stored;
    } else if (!decompress(stored, e, s.raw)) {
      add(findings, kRuleDecompress, name, e.offset, "cannot be decompressed to its raw length");
      continue;
    }
    if (lines != nullptr)
      lines->push_back(
          ByteLine{name, e.offset, false, hex_of(stored), e.stored_bytes, how_stored(e.codec)});
    if (e.type == SectionType::kBundle) {
      unpack_bundle(std::move(s), all, findings, lines);
    } else {
      all.push_back(std::move(s));
    }
  }
  c.sections = sort_out(std::move(all), findings);
  return c;
}

}  // namespace refrain::format
