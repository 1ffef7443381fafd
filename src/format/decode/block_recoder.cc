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
  if (block.calls == 0 || terminals_.remaining() < block.calls) return false;
  calls_.resize(block.calls);
  for (TimedCall& c : calls_) {
    c.terminal = terminals_.next();
    if (c.terminal >= call_of_.size()) return false;
    encoder_.set_call(c.terminal, call_of_[c.terminal]);
  }
  if (!decoder_.decode(block, coded, before_ns_, call_of_, calls_).ok()) return false;
  before_ns_ = block.end_ns;
  blocks_.push_back(encoder_.encode(calls_, bytes_));
  return true;
}

void BlockRecoder::clear() {
  blocks_.clear();
  bytes_.clear();
}

}  // namespace refrain::format
