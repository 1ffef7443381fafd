#include "format/decode/block_recoder.h"

namespace refrain::format {

namespace {

TimeSpec exact() {
  TimeSpec spec;
  spec.mode = TimeMode::kExact;
  return spec;
}

}  // namespace

BlockRecoder::BlockRecoder(const grammar::Grammar& calls, const std::vector<uint16_t>& call_of)
    : call_of_(call_of), terminals_(calls), decoder_(exact()), encoder_(exact()) {}

bool BlockRecoder::add(const TimeBlock& block, std::string_view coded) {
  // A block of more calls than the grammar has would be read beyond the grammar's end.
  if (block.calls == 0 || terminals_.remaining() < block.calls) return false;
  // Blocks have no call ids. They are in the order of the calls, so the grammar tells which
  // function each time belongs to; the model is chosen by it.
  calls_.resize(block.calls);
  for (TimedCall& c : calls_) {
    c.terminal = terminals_.next();
    if (c.terminal >= call_of_.size()) return false;
    encoder_.set_call(c.terminal, call_of_[c.terminal]);
  }
  if (!decoder_.decode(block, coded, before_ns_, call_of_, calls_).ok()) return false;
  // The first gap of a block counts from the end of the block before.
  before_ns_ = block.end_ns;
  blocks_.push_back(encoder_.encode(calls_, bytes_));
  return true;
}

void BlockRecoder::clear() {
  blocks_.clear();
  bytes_.clear();
}

}  // namespace refrain::format
