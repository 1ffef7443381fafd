// RecordedRank: a rank of a trace as if it still ran: its stream (docs/live_format.md), as far as
// the rank had come at a moment of the run. For `live analyze --from`.
//
// What ranks of a trace have in common is taken apart again: signatures with the values of this
// rank. Statistics of a signature are those of all ranks, so the lowest rank that has it sends
// them; until the end they are the share of the calls made. Not thread safe; the trace must outlive
// it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "format/decode/time_block.h"
#include "format/live/encode/stream_writer.h"
#include "grammar/terminal_cursor.h"
#include "reader/internal.h"
#include "refrain/trace.h"

namespace refrain::online {

// What is known once of a trace.
class RecordedRun {
 public:
  // Fails where the times cannot be read.
  static base::Result<RecordedRun> of(const Trace& trace);

  const Trace& trace() const { return trace_; }
  bool has_times() const { return parts_.has_value(); }
  const reader::TimeParts& parts() const { return *parts_; }
  format::BlockDecoder& decoder() const { return *decoder_; }
  // The rank that sends the statistics of a signature.
  uint64_t sender(uint32_t signature) const { return senders_[signature]; }

 private:
  explicit RecordedRun(const Trace& trace) : trace_(trace) {}
  Trace trace_;
  std::optional<reader::TimeParts> parts_;
  std::shared_ptr<format::BlockDecoder> decoder_;
  std::vector<uint64_t> senders_;  // by signature
};

class RecordedRank {
 public:
  // Fails where the rank is in no group of the trace, or a signature cannot be taken apart.
  static base::Result<RecordedRank> of(const RecordedRun& run, uint64_t rank, uint64_t begin_ns);

  // What the rank had recorded when the run was `at_ns` old and had not sent yet. Its end comes
  // with `is_last`.
  base::Result<std::string> until(uint64_t at_ns, bool is_last);
  uint64_t stream_bytes() const { return out_.bytes(); }

 private:
  struct Thread {
    explicit Thread(grammar::TerminalCursor of) : calls(std::move(of)) {}
    grammar::TerminalCursor calls;
    std::vector<format::TimeChunk> chunks;  // in order
    std::vector<uint64_t> offsets;          // of their bytes
    size_t chunk = 0, block = 0;            // the next block
    uint64_t bytes_before = 0;              // of the blocks of this chunk before it
    uint64_t timed = 0;                     // calls of the blocks that were sent
    uint64_t before_ns = 0;                 // end of the last of them
    std::vector<format::TimedCall> open;    // calls of the next block, once it has begun
    uint64_t early = 0;                     // so many of them were sent
    uint64_t sent = 0;
  };
  RecordedRank(const RecordedRun& run, uint64_t rank, uint64_t begin_ns)
      : run_(&run), rank_(rank), begin_ns_(begin_ns), out_(rank + 1) {}
  base::Status open();
  base::Status put_signatures(const format::Group& group, uint64_t place);
  void put_tables();
  void put_text(std::string_view key, std::string_view value);
  void add_times();
  base::Status send_times(uint32_t number, Thread& t, uint64_t at_ns, bool is_last);
  base::Status send_early(uint32_t number, Thread& t, uint64_t at_ns);
  base::Status open_block(Thread& t);
  void send_calls(uint32_t number, Thread& t, uint64_t until);
  uint64_t due(const Thread& t, uint64_t at_ns, bool is_last) const;
  void send_statistics(double share);
  void send_state(uint64_t at_ns, bool is_last);

  const RecordedRun* run_;
  uint64_t rank_, begin_ns_;
  format::live::StreamWriter out_;
  std::vector<uint32_t> number_of_;  // by terminal: the number of its signature in the stream
  std::vector<uint32_t> in_trace_;   // by that number: the signature in the trace
  std::vector<uint32_t> functions_;  // by that number
  std::vector<uint16_t> call_of_;    // by terminal: the same
  std::map<uint32_t, Thread> threads_;
};

}  // namespace refrain::online
