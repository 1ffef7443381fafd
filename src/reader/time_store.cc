// The section of times is by far the largest of a trace, so it stays in the file: its index is read
// when somebody asks for times, and a block when it is asked for. Threads read with pread(), which
// has no position to share.

#include "reader/time_store.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "format/codes/checksum.h"
#include "format/decode/segment_block.h"
#include "format/decode/time_block.h"
#include "format/decode/time_index.h"

namespace refrain::reader {

std::shared_ptr<TimeStore> TimeStore::in_file(int fd, uint64_t offset, uint64_t bytes) {
  std::shared_ptr<TimeStore> store(new TimeStore);
  store->fd_ = fd;
  store->offset_ = offset;
  store->bytes_ = bytes;
  return store;
}

std::shared_ptr<TimeStore> TimeStore::in_memory(std::string section) {
  std::shared_ptr<TimeStore> store(new TimeStore);
  store->bytes_ = section.size();
  store->memory_ = std::move(section);
  return store;
}

std::shared_ptr<TimeStore> TimeStore::of(const format::TimeData& times) {
  std::shared_ptr<TimeStore> store = in_memory(times.bytes);
  store->given_ = times.index;
  return store;
}

TimeStore::~TimeStore() {
  if (fd_ >= 0) close(fd_);
}

base::Result<std::string> TimeStore::read(uint64_t offset, uint64_t count) {
  if (offset > bytes_ || count > bytes_ - offset)
    return base::fail("times are to be where the file has none");
  ++reads_;
  if (fd_ < 0) return memory_.substr(static_cast<size_t>(offset), static_cast<size_t>(count));
  std::string bytes(static_cast<size_t>(count), '\0');
  for (size_t have = 0; have < bytes.size();) {
    const ssize_t n = pread(fd_, bytes.data() + have, bytes.size() - have,
                            static_cast<off_t>(offset_ + offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::fail(std::string("cannot read times: ") + std::strerror(errno));
    if (n == 0) return base::fail("cannot read times: the file was cut short meanwhile");
    have += static_cast<size_t>(n);
  }
  return bytes;
}

// They stand behind the blocks.
base::Result<format::TimeTable> TimeStore::with_representatives(format::TimeTable table) {
  if (table.spec().mode != format::TimeMode::kSegments) return table;
  const auto bytes = read(table.block_bytes(), table.segments().bytes);
  if (!bytes.ok()) return bytes.error();
  auto all = format::read_representatives(table.segments(), *bytes);
  if (!all.ok()) return located(all.error(), table.block_bytes());
  table.set_representatives(std::move(*all));
  return table;
}

base::Result<format::TimeIndex> TimeStore::index(uint64_t ranks) {
  if (given_) {
    const base::Status good = format::check_time_index(*given_, bytes_, ranks);
    if (!good.ok()) return good.error();
    return *given_;
  }
  if (bytes_ < format::kTimeTailBytes) return base::fail("the section of times is cut short");
  // The index is at the end, as its length is only known when all blocks are written; the last
  // bytes say it.
  const auto tail = read(bytes_ - format::kTimeTailBytes, format::kTimeTailBytes);
  if (!tail.ok()) return tail.error();
  const auto length = format::time_index_bytes(*tail, bytes_);
  if (!length.ok()) return located(length.error(), bytes_ - format::kTimeTailBytes);
  const auto bytes = read(bytes_ - *length, *length);
  if (!bytes.ok()) return bytes.error();
  auto index = format::read_time_index(*bytes, bytes_, ranks);
  if (!index.ok()) return located(index.error(), bytes_ - *length);
  return index;
}

base::Result<format::TimeTable> TimeStore::load(uint64_t ranks) {
  const auto all = index(ranks);
  if (!all.ok()) return all.error();
  return with_representatives(format::TimeTable(*all));
}

base::Result<const format::TimeTable*> TimeStore::table(uint64_t ranks) {
  std::call_once(once_, [&] { table_.emplace(load(ranks)); });
  if (!table_->ok()) return table_->error();
  return &**table_;
}

base::Status TimeStore::compare_checksums(uint64_t ranks) {
  const auto all = index(ranks);
  if (!all.ok()) return all.error();
  uint64_t at = 0;
  for (const format::TimeChunk& chunk : all->chunks) {
    for (const format::TimeBlock& block : chunk.blocks) {
      const auto bytes = read(at, block.bytes);
      if (!bytes.ok()) return bytes.error();
      if (format::checksum32(*bytes) != block.checksum)
        return located(
            base::fail("time: wrong checksum of a block of times of rank " +
                       std::to_string(chunk.rank) + ", thread " + std::to_string(chunk.thread) +
                       ": it is damaged; take another copy or record again"),
            at);
      at += block.bytes;
    }
  }
  // Those of segments stand behind the blocks, and are read with the table.
  const auto with_all = table(ranks);
  return with_all.ok() ? base::Status(base::Done{}) : base::Status(with_all.error());
}

base::Status TimeStore::check(uint64_t ranks) {
  std::call_once(checked_once_, [&] { checked_ = compare_checksums(ranks); });
  return checked_;
}

base::Error TimeStore::located(base::Error error, uint64_t offset) const {
  if (fd_ >= 0) error.place = "byte " + std::to_string(offset_ + offset);
  return error;
}

base::Error in_trace(base::Error error, const std::string& trace_name) {
  error.place = error.place.empty() ? trace_name : trace_name + ", " + error.place;
  return error;
}

base::Status decode_block(TimeStore& store, const format::TimeTable& table,
                          const format::TimeTable::Block& block,
                          std::span<const uint16_t> call_of_terminal,
                          std::span<format::TimedCall> calls) {
  const auto bytes = store.read(block.offset, block.block.bytes);
  if (!bytes.ok()) return bytes.error();
  if (table.spec().mode == format::TimeMode::kSegments) {
    // As below, for the trace that was read last.
    thread_local std::pair<format::TimeTable::Representatives,
                           std::optional<format::SegmentDecoder>>
        segments;
    if (segments.first != table.representatives()) {
      segments.first = table.representatives();
      segments.second.emplace(*segments.first, table.segments().step_ns);
    }
    return segments.second->decode(block.block, *bytes, block.before_ns, calls);
  }
  // Its tables take a mebibyte: one for all cursors of a thread.
  thread_local std::optional<std::pair<format::TimeSpec, format::BlockDecoder>> decoder;
  if (!decoder || decoder->first != table.spec())
    decoder.emplace(table.spec(), format::BlockDecoder(table.spec()));
  return decoder->second.decode(block.block, *bytes, block.before_ns, call_of_terminal, calls);
}

}  // namespace refrain::reader
