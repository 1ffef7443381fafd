// The times of one location, block by block: decodes the requested block and keeps it until another
// one is requested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/time/data.h"
#include "grammar/terminal_cursor.h"
#include "reader/time_store.h"
#include "refrain/ids.h"

namespace refrain::reader {

class BlockWalk {
 public:
  // `terminals`: a cursor of its own over the location's grammar. `store` and `table` outlive it.
  BlockWalk(TimeStore& store, const format::TimeTable& table, uint64_t rank, uint32_t thread,
            grammar::TerminalCursor terminals, std::string trace_name);
  // The function of every signature, and the signatures of the terminals.
  void set_functions(const std::vector<CallId>& call_of_signature,
                     const std::vector<uint32_t>& signatures);

  // Call number `seq` on the common clock; nullptr when it has no time, and when its block is
  // damaged, which `status` says then if it is good so far. Valid until the next use.
  const format::TimedCall* find(uint64_t seq, base::Status& status);
  // The first call that ends at `ns` of the common clock or later; nothing where the location has
  // no times. Past the last: the number of calls with times.
  std::optional<uint64_t> first_ending_at(uint64_t ns, base::Status& status);
  // Reads block number `i`; calls() are its calls then, on the common clock. Their terminals are
  // there only after keep_local().
  base::Status load(size_t i);
  const std::vector<format::TimedCall>& calls() const { return calls_; }
  const std::vector<format::TimeTable::Block>& blocks() const { return *blocks_; }
  // Leaves times on the rank's own clock, as they stand in the file.
  void keep_local() { local_ = true; }

 private:
  TimeStore& store_;
  const format::TimeTable& table_;
  const std::vector<format::TimeTable::Block>* blocks_;
  format::ClockMap clock_;
  grammar::TerminalCursor terminals_;
  std::string name_;
  std::vector<uint16_t> call_of_terminal_;
  bool local_ = false;
  size_t loaded_ = SIZE_MAX;  // block, good or not
  uint64_t first_ = 0;        // call of it
  std::vector<format::TimedCall> calls_;
};

}  // namespace refrain::reader
