// BlockRecoder: blocks of exact times coded by signature, as they are in a file, from plain ones.
//
// Coding a block takes thousands of instructions per call (decision 0018), a plain block less than
// a hundred. So a recorder writes plain blocks while the program runs, and codes them in
// MPI_Finalize.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/decode/time_block.h"
#include "format/time/block_encoder.h"
#include "grammar/grammar.h"
#include "grammar/terminal_cursor.h"

namespace refrain::format {

class BlockRecoder {
 public:
  // The calls of a location, by terminal, and the function of each terminal; both must outlive
  // this.
  BlockRecoder(const grammar::Grammar& calls, const std::vector<uint16_t>& call_of);

  // The block of the calls behind those before, the first ones first; what becomes of it is
  // appended to blocks() and bytes(). False: it is damaged, or of calls that there are not.
  bool add(const TimeBlock& block, std::string_view coded);
  const std::vector<TimeBlock>& blocks() const { return blocks_; }
  std::string_view bytes() const { return bytes_; }
  // Forgets these; what is added goes on behind them.
  void clear();

 private:
  const std::vector<uint16_t>& call_of_;
  grammar::TerminalCursor terminals_;
  BlockDecoder decoder_;
  BlockEncoder encoder_;
  uint64_t before_ns_ = 0;
  std::vector<TimedCall> calls_;
  std::vector<TimeBlock> blocks_;
  std::string bytes_;
};

}  // namespace refrain::format
