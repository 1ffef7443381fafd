// LogReader: a message log (layout.h), record after record.
//
// A cursor that goes forward once: open(), then next() until it returns false; take() gives the
// bytes of the record that next() has shown, and what was not taken is skipped. Memory is bounded
// whatever the file says: a block of 1 MiB and its compressed form. Any bytes give records or an
// error. Not for several threads at a time; readers of one file are independent of each other.
//
// A log that was cut off (the process died, the file was copied while it grew) ends without an
// error: next() returns false and is_complete() is false. A block whose checksum is wrong, and a
// record that breaks a rule, are errors with the offset of the block in the file; the records
// before it have been given by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/messages/layout.h"

namespace refrain::format::messages {

// Where the bytes come from.
class LogSource {
 public:
  virtual ~LogSource() = default;
  // Reads up to out.size() bytes at `offset`: fewer at the end only, none behind it.
  virtual base::Result<size_t> read_at(uint64_t offset, std::span<char> out) = 0;
  // The bytes where they are, until the next call; empty: read_at() has them.
  virtual std::string_view view_at(uint64_t, size_t) { return {}; }
};
// The bytes must outlive it.
std::unique_ptr<LogSource> memory_source(std::string_view bytes);
// How a file is read. Mapped: long blocks are looked at in the system's cache, which takes half the
// time; a file that somebody makes shorter meanwhile ends the process with SIGBUS.
enum class LogAccess : uint8_t { kRead, kMapped };
// Opens the file for reading; the error names it.
base::Result<std::unique_ptr<LogSource>> file_source(const std::string& path,
                                                     LogAccess how = LogAccess::kRead);

struct Record {
  Kind kind{};
  uint32_t thread = 0;  // of turn: the thread that goes on from here
  uint64_t number = 0;  // calls of that thread before this one; of turn: of `left_thread`
  uint64_t where = 0;   // contents, inside, part, missing, status: index of the request, or 0
  uint64_t bytes = 0;   // contents, part, fetched, window: to be taken; inside, missing: how many
  uint32_t left_thread = 0;                // turn
  uint64_t partition = 0, partitions = 0;  // part
  uint32_t post_thread = 0;                // fetched: the call that asked for it
  uint64_t post_number = 0;
  StatusFields status;                          // status
  double wtime = 0;                             // wtime, in s
  uint64_t window = 0, region = 0, offset = 0;  // window
  Missing missing{};                            // missing
  Noted noted{};                                // noted
  uint64_t count = 0;                           // noted
  EndReason end{};                              // end
  int64_t error_number = 0;                     // end
  Sums sums;                                    // end
};

class LogReader {
 public:
  // Reads the header. `name` stands in front of errors: the path of the file.
  static base::Result<LogReader> open(std::unique_ptr<LogSource> source, std::string name);
  // The same of a file.
  static base::Result<LogReader> open_file(const std::string& path,
                                           LogAccess how = LogAccess::kRead);
  LogReader(LogReader&&) noexcept;
  LogReader& operator=(LogReader&&) noexcept;
  ~LogReader();

  const Header& header() const { return header_; }
  // Whether a status without a record has the count of the contents at its place.
  bool implies_statuses() const { return implies_statuses_; }
  // The next record, or false at the end of the log.
  base::Result<bool> next(Record& record);
  // The short way of next(), for contents whose fields take one or two bytes each: most records
  // are such. False: ask next(), nothing has changed. Of `record`, only the fields of its kind are
  // set.
  bool next_short(Record& record) {
    if (left_ != 0 || complete_ || in_.remaining() < kMaxFieldBytes || thread_ >= places_.size())
      return false;
    const auto* const p = reinterpret_cast<const uint8_t*>(in_.rest().data());
    const unsigned head = p[0], advance = head >> 4;
    if ((head & 15) != static_cast<unsigned>(Kind::kContents) || advance == kLongAdvance ||
        p[1] >= 128 || (p[2] >= 128 && p[3] >= 128))
      return false;
    const bool is_long = p[2] >= 128;
    uint64_t& number = places_[thread_].number;
    if (number + advance < number) return false;
    number += advance;
    record.kind = Kind::kContents;
    record.thread = thread_;
    record.number = number;
    record.where = p[1];
    record.bytes = left_ = is_long ? (p[2] & 127u) | static_cast<unsigned>(p[3]) << 7 : p[2];
    in_.bytes(is_long ? 4 : 3);
    cut_ = false;
    return true;
  }
  // The next bytes of the record, at most out.size(): fewer only when none are left of it, or when
  // the log ends before (then is_cut() is true).
  base::Result<size_t> take(std::span<std::byte> out);
  // The short way of take(), for all bytes that are left. False: take(), nothing has changed.
  bool take_whole(std::byte* out) {
    if (left_ > in_.remaining()) return false;
    const std::string_view bytes = in_.bytes(static_cast<size_t>(left_));
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
    left_ = 0;
    return true;
  }
  uint64_t left() const { return left_; }  // bytes of the record that were not taken
  // After next() returned false: whether a record `end` was read.
  bool is_complete() const { return complete_; }
  // The bytes of the last record ended before their number.
  bool is_cut() const { return cut_; }
  // Of the file: where the block begins that the last record stands in, and what was read until
  // now.
  uint64_t block_offset() const { return block_offset_; }
  uint64_t offset() const { return next_offset_; }

 private:
  LogReader() = default;
  base::Status read_header();
  // The next block into raw_. False: there is none, or a part of one.
  base::Result<bool> read_block();
  base::Result<bool> skip_bytes();
  // False: a rule is broken.
  bool parse(Record& record);
  bool parse_head(Record& record);
  bool parse_bytes(Record& record);
  bool parse_turn(Record& record);
  base::Error damaged(const std::string& what) const;
  struct Place {
    uint64_t number = 0, wtime_bits = 0;
  };

  std::unique_ptr<LogSource> source_;
  std::string name_;
  Header header_;
  std::vector<char> stored_, raw_;
  base::ByteReader in_;            // of raw_, or of what the source shows
  bool fresh_ = true;              // the block begins with a record
  bool plain_blocks_ = false;      // blocks without a second length may occur
  bool implies_statuses_ = false;  // see implies_statuses()
  uint64_t left_ = 0;
  uint64_t block_offset_ = 0, next_offset_ = 0;
  uint32_t thread_ = 0;
  std::vector<Place> places_;  // by thread
  bool complete_ = false, cut_ = false;
};

}  // namespace refrain::format::messages
