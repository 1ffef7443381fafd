#include "format/encode/encode.h"

#include <zstd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "format/codes/checksum.h"
#include "format/codes/planes.h"
#include "format/content.h"
#include "format/encode/section_writers.h"
#include "format/encode/time_entry.h"
#include "format/encode/time_index.h"
#include "format/layout.h"
#include "format/limits.h"

namespace refrain::format {

namespace {

using base::ByteWriter;

// Nothing in numbers of each rank repeats: the best compression saves as little on them as a quick
// one, and takes most of the time that the rest of the file takes.
constexpr int kQuickLevel = 3;
// From here on a quick try says whether there is anything to save: the best compression takes
// hundreds of instructions a byte, and where numbers are irregular it finds no more than the quick
// one.
constexpr size_t kTryFrom = size_t{64} << 10;
// From here on pieces say whether the best compression finds more than the quick one: it takes
// memory, too, twenty times what it compresses.
constexpr size_t kSampleFrom = size_t{512} << 10;
bool is_by_rank(SectionType type) {
  return type == SectionType::kRanks || type == SectionType::kPosix;
}

// What has the same length at any number of ranks is not compressed while it is small: the content
// differs, and with it what compression would save.
constexpr size_t kCompressFrom = 8 * 1024;

// Sections below this many raw bytes go into a bundle: they compress better together, and there is
// nothing to gain from reading one of them alone.
constexpr size_t kBundleBelow = 16 * 1024;

// Compression must save this much, so that very small files stay readable in a hex editor.
constexpr size_t kMinSavedBytes = 32;

struct Section {
  SectionType type{};
  std::string raw;
};

// Sections whose bytes follow the number of ranks or the clock, but not their lengths.
bool is_flat(SectionType type) {
  return type == SectionType::kDurations || type == SectionType::kTotals ||
         type == SectionType::kNumbers || type == SectionType::kRanks ||
         type == SectionType::kGaps || type == SectionType::kPosix;
}

// The compressed form where that is clearly smaller.
struct Stored {
  Codec codec = Codec::kRaw;
  std::string bytes;
};
size_t compress(std::string_view raw, int level, std::string& packed) {
  packed.resize(ZSTD_compressBound(raw.size()));
  return ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), level);
}

// As level 18, with a shorter search: half the time of level 19, and 0.5 % more bytes where the
// numbers are irregular.
size_t compress_in_less_time(std::string_view raw, std::string& packed) {
  constexpr int kLevel = 18, kSearchLog = 3, kTargetLength = 32;
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  if (context == nullptr) return compress(raw, kLevel, packed);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_searchLog, kSearchLog);
  ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, kTargetLength);
  packed.resize(ZSTD_compressBound(raw.size()));
  const size_t n = ZSTD_compress2(context, packed.data(), packed.size(), raw.data(), raw.size());
  ZSTD_freeCCtx(context);
  return n;
}

// The best compression takes 0.1 to 0.5 s a MiB while the program waits in MPI_Finalize, and halves
// what irregular programs leave. What is small gets the best there is; up to 64 KiB level 15 has
// all but 0.4 % of that for a third of the instructions.
size_t compress_well(std::string_view raw, std::string& packed) {
  constexpr size_t kTiny = size_t{4} << 10;
  constexpr size_t kSmall = size_t{64} << 10, kLarge = size_t{16} << 20;
  if (raw.size() <= kTiny) return compress(raw, 19, packed);
  if (raw.size() <= kSmall) return compress(raw, 15, packed);
  return raw.size() <= kLarge ? compress_in_less_time(raw, packed) : compress(raw, 12, packed);
}

// Whether the best compression takes less by a few percent, as far as pieces of it show.
bool is_worth_the_best(std::string_view raw) {
  constexpr size_t kPieces = 3, kPiece = size_t{48} << 10, kOneIn = 32;
  if (raw.size() < kSampleFrom) return true;
  std::string packed;
  size_t quick = 0, best = 0;
  for (size_t i = 0; i < kPieces; ++i) {
    const std::string_view piece = raw.substr((raw.size() - kPiece) / (kPieces - 1) * i, kPiece);
    quick += compress(piece, kQuickLevel, packed);
    best += compress_well(piece, packed);
  }
  return best < quick - quick / kOneIn;
}

// A reader takes an expansion beyond the limit for a bomb.
bool is_beyond_limit(size_t raw_bytes, size_t packed_bytes) {
  return raw_bytes > kFreeRawBytes + packed_bytes * kMaxExpansion;
}

// Arrays of tens of thousands of requests that change little from call to call compress better than
// readers accept: a skippable frame of zeros (RFC 8878, section 3.1.2) fills up to the limit.
void fill_up(size_t raw_bytes, std::string& packed) {
  constexpr size_t kHead = 8;
  const size_t least = (raw_bytes - kFreeRawBytes + kMaxExpansion - 1) / kMaxExpansion;
  const size_t zeros = std::max(least, packed.size() + kHead) - packed.size() - kHead;
  ByteWriter head;
  head.put_u32(ZSTD_MAGIC_SKIPPABLE_START);
  head.put_u32(static_cast<uint32_t>(zeros));
  packed += head.view();
  packed.append(zeros, '\0');
}

// The numbers section in planes; empty if it compresses better as it is, which long repetitions
// may. Both are compressed at the quick level to find out.
std::string better_planes(std::string_view raw) {
  std::string planes = in_planes(raw), packed;
  const size_t n = compress(planes, kQuickLevel, packed);
  return ZSTD_isError(n) == 0 && n < compress(raw, kQuickLevel, packed) ? planes : std::string();
}

Stored store(std::string raw, SectionType type) {
  // Coded bits are as short as they get.
  const bool is_coded =
      type == SectionType::kDurations || type == SectionType::kTotals || type == SectionType::kGaps;
  if (is_coded || (is_flat(type) && raw.size() < kCompressFrom))
    return {Codec::kRaw, std::move(raw)};
  const std::string planes = type == SectionType::kNumbers ? better_planes(raw) : std::string();
  const std::string_view ordered = planes.empty() ? raw : planes;
  std::string packed;
  const bool is_tried = !is_by_rank(type) && raw.size() >= kTryFrom;
  size_t n = is_by_rank(type) || is_tried ? compress(ordered, kQuickLevel, packed)
                                          : compress_well(ordered, packed);
  if (is_tried && ZSTD_isError(n) == 0 && n < raw.size() - raw.size() / 8 &&
      !is_beyond_limit(raw.size(), n) && is_worth_the_best(ordered))
    n = compress_well(ordered, packed);
  if (ZSTD_isError(n) != 0 || n + kMinSavedBytes > raw.size()) return {Codec::kRaw, std::move(raw)};
  packed.resize(n);
  if (is_beyond_limit(raw.size(), n)) fill_up(raw.size(), packed);
  return {planes.empty() ? Codec::kZstd : Codec::kZstdPlanes, std::move(packed)};
}

// Moves the small sections into one bundle. It holds structure only, the same at any number of
// ranks where the program is regular; random bytes would only spoil the rest.
std::vector<Section> bundle(std::vector<Section> sections) {
  std::vector<Section> out;
  ByteWriter small;
  for (Section& s : sections) {
    if (is_flat(s.type) || s.raw.size() >= kBundleBelow) {
      out.push_back(std::move(s));
      continue;
    }
    small.put_varint(static_cast<uint32_t>(s.type));
    small.put_string(s.raw);
  }
  if (small.size() > 0) out.insert(out.begin(), Section{SectionType::kBundle, small.take()});
  return out;
}

std::string assemble(const TraceData& trace, std::vector<Section> sections) {
  ByteWriter table;
  std::string body;
  bool has_planes = false;
  for (Section& s : sections) {
    const uint64_t raw_bytes = s.raw.size();
    const Stored stored = store(std::move(s.raw), s.type);
    has_planes = has_planes || stored.codec == Codec::kZstdPlanes;
    table.put_varint(static_cast<uint32_t>(s.type));
    table.put_u8(static_cast<uint8_t>(stored.codec));
    table.put_u32(static_cast<uint32_t>(stored.bytes.size()));
    table.put_u32(static_cast<uint32_t>(raw_bytes));
    table.put_u32(checksum32(stored.bytes));
    body += stored.bytes;
  }
  if (!trace.times.empty()) {
    std::string times = trace.times.bytes + write_time_index(trace.times.index);
    put_time_entry(table, times.size(), checksum32(times));
    body += times;
  }
  ByteWriter header;
  header.put_bytes(kMagic.data(), kMagic.size());
  header.put_u8(kMajor);
  header.put_u8(kMinor);
  // Must understand; may ignore: nothing yet.
  header.put_u16(static_cast<uint16_t>(kFeatureCompact |
                                       (trace.clusters.empty() ? 0 : kFeatureClusters) |
                                       (has_planes ? kFeaturePlanes : 0)));
  header.put_u16(0);
  header.put_u8(static_cast<uint8_t>((trace.meta.complete ? kStateComplete : 0) |
                                     (trace.losses.empty() ? 0 : kStateLosses)));
  header.put_u8(0);
  header.put_u64(kHeaderBytes + table.size() + body.size());
  header.put_u32(static_cast<uint32_t>(table.size()));
  std::string covered = header.take() + table.take();
  ByteWriter sum;
  sum.put_u32(checksum32(covered));
  covered.insert(kChecksumOffset, sum.view());
  return covered + body;
}

}  // namespace

void put_time_entry(base::ByteWriter& table, uint64_t bytes, uint32_t checksum) {
  table.put_varint(static_cast<uint32_t>(SectionType::kTime));
  table.put_u8(static_cast<uint8_t>(Codec::kRaw));
  table.put_u32(static_cast<uint32_t>(bytes));
  table.put_u32(static_cast<uint32_t>(bytes));
  table.put_u32(checksum);
}

namespace {

base::Result<std::string> encode(const TraceData& trace, TraceData* own) {
  if (const auto findings = check_content(trace, 1); !findings.empty())
    return base::fail("cannot write an inconsistent trace: " + findings[0].to_string());
  std::vector<Section> sections;
  Encoding encoding(trace);
  encoding.own = own;
  for (const SectionWriter& w : kSectionWriters) {
    ByteWriter out;
    w.write(encoding, out);
    if (out.size() > kMaxSectionRawBytes)
      return base::fail("the trace is too large: section " + std::string(to_string(w.type)));
    // An empty list of what most traces do not have takes no bytes at all.
    const bool optional = w.type == SectionType::kTables || w.type == SectionType::kLosses ||
                          w.type == SectionType::kRanks || w.type == SectionType::kGaps ||
                          w.type == SectionType::kPosix || w.type == SectionType::kClusters;
    if (optional && out.size() <= 1) continue;
    sections.push_back(Section{w.type, out.take()});
  }
  if (trace.times.bytes.size() > kMaxTimeBytes - kMaxTimeIndexBytes)
    return base::fail("the trace is too large: section time");
  return assemble(trace, bundle(std::move(sections)));
}

}  // namespace

base::Result<std::string> encode(const TraceData& trace) { return encode(trace, nullptr); }
base::Result<std::string> encode_and_free(TraceData& trace) { return encode(trace, &trace); }

}  // namespace refrain::format
