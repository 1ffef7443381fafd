#include "format/messages/decode/log_reader.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "format/codes/checksum.h"
#include "format/limits.h"

namespace refrain::format::messages {

LogReader::LogReader(LogReader&&) noexcept = default;
LogReader& LogReader::operator=(LogReader&&) noexcept = default;
LogReader::~LogReader() = default;

base::Error LogReader::damaged(const std::string& what) const {
  return base::fail(what, name_ + ": offset " + std::to_string(block_offset_));
}

base::Result<LogReader> LogReader::open(std::unique_ptr<LogSource> source, std::string name) {
  LogReader reader;
  reader.source_ = std::move(source);
  reader.name_ = std::move(name);
  if (auto read = reader.read_header(); !read.ok()) return read.error();
  return reader;
}

base::Result<LogReader> LogReader::open_file(const std::string& path, LogAccess how) {
  auto source = file_source(path, how);
  if (!source.ok()) return source.error();
  return open(std::move(*source), path);
}

base::Status LogReader::read_header() {
  char fixed[kFixedHeaderBytes] = {};
  auto n = source_->read_at(0, fixed);
  if (!n.ok()) return n.error();
  if (*n < sizeof fixed || std::memcmp(fixed, kMagic, sizeof kMagic) != 0)
    return base::fail("this is no message log: it begins otherwise", name_);
  base::ByteReader in({fixed + sizeof kMagic, sizeof fixed - sizeof kMagic});
  const unsigned major = in.u8();
  in.u8();  // any minor
  const unsigned features = in.u16();
  if (major != kMajor || (features & ~unsigned{kPlainBlocks | kImpliedStatuses}) != 0)
    return base::unsupported("a message log of another version: refrain is too old for it", name_);
  plain_blocks_ = (features & kPlainBlocks) != 0;
  implies_statuses_ = (features & kImpliedStatuses) != 0;
  const uint32_t bytes = in.u32();
  if (bytes < kFixedHeaderBytes + 4 || bytes > kMaxLogHeaderBytes)
    return damaged("the header's length is " + std::to_string(bytes));
  std::string all(bytes, '\0');
  n = source_->read_at(0, all);
  if (!n.ok()) return n.error();
  if (*n < bytes) return base::fail("the message log ends within its header", name_);
  base::ByteReader check(std::string_view(all).substr(bytes - 4));
  if (check.u32() != checksum32(std::string_view(all).substr(0, bytes - 4)))
    return damaged("the header's checksum is wrong");

  header_.run = in.u64();
  header_.rank = in.u32();
  header_.ranks = in.u32();
  base::ByteReader text(
      std::string_view(all).substr(kFixedHeaderBytes, bytes - 4 - kFixedHeaderBytes));
  header_.build_id = text.string(kMaxBuildIdBytes);
  header_.mpi = text.string(kMaxLogNameBytes);
  const uint64_t runs = text.count(kMaxLogHeaderBytes);
  uint64_t end = 0;
  for (uint64_t i = 0; i < runs && text.ok(); ++i) {
    const uint64_t gap = text.varint(), count = text.varint();
    if (gap > header_.ranks || count == 0 || count > header_.ranks ||
        end + gap + count > header_.ranks)
      text.fail();
    header_.group.push_back({static_cast<uint32_t>(end + gap), static_cast<uint32_t>(count)});
    end += gap + count;
  }
  if (!text.ok() || !text.at_end() || header_.ranks > kMaxRanks || header_.rank >= header_.ranks)
    return damaged("the header breaks its rules");
  next_offset_ = bytes;
  return base::Done{};
}

base::Result<bool> LogReader::read_block() {
  block_offset_ = next_offset_;
  char head[kBlockHeadBytes] = {};
  auto n = source_->read_at(next_offset_, head);
  if (!n.ok()) return n.error();
  if (*n < kPlainHeadBytes) return false;
  base::ByteReader in({head, *n});
  const uint32_t raw_field = in.u32();
  const bool is_plain = plain_blocks_ && (raw_field & kPlainBlock) != 0;
  const size_t head_bytes = is_plain ? kPlainHeadBytes : kBlockHeadBytes;
  if (*n < head_bytes) return false;
  const uint32_t raw = raw_field & ~(kFreshBlock | (is_plain ? kPlainBlock : 0));
  const uint32_t stored = is_plain ? raw : in.u32();
  const uint32_t sum = in.u32();
  if (raw == 0 || raw > kBlockBytes || stored == 0 || stored > raw)
    return damaged("a block has lengths beyond their limits");
  std::string_view bytes = source_->view_at(next_offset_ + head_bytes, stored);
  const bool is_read = bytes.empty();
  if (is_read) {
    stored_.resize(stored);
    n = source_->read_at(next_offset_ + head_bytes, stored_);
    if (!n.ok()) return n.error();
    if (*n < stored) return false;
    bytes = {stored_.data(), stored};
  }
  const uint64_t both[2] = {hash64(bytes.data(), stored), raw_field | uint64_t{stored} << 32};
  if (static_cast<uint32_t>(hash64(both, sizeof both)) != sum)
    return damaged("a block's checksum is wrong");
  if (stored != raw) {
    raw_.resize(raw);
    const size_t got = ZSTD_decompress(raw_.data(), raw, bytes.data(), stored);
    if (ZSTD_isError(got) != 0 || got != raw) return damaged("a block cannot be decompressed");
    bytes = {raw_.data(), raw};
  } else if (is_read) {
    raw_.swap(stored_);  // `bytes` stay where they are
  }
  in_ = base::ByteReader(bytes);
  fresh_ = (raw_field & kFreshBlock) != 0;
  next_offset_ += head_bytes + stored;
  return true;
}

base::Result<size_t> LogReader::take(std::span<std::byte> out) {
  size_t done = 0;
  while (done < out.size() && left_ > 0) {
    if (in_.at_end()) {
      auto more = read_block();
      if (!more.ok()) return more.error();
      // A block that begins with a record: the bytes before it never came.
      if (!*more || fresh_) {
        cut_ = true;
        left_ = 0;
        break;
      }
    }
    const auto n =
        static_cast<size_t>(std::min<uint64_t>({in_.remaining(), left_, out.size() - done}));
    std::memcpy(out.data() + done, in_.bytes(n).data(), n);
    done += n;
    left_ -= n;
  }
  return done;
}

base::Result<bool> LogReader::skip_bytes() {
  std::byte sink[4096];
  while (left_ > 0) {
    if (!in_.at_end()) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(in_.remaining(), left_));
      in_.bytes(n);
      left_ -= n;
      continue;
    }
    auto n = take(std::span(sink).first(1));
    if (!n.ok()) return n.error();
  }
  return true;
}

base::Result<bool> LogReader::next(Record& record) {
  if (complete_) return false;
  if (auto skipped = skip_bytes(); !skipped.ok()) return skipped.error();
  cut_ = false;
  if (in_.at_end()) {
    auto more = read_block();
    if (!more.ok()) return more.error();
    if (!*more) return false;
    if (!fresh_) return damaged("a block goes on with a record that has ended");
  }
  record = Record();
  if (!parse(record)) return damaged("a record breaks the rules of its kind");
  if (record.kind == Kind::kEnd) complete_ = true;
  return true;
}

namespace {

// What a status record has behind its place.
bool read_status(base::ByteReader& in, StatusFields& s) {
  const uint64_t flags = in.varint();
  if (flags > (kStatusCancelled | kStatusError | kStatusNoCount)) return false;
  s.cancelled = (flags & kStatusCancelled) != 0;
  s.has_count = (flags & kStatusNoCount) == 0;
  if ((flags & kStatusError) != 0) s.error = in.zigzag();
  if (s.has_count) s.bytes = in.varint();
  return true;
}

template <class Enum>
bool read_enum(base::ByteReader& in, Enum& out, Enum last) {
  const uint64_t v = in.varint();
  out = static_cast<Enum>(v);
  return v >= 1 && v <= static_cast<uint64_t>(last);
}

}  // namespace

// A record's head: its kind and number. False: it breaks a rule.
bool LogReader::parse_head(Record& r) {
  const unsigned head = in_.u8();
  uint64_t advance = head >> 4;
  if (advance == kLongAdvance) advance += in_.varint();
  if (thread_ >= places_.size()) places_.resize(thread_ + 1);
  uint64_t& number = places_[thread_].number;
  if (number + advance < number) return false;
  number += advance;
  r.kind = static_cast<Kind>(head & 15);
  r.thread = thread_;
  r.number = number;
  return in_.ok() && (r.kind != Kind::kEnd || advance == 0);
}

// The fields of kinds that have bytes behind them.
bool LogReader::parse_bytes(Record& r) {
  bool good = true;
  switch (r.kind) {
    case Kind::kContents: r.where = in_.varint(); break;
    case Kind::kPart:
      r.where = in_.varint();
      r.partition = in_.varint();
      r.partitions = in_.varint();
      break;
    case Kind::kFetched: {
      const uint64_t thread = in_.varint();
      good = thread < kMaxLocations;
      r.post_thread = static_cast<uint32_t>(thread);
      r.post_number = r.number - static_cast<uint64_t>(in_.zigzag());
      break;
    }
    default:
      r.window = in_.varint();
      r.region = in_.varint();
      r.offset = in_.varint();
  }
  r.bytes = in_.varint();
  if (in_.ok() && good) left_ = r.bytes;
  return in_.ok() && good;
}

bool LogReader::parse_turn(Record& r) {
  const uint64_t thread = in_.varint();
  if (thread >= kMaxLocations || thread == thread_) return false;
  r.left_thread = thread_;
  r.thread = thread_ = static_cast<uint32_t>(thread);
  return in_.ok();
}

// False: it breaks a rule.
bool LogReader::parse(Record& r) {
  if (!parse_head(r)) return false;
  bool good = true;
  switch (r.kind) {
    case Kind::kTurn: return parse_turn(r);
    case Kind::kContents:
    case Kind::kPart:
    case Kind::kFetched:
    case Kind::kWindow: return parse_bytes(r);
    case Kind::kInside:
      r.where = in_.varint();
      r.bytes = in_.varint();
      break;
    case Kind::kStatus:
      r.where = in_.varint();
      good = read_status(in_, r.status);
      break;
    case Kind::kWtime: {
      uint64_t& bits = places_[thread_].wtime_bits;
      bits += static_cast<uint64_t>(in_.zigzag());
      r.wtime = std::bit_cast<double>(bits);
      break;
    }
    case Kind::kMissing:
      r.where = in_.varint();
      good = read_enum(in_, r.missing, Missing::kMemory);
      r.bytes = in_.varint();
      break;
    case Kind::kNoted:
      good = read_enum(in_, r.noted, Noted::kOverlooked);
      r.count = in_.varint();
      break;
    case Kind::kEnd:
      r.thread = 0;
      r.number = 0;  // it belongs to no call
      good = read_enum(in_, r.end, EndReason::kMemory);
      r.error_number = in_.zigzag();
      r.sums = {in_.varint(), in_.varint(), in_.varint(), in_.varint(), in_.varint()};
      good = good && in_.at_end();
      break;
    default: good = false;
  }
  return in_.ok() && good;
}

}  // namespace refrain::format::messages
