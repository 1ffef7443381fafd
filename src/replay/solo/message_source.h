// MessageSource: the message log of the rank, as its calls ask for it.
//
// Records come in the order of the calls. A call takes the records that belong to it, and the bytes
// of a record go where the program's buffer is, without a copy in between. Memory: that of a
// LogReader. One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/messages/decode/log_reader.h"

namespace refrain::replay::solo {

class MessageSource {
 public:
  using Record = format::messages::Record;
  using Kind = format::messages::Kind;

  base::Status open(const std::string& path);
  bool is_open() const { return reader_.has_value(); }
  const format::messages::Header& header() const { return reader_->header(); }
  bool implies_statuses() const { return reader_ && reader_->implies_statuses(); }

  // The next record of call `number` of `thread`; null: it has no further one. Records of calls
  // before it, which nobody took, are left out.
  const Record* next_of(uint32_t thread, uint64_t number);
  // The next value of MPI_Wtime, which the thread has asked for after `number` calls.
  std::optional<double> wtime(uint32_t thread, uint64_t number);
  // Whether the call has a further record: the short way of next_of() for those that have none.
  bool may_have(uint32_t thread, uint64_t number) {
    const Record* const r = front();
    return r != nullptr && r->number <= number && r->thread == thread && r->kind != Kind::kTurn;
  }
  // Takes the call's next record with its bytes. False: nothing was taken; it is not of contents
  // that stand in one block of the log.
  bool take_whole(uint32_t thread, uint64_t number, std::byte* at, uint64_t& bytes) {
    const Record* const r = front();
    if (r == nullptr || r->kind != Kind::kContents || r->number != number || r->thread != thread)
      return false;
    bytes = reader_->left();
    if (!reader_->take_whole(at)) return false;
    pop();
    return true;
  }
  // Bytes of the record that next_of() has given. False: there are not as many.
  bool take(std::span<std::byte> out);
  uint64_t left() const { return reader_ ? reader_->left() : 0; }

  // Whether `thread` may make its next call: the calls of several threads stand in their order.
  // `made`: how many calls a thread has made.
  bool is_turn_of(uint32_t thread, const std::function<uint64_t(uint32_t)>& made);

  // The same where no other thread has called before: without a look at others.
  bool is_still_turn_of(uint32_t thread) {
    const Record* const r = front();
    return is_at_end_ || (thread == turn_ && r->kind != Kind::kTurn);
  }
  // No further record; for a good reason or not.
  uint32_t turn() const { return turn_; }
  bool is_at_end() const { return is_at_end_; }
  // Why nothing can be read any more; empty: nothing is wrong. An error of the file.
  const std::optional<base::Error>& error() const { return error_; }
  // Logging had ended before the rank did: why, as the end of a sentence; empty: no.
  std::string ended_early();
  // The same after a record that had fewer bytes than it says: of what comes behind it.
  std::string why_cut() {
    read_front();
    return ended_early();
  }
  uint64_t offset() const { return reader_ ? reader_->block_offset() : 0; }

 private:
  // The record in front, read when it is first asked for; null at the end.
  const Record* front() {
    if (has_front_) return &record_;
    if (reader_ && !is_at_end_ && reader_->next_short(record_)) {
      has_front_ = true;
      return &record_;
    }
    return read_front();
  }
  const Record* read_front();
  void put_aside(const Record& record);
  void pop() { has_front_ = false; }

  std::optional<format::messages::LogReader> reader_;
  Record record_;
  bool has_front_ = false, is_at_end_ = false;
  uint32_t turn_ = 0;
  // By thread: values of MPI_Wtime that others have gone past, each with the calls before it.
  std::vector<std::deque<std::pair<uint64_t, double>>> aside_;
  std::optional<base::Error> error_;
  std::optional<Record> end_;
};

}  // namespace refrain::replay::solo
