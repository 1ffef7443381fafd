#include "format/decode/decode.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "format/decode/container.h"
#include "format/decode/field_reader.h"
#include "format/decode/section_readers.h"

namespace refrain::format {

namespace {

base::Error error_of(const Finding& f, const std::string& name) {
  // An exit status of its own: the file is good, and a newer Refrain can read it.
  const bool unsupported =
      f.rule == kRuleMajor || f.rule == kRuleFeatures || f.rule == kRuleSectionKnown;
  std::string place = name;
  if (f.offset >= 0) place += (f.in_raw ? ", raw byte " : ", byte ") + std::to_string(f.offset);
  base::Error e = base::fail(f.section + ": " + f.text, place);
  if (unsupported) e.code = base::ErrorCode::kUnsupported;
  if (!unsupported && f.rule != kRuleMagic) e.message += "; take another copy or record again";
  return e;
}

// What a section's fields cannot be read without.
SectionType needed_by(SectionType type) {
  switch (type) {
    case SectionType::kDurations:
    case SectionType::kGaps:
    case SectionType::kGrammars:
    case SectionType::kGroups: return SectionType::kSignatures;
    case SectionType::kClusters:
    case SectionType::kPosix:
    case SectionType::kTotals: return SectionType::kMeta;
    case SectionType::kRanks: return SectionType::kTotals;
    default: return SectionType::kBundle;  // nothing
  }
}

// Numbers of these sections stand in a section of their own, one list for all (docs/format.md,
// "numbers"): similar numbers side by side compress better. So a reader that stops early leaves the
// list at an unknown place.
bool takes_numbers(SectionType type) {
  return type != SectionType::kDurations && type != SectionType::kTotals &&
         type != SectionType::kLosses && type != SectionType::kRanks &&
         type != SectionType::kGaps && type != SectionType::kPosix &&
         type != SectionType::kClusters;
}

// Everything that can be read, with all that is wrong. Sections after a broken one are still read
// unless they need it.
Decoding decode_all(std::string_view bytes, uint64_t file_bytes, std::vector<Finding>& findings,
                    std::vector<ByteLine>* lines) {
  Decoding out;
  const Container c = open_container(bytes, file_bytes, findings, lines);
  if (!c.header_ok) return out;
  // A section that is damaged is missing below. That is a consequence, and is not reported as well.
  const bool container_is_sound = findings.empty();
  out.shares_totals = (c.header.must_understand & kFeatureSharedTotals) != 0;
  out.is_compact = (c.header.must_understand & kFeatureCompact) != 0;
  std::vector<SectionType> read;
  // The memory that families may ask for grows with the file, so a few bytes cannot make gigabytes
  // (Decoding::spend).
  out.family_bytes = kFreeFamilyBytes;
  for (const RawSection& s : c.sections) out.family_bytes += s.raw.size() * kMaxFamilyBytesPerByte;
  const auto numbers_at =
      std::find_if(c.sections.begin(), c.sections.end(),
                   [](const RawSection& s) { return s.entry.type == SectionType::kNumbers; });
  const bool has_numbers = numbers_at != c.sections.end();
  if (!has_numbers && container_is_sound)
    findings.push_back(Finding{kRuleSectionThere, std::string(to_string(SectionType::kNumbers)), -1,
                               false, "the section is missing"});
  FieldReader numbers(has_numbers ? numbers_at->raw : std::string_view(), "numbers",
                      has_numbers ? numbers_at->base : 0, has_numbers && numbers_at->in_raw, lines);
  bool broken = false;  // then it is not known which numbers belong to what
  // In the order of the table of readers, not of the file: sections may stand in any order, and
  // some need others.
  for (const SectionReader& reader : kSectionReaders) {
    if (broken && takes_numbers(reader.type)) continue;
    const auto it = std::find_if(c.sections.begin(), c.sections.end(),
                                 [&](const RawSection& s) { return s.entry.type == reader.type; });
    const std::string name(to_string(reader.type));
    if (it == c.sections.end()) {
      if (reader.required && container_is_sound)
        findings.push_back(Finding{kRuleSectionThere, name, -1, false, "the section is missing"});
      continue;
    }
    const SectionType needed = needed_by(reader.type);
    if (needed != SectionType::kBundle && std::find(read.begin(), read.end(), needed) == read.end())
      continue;
    FieldReader in(it->raw, name, it->base, it->in_raw, lines, &numbers);
    reader.read(in, out);
    // Bytes behind the last field are damage, too: a writer leaves none.
    in.finish();
    if (in.finding()) {
      // Where numbers ran out, that is what is wrong.
      findings.push_back(numbers.finding() && !broken ? *numbers.finding() : *in.finding());
      broken = broken || takes_numbers(reader.type);
    } else {
      read.push_back(reader.type);
    }
  }
  if (findings.empty()) {
    numbers.finish();
    if (numbers.finding()) findings.push_back(*numbers.finding());
  }
  TraceData& trace = out.trace;
  trace.meta.complete = c.header.complete;
  // The header says whether the trace can be trusted without a section being read.
  // It must not say anything else than the section.
  if (findings.empty() && c.header.has_losses != !trace.losses.empty())
    findings.push_back(
        Finding{kRuleState, "header", 14, false, "losses do not match the header's state"});
  if (findings.empty() &&
      ((c.header.must_understand & kFeatureClusters) != 0) == trace.clusters.empty())
    findings.push_back(Finding{kRuleClusterFeature, "header", 10, false,
                               "clusters do not match the header's features"});
  // Placeholders until calls are counted, so that the rules can look at them.
  trace.durations.assign(trace.signatures.size(), DurationStats{});
  return out;
}

}  // namespace

base::Result<TraceData> decode(std::string_view bytes, const std::string& name,
                               uint64_t file_bytes) {
  std::vector<Finding> findings;
  Decoding out = decode_all(bytes, std::max<uint64_t>(file_bytes, bytes.size()), findings, nullptr);
  // Statistics are decoded last, because their coding depends on how often each signature is
  // called, which only good grammars tell.
  if (findings.empty()) findings = check_content(out.trace, 1);
  if (findings.empty()) finish_durations(out, findings);
  if (!findings.empty()) return error_of(findings[0], name);
  return std::move(out.trace);
}

std::vector<Finding> check(std::string_view bytes) {
  std::vector<Finding> findings;
  Decoding out = decode_all(bytes, bytes.size(), findings, nullptr);
  // With a part missing, rules about what belongs together would only echo that.
  if (!findings.empty()) return findings;
  findings = check_content(out.trace);
  if (findings.empty()) finish_durations(out, findings);
  return findings;
}

base::Result<FileHeader> read_header(std::string_view bytes, const std::string& name,
                                     uint64_t file_bytes) {
  std::vector<Finding> findings;
  bool header_ok = false;
  FileHeader header = open_header(bytes, std::max<uint64_t>(file_bytes, bytes.size()), findings,
                                  nullptr, header_ok);
  if (!findings.empty()) return error_of(findings[0], name);
  return header;
}

std::vector<ByteLine> annotate(std::string_view bytes) {
  std::vector<ByteLine> lines;
  std::vector<Finding> findings;
  decode_all(bytes, bytes.size(), findings, &lines);
  for (const Finding& f : findings)
    lines.push_back(ByteLine{f.section, f.offset < 0 ? 0 : static_cast<uint64_t>(f.offset),
                             f.in_raw, "", 0, "stopped: " + f.text});
  return lines;
}

base::Result<std::vector<SectionSize>> section_sizes(std::string_view bytes,
                                                     const std::string& name) {
  std::vector<Finding> findings;
  const Container c = open_container(bytes, bytes.size(), findings, nullptr);
  if (!findings.empty()) return error_of(findings[0], name);
  std::vector<SectionSize> sizes;
  for (const SectionEntry& e : c.header.sections) {
    if (e.type != SectionType::kBundle) {
      sizes.push_back(SectionSize{e.type, e.raw_bytes, static_cast<double>(e.stored_bytes)});
      continue;
    }
    for (const RawSection& s : c.sections) {
      if (!s.entry.bundled || s.entry.entry_offset != e.entry_offset) continue;
      const double share = e.raw_bytes == 0 ? 0
                                            : static_cast<double>(s.entry.raw_bytes) /
                                                  static_cast<double>(e.raw_bytes);
      sizes.push_back(SectionSize{s.entry.type, s.entry.raw_bytes,
                                  share * static_cast<double>(e.stored_bytes)});
    }
  }
  return sizes;
}

namespace {

// Reads up to `size` bytes in all; the errno of a failure, else 0. Less is read of a file that
// ends.
int read_up_to(int fd, uint64_t size, std::string& bytes) {
  size_t have = bytes.size();
  bytes.resize(static_cast<size_t>(size));
  int error = 0;
  while (have < bytes.size() && error == 0) {
    const ssize_t n = read(fd, bytes.data() + have, bytes.size() - have);
    if (n == 0) break;
    if (n < 0 && errno != EINTR) error = errno;
    if (n > 0) have += static_cast<size_t>(n);
  }
  bytes.resize(have);
  return error;
}

// Whether the bytes behind this header are worth reading: of a disk image called run.rfn, or a file
// of another version, the header alone says what is wrong.
bool is_trace_header(std::string_view header) {
  return header.size() == kHeaderBytes && header.substr(0, kMagic.size()) == kMagic &&
         static_cast<uint8_t>(header[kMagic.size()]) == kMajor;
}

// Where the times begin; the end of the file where there are none, or where it is not known.
uint64_t times_begin(int fd, uint64_t file_bytes, std::string_view header) {
  base::ByteReader length(header.substr(kFileLengthOffset + 8));
  const uint64_t table_bytes = length.u32();
  constexpr uint64_t kMaxTableBytes = uint64_t{kMaxSections} * 32;
  if (table_bytes > kMaxTableBytes) return file_bytes;
  std::string bytes(header);
  if (read_up_to(fd, kHeaderBytes + table_bytes, bytes) != 0) return file_bytes;
  std::vector<Finding> findings;
  bool good = false;
  const FileHeader h = open_header(bytes, file_bytes, findings, nullptr, good);
  if (!good || h.sections.empty() || h.sections.back().type != SectionType::kTime)
    return file_bytes;
  return h.sections.back().offset;
}

base::Result<OpenFile> open_up_to(const std::string& path, bool without_times) {
  constexpr uint64_t kMaxFileBytes = uint64_t{1} << 40;
  const auto failure = [&](int error) {
    return base::fail(std::string("cannot read the trace: ") + std::strerror(error), path);
  };
  // A pipe without a writer would block open() for ever.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failure(errno);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<uint64_t>(info.st_size) > kMaxFileBytes) {
    close(fd);
    return base::fail("cannot read the trace: not a regular file", path);
  }
  // Longer than the header says by this much: not read, however much of it there is.
  constexpr uint64_t kMaxSurplusBytes = uint64_t{1} << 20;
  const auto size = static_cast<uint64_t>(info.st_size);
  OpenFile file{{}, size, fd};
  std::string& bytes = file.bytes;
  uint64_t end = size;
  int error = read_up_to(fd, std::min(size, uint64_t{kHeaderBytes}), bytes);
  if (error == 0 && is_trace_header(bytes)) {
    base::ByteReader length(std::string_view(bytes).substr(kFileLengthOffset));
    const uint64_t wanted = length.u64();
    if (size > wanted && size - wanted > kMaxSurplusBytes) {
      close(fd);
      return base::fail("the file has " + std::to_string(size) + " bytes, its header says " +
                            std::to_string(wanted) +
                            ": something was added or the header is damaged",
                        path + ", byte " + std::to_string(kFileLengthOffset));
    }
    // What shrinks meanwhile is found by the header's length.
    if (without_times) end = times_begin(fd, size, bytes);
    error = lseek(fd, kHeaderBytes, SEEK_SET) < 0 ? errno : read_up_to(fd, end, bytes);
  }
  if (error == 0) return file;
  close(fd);
  return failure(error);
}

}  // namespace

base::Result<OpenFile> open_file(const std::string& path) { return open_up_to(path, true); }

base::Result<std::string> read_file(const std::string& path) {
  base::Result<OpenFile> file = open_up_to(path, false);
  if (!file.ok()) return file.error();
  close(file->fd);
  return std::move(file->bytes);
}

}  // namespace refrain::format
