// LogWriter: makes the bytes of a message log (layout.h) and hands them to a sink, block by block.
//
// Bytes are in memory until a block is full (1 MiB) or flush() is called; only these are lost when
// the process dies. Memory: two blocks, allocated by start(). No exceptions; after the first
// failure of the sink, or at the limit, it has stopped() and everything is ignored. One thread at a
// time. The sink must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/messages/layout.h"

namespace refrain::format::messages {

// Where the bytes go.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // Appends all of `bytes`, or nothing, and returns 0 or an error number. Afterwards there must be
  // room for `reserve` more bytes, so that a log that ends because the disk is full can say so.
  virtual int write(std::span<const std::byte> bytes, size_t reserve) = 0;
};

class LogWriter {
 public:
  // `limit_bytes` of the file: 0, none.
  explicit LogWriter(LogSink& sink, uint64_t limit_bytes = 0) : sink_(&sink), limit_(limit_bytes) {}
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Writes the header. False: stopped().
  bool start(const Header& header);

  // Each record belongs to call `number` of `thread`: how many calls the trace has of that thread
  // before it. Numbers of a thread never descend. Threads switch by themselves where a record is
  // of another one; turn() says so also where `thread` has no record of its own. `left_number`:
  // how many calls the thread that the log was at has had until then.
  void turn(uint64_t left_number, uint32_t thread);
  // These four are followed by exactly `bytes` bytes in calls of put().
  void contents(uint32_t thread, uint64_t number, uint64_t where, uint64_t bytes);
  void part(uint32_t thread, uint64_t number, uint64_t where, uint64_t first, uint64_t partitions,
            uint64_t bytes);
  void fetched(uint32_t thread, uint64_t number, uint32_t post_thread, uint64_t post_number,
               uint64_t bytes);
  void window(uint32_t thread, uint64_t number, uint64_t window, uint64_t region, uint64_t offset,
              uint64_t bytes);
  void put(std::span<const std::byte> bytes);
  // contents() and put() in one, where all of it goes into the block that is in memory and the
  // thread is that of the record before. False: nothing was done.
  bool put_flat(uint32_t thread, uint64_t number, uint64_t where,
                std::span<const std::byte> bytes) {
    if (thread != thread_ || thread >= places_.size() || !has_room(bytes.size())) return false;
    uint64_t& last = places_[thread].number;
    const uint64_t advance = number - last;
    last = number;
    auto* p = reinterpret_cast<uint8_t*>(block_ + used_);
    const uint64_t high = advance < kLongAdvance ? advance : kLongAdvance;
    *p++ = static_cast<uint8_t>(static_cast<uint64_t>(Kind::kContents) | high << 4);
    if (advance >= kLongAdvance) p = base::write_varint(p, advance - kLongAdvance);
    p = base::write_varint(p, where);
    p = base::write_varint(p, bytes.size());
    std::memcpy(p, bytes.data(), bytes.size());
    used_ = static_cast<size_t>(reinterpret_cast<std::byte*>(p) - block_) + bytes.size();
    return true;
  }

  void inside(uint32_t thread, uint64_t number, uint64_t where, uint64_t bytes);
  void status(uint32_t thread, uint64_t number, uint64_t where, const StatusFields& status);
  void wtime(uint32_t thread, uint64_t number, double seconds);
  void missing(uint32_t thread, uint64_t number, uint64_t where, Missing why, uint64_t bytes);
  void noted(uint32_t thread, uint64_t number, Noted what, uint64_t count);

  // Writes what is in memory, as a block of its own. Not between a record and its bytes.
  void flush();
  // The last record: why and sums. Also after it has stopped, if the sink's reserve has room.
  void end(EndReason why, const Sums& sums);

  bool stopped() const { return stopped_; }
  EndReason stop_reason() const { return reason_; }
  int error_number() const { return error_; }  // of the sink
  uint64_t file_bytes() const { return written_; }
  size_t waiting_bytes() const { return used_; }  // in memory only
  // Whether a record with `bytes` behind its fields, and one of another thread's turn in front of
  // it, go into the block that is in memory: then nothing is written to the file.
  bool has_room(uint64_t bytes) const {
    return !stopped_ && bytes < capacity_ && used_ + bytes + 2 * kMaxFieldBytes < capacity_;
  }

 private:
  // How far the log is in a thread.
  struct Place {
    uint64_t number = 0;
    uint64_t wtime_bits = 0;
  };
  Place& place(uint32_t thread);
  // Begins a record: switches to the thread, makes room for its fields, writes its head. False:
  // the log has stopped.
  bool head(Kind kind, uint32_t thread, uint64_t number);
  void write_head(Kind kind, uint64_t number);
  void fields(std::initializer_list<uint64_t> varints);
  void make_room();
  void begin_block();
  void close_block();
  bool write_block(std::span<const std::byte> raw, uint32_t fresh);
  std::span<const std::byte> squeezed(std::span<const std::byte> raw);
  void stop(EndReason why, int error);

  LogSink* sink_;
  uint64_t limit_;
  uint64_t written_ = 0;
  std::byte* block_ = nullptr;   // kBlockBytes
  std::byte* packed_ = nullptr;  // a block as it is stored, behind room for its head
  size_t packed_bytes_ = 0;
  size_t capacity_ = kBlockBytes;  // of the block, as far as the limit allows
  size_t used_ = 0;
  uint64_t owed_ = 0;  // bytes of the last record that put() has yet to bring
  uint32_t fresh_ = kFreshBlock;
  uint32_t thread_ = 0;
  std::vector<Place> places_;  // by thread
  bool stopped_ = false;
  EndReason reason_ = EndReason::kFinished;
  int error_ = 0;
};

}  // namespace refrain::format::messages
