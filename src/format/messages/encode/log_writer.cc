#include "format/messages/encode/log_writer.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/bytes.h"
#include "format/codes/checksum.h"

namespace refrain::format::messages {
namespace {

// What the last block, with the record `end` alone, takes at most.
constexpr size_t kEndBytes = kBlockHeadBytes + kMaxFieldBytes;
// Compression is tried on this many bytes of a block first: most contents are numbers that do not
// shrink, and then the rest need not be looked at.
constexpr size_t kTrialBytes = 16384;
constexpr int kLevel = 1;

void put_u32(std::byte* to, uint32_t v) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(v >> (8 * i));
}

std::string header_bytes(const Header& header) {
  base::ByteWriter strings;
  strings.put_string(header.build_id);
  strings.put_string(header.mpi);
  strings.put_varint(header.group.size());
  uint32_t end = 0;
  for (const RankRun& run : header.group) {
    strings.put_varint(run.first - end);
    strings.put_varint(run.count);
    end = run.first + run.count;
  }
  base::ByteWriter out;
  out.put_bytes(kMagic, sizeof kMagic);
  out.put_u8(kMajor);
  out.put_u8(kMinor);
  out.put_u16(kPlainBlocks | kImpliedStatuses);
  out.put_u32(static_cast<uint32_t>(kFixedHeaderBytes + strings.size() + 4));
  out.put_u64(header.run);
  out.put_u32(header.rank);
  out.put_u32(header.ranks);
  out.put_bytes(strings.view().data(), strings.size());
  out.put_u32(checksum32(out.view()));
  return out.take();
}

}  // namespace

LogWriter::~LogWriter() {
  std::free(block_);
  std::free(packed_);
}

bool LogWriter::start(const Header& header) {
  packed_bytes_ = std::max(ZSTD_compressBound(kBlockBytes), kBlockBytes);
  block_ = static_cast<std::byte*>(std::malloc(kBlockBytes));
  packed_ = static_cast<std::byte*>(std::malloc(kBlockHeadBytes + packed_bytes_));
  if (block_ == nullptr || packed_ == nullptr) {
    stop(EndReason::kMemory, ENOMEM);
    return false;
  }
  const std::string bytes = header_bytes(header);
  if (const int error = sink_->write(std::as_bytes(std::span(bytes)), kEndBytes); error != 0) {
    stop(EndReason::kDisk, error);
    return false;
  }
  written_ = bytes.size();
  begin_block();
  return !stopped_;
}

LogWriter::Place& LogWriter::place(uint32_t thread) {
  if (thread >= places_.size()) places_.resize(thread + 1);
  return places_[thread];
}

void LogWriter::write_head(Kind kind, uint64_t number) {
  uint64_t& last = place(thread_).number;
  const uint64_t advance = number - last;
  last = number;
  const auto low = static_cast<uint8_t>(kind);
  const auto high = static_cast<uint8_t>(std::min<uint64_t>(advance, kLongAdvance) << 4);
  block_[used_++] = static_cast<std::byte>(low | high);
  if (advance >= kLongAdvance) fields({advance - kLongAdvance});
}

void LogWriter::fields(std::initializer_list<uint64_t> varints) {
  auto* p = reinterpret_cast<uint8_t*>(block_ + used_);
  for (const uint64_t v : varints) p = base::write_varint(p, v);
  used_ = static_cast<size_t>(reinterpret_cast<std::byte*>(p) - block_);
}

void LogWriter::make_room() {
  if (capacity_ - used_ < kMaxFieldBytes) close_block();
}

// The next block is as long as the limit lets it be.
void LogWriter::begin_block() {
  used_ = 0;
  if (limit_ == 0) return;
  constexpr uint64_t kBeside = kBlockHeadBytes + kEndBytes;
  const uint64_t room = limit_ - std::min(limit_, written_ + kBeside);
  capacity_ = static_cast<size_t>(std::min<uint64_t>(kBlockBytes, room));
  if (capacity_ < 2 * kMaxFieldBytes) stop(EndReason::kLimit, 0);
}

void LogWriter::turn(uint64_t left_number, uint32_t thread) {
  if (stopped_ || thread == thread_) return;
  make_room();
  if (stopped_) return;
  write_head(Kind::kTurn, left_number);
  fields({thread});
  thread_ = thread;
}

bool LogWriter::head(Kind kind, uint32_t thread, uint64_t number) {
  if (stopped_) return false;
  turn(place(thread_).number, thread);
  make_room();
  if (!stopped_) write_head(kind, number);
  return !stopped_;
}

void LogWriter::contents(uint32_t thread, uint64_t number, uint64_t where, uint64_t bytes) {
  if (!head(Kind::kContents, thread, number)) return;
  fields({where, bytes});
  owed_ = bytes;
}

void LogWriter::part(uint32_t thread, uint64_t number, uint64_t where, uint64_t first,
                     uint64_t partitions, uint64_t bytes) {
  if (!head(Kind::kPart, thread, number)) return;
  fields({where, first, partitions, bytes});
  owed_ = bytes;
}

void LogWriter::fetched(uint32_t thread, uint64_t number, uint32_t post_thread,
                        uint64_t post_number, uint64_t bytes) {
  if (!head(Kind::kFetched, thread, number)) return;
  fields({post_thread, base::zigzag(static_cast<int64_t>(number - post_number)), bytes});
  owed_ = bytes;
}

void LogWriter::window(uint32_t thread, uint64_t number, uint64_t window, uint64_t region,
                       uint64_t offset, uint64_t bytes) {
  if (!head(Kind::kWindow, thread, number)) return;
  fields({window, region, offset, bytes});
  owed_ = bytes;
}

void LogWriter::put(std::span<const std::byte> bytes) {
  while (!bytes.empty() && !stopped_) {
    if (used_ == capacity_) close_block();
    if (stopped_) return;
    const size_t n = std::min(bytes.size(), capacity_ - used_);
    std::memcpy(block_ + used_, bytes.data(), n);
    used_ += n;
    owed_ -= n;
    bytes = bytes.subspan(n);
  }
}

void LogWriter::inside(uint32_t thread, uint64_t number, uint64_t where, uint64_t bytes) {
  if (head(Kind::kInside, thread, number)) fields({where, bytes});
}

void LogWriter::status(uint32_t thread, uint64_t number, uint64_t where, const StatusFields& s) {
  if (!head(Kind::kStatus, thread, number)) return;
  const uint64_t flags = (s.cancelled ? kStatusCancelled : 0u) |
                         (s.error != 0 ? kStatusError : 0u) | (s.has_count ? 0u : kStatusNoCount);
  fields({where, flags});
  if (s.error != 0) fields({base::zigzag(s.error)});
  if (s.has_count) fields({s.bytes});
}

void LogWriter::wtime(uint32_t thread, uint64_t number, double seconds) {
  if (!head(Kind::kWtime, thread, number)) return;
  uint64_t& last = place(thread).wtime_bits;
  const auto bits = std::bit_cast<uint64_t>(seconds);
  fields({base::zigzag(static_cast<int64_t>(bits - last))});
  last = bits;
}

void LogWriter::missing(uint32_t thread, uint64_t number, uint64_t where, Missing why,
                        uint64_t bytes) {
  if (head(Kind::kMissing, thread, number)) fields({where, static_cast<uint64_t>(why), bytes});
}

void LogWriter::noted(uint32_t thread, uint64_t number, Noted what, uint64_t count) {
  if (head(Kind::kNoted, thread, number)) fields({static_cast<uint64_t>(what), count});
}

void LogWriter::flush() {
  if (!stopped_ && owed_ == 0) close_block();
}

void LogWriter::close_block() {
  if (used_ == 0) return;
  if (!write_block({block_, used_}, fresh_)) return;
  fresh_ = owed_ == 0 ? kFreshBlock : 0;
  begin_block();
}

// The bytes as they are stored, in `packed_` behind the room for a head.
std::span<const std::byte> LogWriter::squeezed(std::span<const std::byte> raw) {
  std::byte* const to = packed_ + kBlockHeadBytes;
  const auto tried = raw.first(std::min(raw.size(), kTrialBytes));
  size_t n = ZSTD_compress(to, packed_bytes_, tried.data(), tried.size(), kLevel);
  bool pays = ZSTD_isError(n) == 0 && n < tried.size() - tried.size() / 8;
  if (pays && tried.size() < raw.size()) {
    n = ZSTD_compress(to, packed_bytes_, raw.data(), raw.size(), kLevel);
    pays = ZSTD_isError(n) == 0 && n < raw.size() - raw.size() / 8;
  }
  if (pays) return {to, n};
  std::memcpy(to, raw.data(), raw.size());
  return {to, raw.size()};
}

bool LogWriter::write_block(std::span<const std::byte> raw, uint32_t fresh) {
  const auto stored = squeezed(raw);
  const bool is_plain = stored.size() == raw.size();
  // The lengths are part of what the checksum covers, without a second copy of the bytes.
  const uint32_t first = static_cast<uint32_t>(raw.size()) | fresh | (is_plain ? kPlainBlock : 0);
  const uint64_t both[2] = {hash64(stored.data(), stored.size()),
                            first | static_cast<uint64_t>(stored.size()) << 32};
  // The head lies right before the stored bytes, which are where a long head would end.
  const size_t head_bytes = is_plain ? kPlainHeadBytes : kBlockHeadBytes;
  std::byte* const head = packed_ + kBlockHeadBytes - head_bytes;
  put_u32(head, first);
  if (!is_plain) put_u32(head + 4, static_cast<uint32_t>(stored.size()));
  put_u32(head + head_bytes - 4, static_cast<uint32_t>(hash64(both, sizeof both)));
  const std::span<const std::byte> block(head, head_bytes + stored.size());
  if (const int error = sink_->write(block, kEndBytes); error != 0) {
    stop(EndReason::kDisk, error);
    return false;
  }
  written_ += block.size();
  return true;
}

void LogWriter::stop(EndReason why, int error) {
  if (stopped_) return;
  stopped_ = true;
  reason_ = why;
  error_ = error;
  used_ = 0;
}

void LogWriter::end(EndReason why, const Sums& sums) {
  flush();
  if (block_ == nullptr || packed_ == nullptr) return;
  if (stopped_) why = reason_;
  used_ = 0;
  block_[used_++] = static_cast<std::byte>(Kind::kEnd);
  fields({static_cast<uint64_t>(why), base::zigzag(error_), sums.receives, sums.received_bytes,
          sums.crossing_bytes, sums.kept_bytes, sums.unlogged});
  write_block({block_, used_}, kFreshBlock);
  used_ = 0;
  stop(why, 0);
}

}  // namespace refrain::format::messages
