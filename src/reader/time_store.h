// The times of a trace: their place in the file, their index (read on first use), and their blocks
// one by one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "format/decode/time_table.h"
#include "format/time/data.h"
#include "reader/kept_times.h"
#include "refrain/trace.h"

namespace refrain::reader {

// Bytes of the time section, in the file or in memory. Thread safe.
class TimeStore {
 public:
  // Takes the descriptor over; place() says where in the file the times are, before anything else.
  static std::shared_ptr<TimeStore> in_file(int fd, uint64_t offset, uint64_t bytes);
  static std::shared_ptr<TimeStore> in_memory(std::string section);
  // Blocks in memory with their index.
  static std::shared_ptr<TimeStore> of(const format::TimeData& times);
  ~TimeStore();
  TimeStore(const TimeStore&) = delete;
  TimeStore& operator=(const TimeStore&) = delete;

  void place(uint64_t offset, uint64_t bytes) { offset_ = offset, bytes_ = bytes; }
  uint64_t bytes() const { return bytes_; }
  // Reads and checks the index the first time.
  base::Result<const format::TimeTable*> table(uint64_t ranks);
  // The index as it stands in the file.
  base::Result<format::TimeIndex> index(uint64_t ranks);
  base::Result<std::string> read(uint64_t offset, uint64_t count);
  // Whether index, blocks and representatives are what was written: reads all of them the first
  // time, and compares checksums. Decodes nothing.
  base::Status check(uint64_t ranks);
  // The same error, at a byte of the section. Nothing is added where that is no place in a file.
  base::Error located(base::Error error, uint64_t offset) const;
  // How often the section was read.
  uint64_t reads() const { return reads_; }
  // Blocks that were read several times, by the address of the table's entry.
  KeptTimes& kept() { return kept_; }

 private:
  TimeStore() = default;
  base::Result<format::TimeTable> load(uint64_t ranks);
  base::Result<format::TimeTable> with_representatives(format::TimeTable table);
  base::Status compare_checksums(uint64_t ranks);

  int fd_ = -1;
  uint64_t offset_ = 0, bytes_ = 0;
  std::string memory_;
  std::optional<format::TimeIndex> given_;
  std::once_flag once_;
  std::optional<base::Result<format::TimeTable>> table_;
  std::once_flag checked_once_;
  base::Status checked_ = base::Done{};
  std::atomic<uint64_t> reads_ = 0;
  KeptTimes kept_;
};

// An error of a store, whose place is one inside of the trace.
base::Error in_trace(base::Error error, const std::string& trace_name);

// Of a trace; nullptr when it has none.
TimeStore* times_of(const Trace& trace);

// For whoever walks all calls of a trace several times: times are kept (KeptTimes) from the first
// walk on.
void expect_more_walks(const Trace& trace);

// The index of a trace's times. Fails when it has none.
base::Result<const format::TimeTable*> time_table(const Trace& trace);

// Fills in the times of a block's calls, whose terminals are there, on the rank's own clock.
base::Status decode_block(TimeStore& store, const format::TimeTable& table,
                          const format::TimeTable::Block& block,
                          std::span<const uint16_t> call_of_terminal,
                          std::span<format::TimedCall> calls);

}  // namespace refrain::reader
