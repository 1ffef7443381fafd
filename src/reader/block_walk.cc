// Times lie in blocks of some thousand calls, each coded by itself. A walk keeps the block that it
// decoded last: whoever asks call by call, forwards, decodes each block once.

#include "reader/block_walk.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "reader/calls_read.h"

namespace refrain::reader {

namespace {

// For the progress that a verb shows: of all threads together, and only roughly up to date.
std::atomic<uint64_t> g_calls_read{0};

}  // namespace

uint64_t calls_read() { return g_calls_read.load(std::memory_order_relaxed); }
void add_calls_read(uint64_t calls) { g_calls_read.fetch_add(calls, std::memory_order_relaxed); }

BlockWalk::BlockWalk(TimeStore& store, const format::TimeTable& table, uint64_t rank,
                     uint32_t thread, grammar::TerminalCursor terminals, std::string trace_name)
    : store_(store),
      table_(table),
      blocks_(&table.blocks(rank, thread)),
      clock_(table.clock(rank)),
      terminals_(std::move(terminals)),
      name_(std::move(trace_name)) {}

void BlockWalk::set_functions(const std::vector<CallId>& call_of_signature,
                              const std::vector<uint32_t>& signatures) {
  for (const uint32_t signature : signatures)
    call_of_terminal_.push_back(signature < call_of_signature.size() ? call_of_signature[signature]
                                                                     : CallId{0});
}

base::Status BlockWalk::load(size_t i) {
  const format::TimeTable::Block& block = (*blocks_)[i];
  loaded_ = i;
  first_ = block.first_call;
  calls_.clear();
  terminals_.seek(block.first_call);
  if (terminals_.remaining() < block.block.calls)
    return base::fail("there are more times than calls", name_);
  calls_.resize(block.block.calls);
  add_calls_read(block.block.calls);
  // What is kept is on the common clock.
  if (!local_ && store_.kept().take(&block, calls_)) return base::Done{};
  // The grammar says which signature each call of the block has; the coder predicts times from
  // that.
  for (format::TimedCall& call : calls_) call.terminal = terminals_.next();
  const base::Status decoded = decode_block(store_, table_, block, call_of_terminal_, calls_);
  if (!decoded.ok()) {
    calls_.clear();
    return in_trace(store_.located(decoded.error(), block.offset), name_);
  }
  // What is compared with another recording of the rank stays on the clock of the rank.
  if (local_) return decoded;
  for (format::TimedCall& call : calls_) {
    call.begin_ns = clock_.to_common(call.begin_ns);
    call.end_ns = clock_.to_common(call.end_ns);
  }
  store_.kept().decoded(&block, calls_);
  return decoded;
}

const format::TimedCall* BlockWalk::find(uint64_t seq, base::Status& status) {
  if (loaded_ == SIZE_MAX || seq < first_ || seq - first_ >= (*blocks_)[loaded_].block.calls) {
    // The last block that begins at the call or before it. Where times are missing it may end
    // before the call.
    const auto after = std::upper_bound(
        blocks_->begin(), blocks_->end(), seq,
        [](uint64_t n, const format::TimeTable::Block& b) { return n < b.first_call; });
    if (after == blocks_->begin()) return nullptr;
    const auto i = static_cast<size_t>(after - blocks_->begin() - 1);
    if (seq - (*blocks_)[i].first_call >= (*blocks_)[i].block.calls) return nullptr;
    const base::Status loaded = load(i);
    if (!loaded.ok() && status.ok()) status = loaded;
  }
  return calls_.empty() ? nullptr : &calls_[static_cast<size_t>(seq - first_)];
}

std::optional<uint64_t> BlockWalk::first_ending_at(uint64_t ns, base::Status& status) {
  if (blocks_->empty()) return std::nullopt;
  const auto block = std::partition_point(
      blocks_->begin(), blocks_->end(),
      [&](const format::TimeTable::Block& b) { return clock_.to_common(b.block.end_ns) < ns; });
  // All of them end earlier: behind the last call that has a time.
  if (block == blocks_->end()) return blocks_->back().first_call + blocks_->back().block.calls;
  const auto i = static_cast<size_t>(block - blocks_->begin());
  if (i != loaded_) {
    const base::Status loaded = load(i);
    if (!loaded.ok() && status.ok()) status = loaded;
  }
  const auto call = std::partition_point(calls_.begin(), calls_.end(),
                                         [&](const format::TimedCall& c) { return c.end_ns < ns; });
  return first_ + static_cast<uint64_t>(call - calls_.begin());
}

}  // namespace refrain::reader
