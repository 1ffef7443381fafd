// A thread's calls with their times go into a row, in the spool file if there is one, so that a
// process that dies leaves them. A full row is encoded as a block, or, for segments from marks, fed
// to the matcher. `encoded_` counts the calls that have left the row for good; the chunk's position
// says the same to the reader of a spool, and is stored when it is true.

#include "tracer/times/time_log.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "format/decode/block_recoder.h"
#include "format/time/segment_encoder.h"
#include "tracer/state/complain.h"
#include "tracer/state/current.h"
#include "tracer/state/location.h"
#include "tracer/state/memory.h"
#include "tracer/state/peers.h"
#include "tracer/state/process.h"
#include "tracer/times/call_times.h"
#include "tracer/times/mark_of.h"
#include "tracer/times/segment_matcher.h"
#include "tracer/times/segment_times.h"

namespace refrain::tracer {

namespace spool = format::spool;

namespace {

// What the encoder and the row may ask for at once.
constexpr size_t kMemory = size_t{4} << 20;
// Calls that are matched at a time.
constexpr ptrdiff_t kMatchStep = 1024;

// Whether segments are matched while the program runs.
bool matches(const CallTimes& times) {
  return times.spec().mode == format::TimeMode::kSegments && times.segments() != nullptr &&
         times.segments()->how().source == format::SegmentSource::kMarks;
}

}  // namespace

// Which form the blocks have follows from what will be done with them. Those that are coded anew in
// MPI_Finalize are kept plain, which costs the program least; an exact copy beside segments or bins
// has an encoder of its own.
TimeLog::TimeLog(const Location& l) : encoder_(l.process->times->spec()) {
  if (l.process->times->plain().on) plain_ = std::make_unique<PlainLog>(*l.process, l.thread);
  const bool has_copy = !l.process->times->copy().empty();
  if (plain_ == nullptr && matches(*l.process->times))
    matcher_ = std::make_unique<SegmentMatcher>(l);
  goes_elsewhere_ = plain_ != nullptr || matcher_ != nullptr;
  // Of segments that are made in MPI_Finalize the exact copy has these very blocks.
  if (l.process->times->spec().mode == format::TimeMode::kSegments && !has_copy)
    coding_ = format::BlockCoding::kPlain;
  // Where tables begin anew it is not known in the end which calls the first blocks are of.
  recodes_ = l.process->times->spec().mode == format::TimeMode::kExact && plain_ == nullptr &&
             !l.process->is_bounded();
  if (recodes_) coding_ = format::BlockCoding::kPlain;
  const bool has_these =
      matcher_ == nullptr && l.process->times->spec().mode != format::TimeMode::kBins;
  if (has_these || !has_copy) return;
  format::TimeSpec exact;
  exact.mode = format::TimeMode::kExact;
  exact_ = std::make_unique<format::BlockEncoder>(exact);
}

TimeLog::~TimeLog() = default;

// A segment under way, which has kMaxCallsPerSegment calls at most, and a step.
size_t TimeLog::row_calls() const {
  static_assert(format::kMaxCallsPerSegment + kMatchStep <= 2 * format::kCallsPerBlock);
  return (matcher_ != nullptr ? 2 : 1) * format::kCallsPerBlock;
}

// A row elsewhere, with the `used` calls of the one before. The fast path looks at next_ and end_
// only; with a matcher end_ comes early, so that matching is spread over the run in steps.
void TimeLog::set_row(TimedCall* row, size_t calls, size_t used) {
  std::copy(row_, row_ + used, row);
  row_ = row;
  next_ = row + used;
  row_end_ = row + calls;
  end_ = matcher_ != nullptr ? std::min(next_ + kMatchStep, row_end_) : row_end_;
}

void TimeLog::make_row() {
  own_row_.resize(row_calls());
  set_row(own_row_.data(), own_row_.size(), static_cast<size_t>(next_ - row_));
}

void TimeLog::move_row(spool::Chunk* chunk, uint32_t first_terminal) {
  if (chunk == nullptr) {
    stop();
    chunk_ = nullptr;
    row_ = first_row_;
    return set_row(first_row_, kFirstRow, 0);
  }
  if (stopped_) return;
  chunk->position = encoded_;
  chunk->first_terminal = first_terminal;
  chunk_ = chunk;
  auto* const row =
      reinterpret_cast<TimedCall*>(reinterpret_cast<char*>(chunk + 1) + sizeof(spool::TimeRowHead));
  set_row(row, row_calls(), static_cast<size_t>(next_ - row_));
  // The calls so far are in the spool now, where they outlive the process.
  std::vector<TimedCall>().swap(own_row_);
}

// What is written into the row from here on belongs to no call.
void TimeLog::stop() {
  stopped_ = true;
  // No reader takes such a position for true: it then leaves the row out, whatever it holds.
  if (chunk_ != nullptr) chunk_->position = UINT64_MAX;
  in_order();
  next_ = row_;
}

// Forgets all of them, as if no time had been kept.
void TimeLog::drop() {
  stop();
  encoded_ = open_ = 0;
  matcher_ = nullptr;
  goes_elsewhere_ = false;
  kept_ = copy_ = {};
}

// The reader of a spool takes the row to be empty when its calls are in the blocks: up to the first
// that is none.
void TimeLog::clear_row() {
  for (TimedCall* c = row_; c != next_; ++c) c->terminal = 0;
  next_ = row_;
  end_ = row_end_;
  if (chunk_ == nullptr || stopped_) return;
  in_order();
  chunk_->position = encoded_;
}

// The tables begin anew (--memory): terminals name other signatures from here on, so nothing may be
// expected of a call from what a terminal did before.
void TimeLog::number_anew(const Location& l) {
  if (coding_ == format::BlockCoding::kBySignature) coding_ = format::BlockCoding::kByFunction;
  encoder_.begin_at(last_end_ns_);
  if (exact_ != nullptr) exact_->begin_at(last_end_ns_);
  if (chunk_ != nullptr) chunk_->first_terminal = l.first_terminal;
}

// The row is full. Memory is asked for in advance, as no allocation may fail in the midst of
// encoding. What it takes is noted as the recorder's own time, which is nobody's (own_time.h).
void TimeLog::flush(Location& l) {
  if (plain_ != nullptr) return end_plain(l);
  if (stopped_) return clear_row();
  if (next_ == row_) return;
  // A thread begins with a few calls in the location itself: most threads of some programs make no
  // more, and need no row.
  if (row_ == first_row_ && next_ == end_) return memory_for(kMemory) ? make_row() : stop();
  if (matcher_ != nullptr && may_match()) return match(l);
  if (!memory_for(kMemory + kept_.bytes.capacity() + copy_.bytes.capacity())) return stop();
  const Clock& clock = l.process->clock;
  const uint64_t begin = clock.ticks();
  if (l.process->sink != nullptr && !l.process->sink->may_keep_times()) return stop();
  encode(l);
  clear_row();
  const uint64_t end = clock.ticks();
  l.own_time.add_inside(end - begin);
  l.note_own_work(end);
}

// Ticks become ns here, not at each call. A block that the spool takes does not stay in memory;
// once one has stayed, all later ones stay too, so that their order is kept.
void TimeLog::encode(Location& l) {
  const Process& p = *l.process;
  const CallTimes::Scale scale = p.times->scale(p);
  calls_.clear();
  for (const TimedCall* c = row_; c != next_; ++c) {
    const uint32_t terminal =
        coding_ == format::BlockCoding::kByFunction ? c->call : c->terminal - 1;
    // Plainly nothing is expected of a call.
    if (coding_ != format::BlockCoding::kPlain)
      encoder_.set_call(terminal, static_cast<uint16_t>(c->call));
    if (exact_ != nullptr) exact_->set_call(terminal, static_cast<uint16_t>(c->call));
    calls_.push_back({terminal, scale.to_ns(c->begin_ticks), scale.to_ns(c->end_ticks)});
  }
  if (exact_ != nullptr) copy_.blocks.push_back(exact_->encode(calls_, copy_.bytes, coding_));
  const format::TimeBlock block = encoder_.encode(calls_, kept_.bytes, coding_);
  encoded_ += block.calls;
  last_end_ns_ = block.end_ns;
  if (kept_.blocks.empty() && p.sink != nullptr && p.sink->times(l, block, kept_.bytes)) {
    kept_.bytes.clear();
    return;
  }
  kept_.blocks.push_back(block);
}

// Processes that are not of one world match nothing together, and hand exact times over.
bool TimeLog::may_match() {
  has_matched_ = has_matched_ || has_peers();
  if (has_matched_) return true;
  matcher_ = nullptr;
  goes_elsewhere_ = false;
  return false;
}

// Gives the calls behind `open_` to the matcher. Memory is asked for once a block.
void TimeLog::match(Location& l) {
  const Process& p = *l.process;
  const uint64_t begin = p.clock.ticks();
  if (encoded_ >= ask_memory_at_) {
    if (!memory_for(kMemory + 3 * matcher_->memory_bytes() + copy_.bytes.capacity())) return stop();
    ask_memory_at_ = encoded_ + format::kCallsPerBlock;
  }
  // Else somebody wants all that is there: the end of the run, or new tables.
  const bool is_step = next_ == end_;
  const CallTimes::Scale scale = p.times->scale(p);
  for (const TimedCall* c = row_ + open_; c != next_; ++c) {
    const uint64_t begin_ns = scale.to_ns(c->begin_ticks);
    const uint64_t end_ns = scale.to_ns(c->end_ticks);
    const auto call = static_cast<mpi::CallId>(c->call);
    matcher_->call(l.first_terminal + c->terminal - 1, call, begin_ns, end_ns);
    if (exact_ == nullptr) continue;
    const uint32_t terminal = coding_ == format::BlockCoding::kByFunction ? call : c->terminal - 1;
    exact_->set_call(terminal, call);
    to_copy_.push_back({terminal, begin_ns, end_ns});
  }
  open_ = static_cast<uint32_t>(next_ - row_);
  if (to_copy_.size() >= format::kCallsPerBlock || (!is_step && !to_copy_.empty())) {
    copy_.blocks.push_back(exact_->encode(to_copy_, copy_.bytes, coding_));
    to_copy_.clear();
  }
  if (matcher_->ended() > 0) keep_matched(l);
  end_ = std::min(next_ + kMatchStep, row_end_);
  const uint64_t end = p.clock.ticks();
  l.own_time.add_inside(end - begin);
  l.note_own_work(end);
}

// Segments that have ended go to the spool, if there is one: the matcher has them itself. The row
// keeps what belongs to the segment under way; until it says so, it counts as empty.
void TimeLog::keep_matched(Location& l) {
  const uint32_t ended = matcher_->ended();
  const format::TimeBlock block = matcher_->take(kept_.bytes);
  if (l.process->sink != nullptr) l.process->sink->times(l, block, kept_.bytes);
  kept_.bytes.clear();
  encoded_ += ended;
  open_ -= ended;
  // The calls of the open segment move to the front, and behind them zeros, which no reader takes
  // for calls.
  std::memmove(static_cast<void*>(row_), row_ + ended, open_ * sizeof *row_);
  std::memset(static_cast<void*>(row_ + open_), 0, ended * sizeof *row_);
  next_ = row_ + open_;
  if (chunk_ == nullptr) return;
  in_order();
  chunk_->position = encoded_;
}

void TimeLog::push_elsewhere(Location& l, const TimedCall& call) {
  if (plain_ != nullptr) return put_plainly(l, call);
  const auto id = static_cast<mpi::CallId>(call.call);
  if (!stopped_ && may_be_mark(id)) matcher_->note(l, call.terminal - 1);
  put(l, call);
}

// Only what flushes the plain file counts as own work.
void TimeLog::put_plainly(Location& l, const TimedCall& call) {
  if (stopped_) return;
  const Clock& clock = l.process->clock;
  const uint64_t flushes = plain_->counts().flushes, begin = clock.ticks();
  plain_->put(call, l.process->signatures.at(call.terminal - 1));
  // To copy a record into the buffer is a part of the call; to write the buffer out is not.
  if (plain_->counts().flushes == flushes) return;
  const uint64_t end = clock.ticks();
  l.own_time.add_inside(end - begin);
  l.note_own_work(end);
}

// The calls become a row after the other, as if they had never been elsewhere.
void TimeLog::end_plain(Location& l) {
  const std::unique_ptr<PlainLog> plain = std::move(plain_);
  goes_elsewhere_ = false;
  plain->flush();
  plain_counts_ = plain->counts();
  if (!l.process->times->plain().write) return stop();
  if (!memory_for(kMemory)) return plain->remove(), stop();
  make_row();
  const InternTable& signatures = l.process->signatures;
  const bool whole = plain->each([&](const TimedCall& call, std::string_view signature) {
    const uint32_t terminal = call.terminal - 1;
    // The file is compared with what is known: where it differs it is not ours any more.
    if (terminal >= signatures.size() || signatures.at(terminal) != signature) return false;
    *next_++ = call;
    if (next_ != end_) return true;
    encode(l);
    next_ = row_;
    return memory_for(kMemory + kept_.bytes.capacity());
  });
  if (next_ != row_) encode(l);
  clear_row();
  plain->remove();
  if (!whole) complain(*l.process, "cannot read times of its calls back from its plain file");
}

void TimeLog::Run::visit(const Visit& visit) const {
  constexpr size_t kBlocksAtOnce = 64;
  std::string_view left = bytes;
  for (size_t at = 0; at < blocks.size(); at += kBlocksAtOnce) {
    const auto begin = blocks.begin() + static_cast<ptrdiff_t>(at);
    const std::vector<format::TimeBlock> run(
        begin, begin + static_cast<ptrdiff_t>(std::min(kBlocksAtOnce, blocks.size() - at)));
    size_t n = 0;
    for (const format::TimeBlock& b : run) n += b.bytes;
    visit(run, left.substr(0, n));
    left.remove_prefix(n);
  }
}

// Keeps what coding them anew needs of the location.
void TimeLog::end(const grammar::Grammar& calls, const InternTable& signatures) {
  const size_t bytes = calls.symbols.size() * sizeof calls.symbols[0] +
                       calls.rule_end.size() * sizeof calls.rule_end[0] +
                       signatures.size() * sizeof(uint16_t);
  if (!recodes_ || !memory_for(kMemory + 2 * bytes)) return;
  recoding_ = std::make_unique<Recoding>();
  recoding_->calls = calls;
  for (uint32_t i = 0; i < signatures.size(); ++i)
    recoding_->call_of.push_back(
        static_cast<uint16_t>(base::ByteReader(signatures.at(i)).varint()));
}

bool TimeLog::for_each_kept_run(const Location& l, const Visit& visit) const {
  if (l.process->sink != nullptr && !l.process->sink->each_run_of_times(l, visit)) return false;
  kept_.visit(visit);
  return true;
}

// Blocks as they go into the file, some at a time, so that no rank has all of its times in memory
// twice.
bool TimeLog::for_each_run(const Location& l, Which which, const Visit& visit) const {
  if (calls() == 0) return true;
  if (which == Which::kExactCopy && exact_ != nullptr) return copy_.visit(visit), true;
  if (matcher_ != nullptr) return true;
  if (recoding_ == nullptr) return for_each_kept_run(l, visit);
  format::BlockRecoder recoder(recoding_->calls, recoding_->call_of);
  bool whole = true;
  const auto recode = [&](const std::vector<format::TimeBlock>& blocks, std::string_view bytes) {
    for (const format::TimeBlock& block : blocks) {
      whole = whole && recoder.add(block, bytes.substr(0, block.bytes));
      bytes.remove_prefix(block.bytes);
    }
    if (!recoder.blocks().empty()) visit(recoder.blocks(), recoder.bytes());
    recoder.clear();
  };
  return for_each_kept_run(l, recode) && whole;
}

void keep_times(Location& location) {
  location.times = new TimeLog(location);
  location.spool.keep_times(true);
}

}  // namespace refrain::tracer
