// Until when all calls are known.
//
// The calls of a thread come in the order of their ends, and a call comes when it has returned. So
// the next one begins behind the end of the last one whose time is known. Where that is the last
// one that has returned, the state of the thread says more: in a call, the next one to come is this
// call (or one that its callbacks make), which began when the state says; outside of MPI, it begins
// behind the look that found the thread there. States are told by the system's clock, and calls by
// that of the rank, hence the margins.

#include "online/received_calls.h"

#include <algorithm>
#include <utility>

#include "format/signatures/walk.h"
#include "grammar/terminal_cursor.h"
#include "online/clock_anchor.h"

namespace refrain::online {

namespace live = format::live;
namespace spool = format::spool;

namespace {

constexpr const char* kGood = nullptr;

// Of the begin of a call that is under way, as its state tells it.
constexpr uint64_t kMarginNs = 10'000;
// Of a thread outside of MPI: it may have read the clock for a call and lost its core before it
// said that it is in one.
constexpr uint64_t kComputingMarginNs = 100'000'000;

}  // namespace

struct ReceivedCalls::OneThread {
  Rank rank = 0;
  spool::Progress progress;
  grammar::Grammar calls;
  std::shared_ptr<const grammar::Lengths> lengths;
  uint64_t version = 0;  // of the grammar
  // The receiver's; null between looks.
  const spool::ThreadTimes* times = nullptr;
  const live::EarlyTimes* early = nullptr;
  uint64_t seen = 0;        // calls with times, at the look before
  bool is_damaged = false;  // no times from here on
  bool is_open = false;     // has a stream
  // The call that was under way at the look before, and since when; 0: none was.
  uint64_t open_number = 0, open_wall_ns = 0;
  uint64_t known() const { return lengths == nullptr ? 0 : lengths->total(); }
  // Of the first calls, those with times; and when the last of them ended, on the rank's own clock.
  uint64_t timed() const {
    const uint64_t in_blocks = times == nullptr ? 0 : times->calls;
    return std::min(known(), early == nullptr ? in_blocks : std::max(in_blocks, early->end()));
  }
  // When it began, where that is at hand; the largest number: it is not.
  uint64_t begin_ns(uint64_t call) const {
    if (early != nullptr && call >= early->first && call < early->end())
      return early->calls[call - early->first].first;
    uint64_t first = 0;
    if (times != nullptr)
      for (const format::TimeBlock& b : times->blocks) {
        if (first >= call) return first == call ? b.begin_ns : UINT64_MAX;
        first += b.calls;
      }
    return UINT64_MAX;
  }
  uint64_t last_end_ns() const {
    if (early != nullptr && !early->calls.empty()) return early->calls.back().second;
    return times == nullptr || times->blocks.empty() ? 0 : times->blocks.back().end_ns;
  }
};

struct ReceivedCalls::OneRank {
  Rank rank = 0;
  std::vector<format::ClockPoint> clock;
  size_t points_at_begin = 0;
  std::optional<format::ClockMap> common;  // since begin()
  ClockAnchor anchor;
  uint64_t looked_ns = 0;  // wall clock
  bool is_over = false;
  std::vector<uint32_t> definitions, signatures;  // of the rank: which in the tables of all
  std::vector<uint16_t> call_of;                  // by signature of the rank
  std::map<uint32_t, std::unique_ptr<OneThread>> threads;
};

// The calls of a thread, from the first one on.
class ReceivedCalls::Stream : public events::CallStream {
 public:
  Stream(ReceivedCalls& of, RankReader& reader, const OneRank& rank, OneThread& thread)
      : of_(of), reader_(reader), rank_(rank), thread_(thread) {}

  bool next(events::ClockedCall& out) override {
    if (position_ >= thread_.known()) return false;
    const auto* const time = time_of(position_);
    if (time == nullptr) return false;
    if (!calls_ || version_ != thread_.version) {
      calls_.emplace(thread_.calls, thread_.lengths);
      calls_->seek(position_);
      version_ = thread_.version;
    }
    out.signature = &reader_.signature(rank_.signatures[calls_->next()]);
    out.seq = position_++;
    out.begin_ns = rank_.common->to_common(time->begin_ns);
    out.end_ns = rank_.common->to_common(time->end_ns);
    // Thousands of threads must not all keep a block that they have read.
    if (!block_.empty() && position_ - block_first_ >= block_.size())
      std::vector<format::TimedCall>().swap(block_);
    return true;
  }
  bool has_ended() const override {
    return thread_.is_damaged || (rank_.is_over && position_ >= thread_.timed());
  }

 private:
  // On the rank's own clock; null: it has not come.
  const format::TimedCall* time_of(uint64_t call) {
    if (call - block_first_ < block_.size()) return &block_[call - block_first_];
    if (thread_.is_damaged) return nullptr;
    if (thread_.times != nullptr) {
      const std::vector<format::TimeBlock>& blocks = thread_.times->blocks;
      for (; next_ < blocks.size() && call - next_first_ >= blocks[next_].calls; ++next_) {
        next_first_ += blocks[next_].calls;
        next_byte_ += blocks[next_].bytes;
        before_ns_ = blocks[next_].end_ns;
      }
      if (next_ < blocks.size()) return read_block(blocks[next_], call);
    }
    const live::EarlyTimes* const early = thread_.early;
    if (early == nullptr || call < early->first || call >= early->end()) return nullptr;
    const auto& [begin_ns, end_ns] = early->calls[call - early->first];
    early_ = {0, begin_ns, end_ns};
    return &early_;
  }

  const format::TimedCall* read_block(const format::TimeBlock& b, uint64_t call) {
    if (next_first_ + b.calls > thread_.known()) return nullptr;
    grammar::TerminalCursor terminals(thread_.calls, thread_.lengths);
    terminals.seek(next_first_);
    block_.resize(b.calls);
    for (format::TimedCall& c : block_) c.terminal = terminals.next();
    const auto coded = std::string_view(thread_.times->bytes).substr(next_byte_, b.bytes);
    const base::Status read = of_.decoder_.decode(b, coded, before_ns_, rank_.call_of, block_);
    block_first_ = next_first_;
    if (read.ok()) return &block_[call - block_first_];
    block_.clear();
    thread_.is_damaged = true;
    return nullptr;
  }

  ReceivedCalls& of_;
  RankReader& reader_;
  const OneRank& rank_;
  OneThread& thread_;
  uint64_t position_ = 0, version_ = 0;
  std::optional<grammar::TerminalCursor> calls_;
  std::vector<format::TimedCall> block_;
  uint64_t block_first_ = 0;
  // The block that has not been passed, and what is before it.
  size_t next_ = 0;
  uint64_t next_first_ = 0, next_byte_ = 0, before_ns_ = 0;
  format::TimedCall early_;
};

ReceivedCalls::ReceivedCalls(uint64_t ranks, format::TimeSpec spec)
    : tables_(ranks, "a job that runs"),
      decoder_(std::move(spec)),
      world_(ranks),
      margin_ns_(kComputingMarginNs) {}
ReceivedCalls::~ReceivedCalls() = default;

// ---- what comes ----

// Equal definitions of several ranks are one.
const char* ReceivedCalls::take_definition(const format::Definition& definition, OneRank& rank) {
  format::Definition mine = definition;
  std::string key(1, static_cast<char>(mine.kind));
  for (uint32_t& ref : mine.refs) {
    if (ref >= rank.definitions.size()) return "a definition that refers to a later one";
    ref = rank.definitions[ref];
    key.append(std::to_string(ref)).append(1, ',');
  }
  key.append(1, '|').append(mine.payload);
  const auto [known, is_new] =
      definitions_.try_emplace(std::move(key), static_cast<uint32_t>(definitions_.size()));
  if (is_new && !tables_.add(std::move(mine))) return "a definition that makes no sense";
  rank.definitions.push_back(known->second);
  return kGood;
}

const char* ReceivedCalls::take_signature(std::string_view bytes, OneRank& rank) {
  auto split = format::split_signature(bytes);
  const auto info = split ? format::inspect_shape(split->shape) : std::nullopt;
  if (!info || info->slots.size() != split->values.size()) return "a signature that is none";
  for (size_t i = 0; i < split->values.size(); ++i) {
    if (info->slots[i] != format::SlotNature::kDefinition) continue;
    const auto definition = static_cast<uint64_t>(split->values[i]);
    if (definition >= rank.definitions.size()) return "a signature with an unknown definition";
    split->values[i] = rank.definitions[definition];
  }
  const auto shape = format::renumber_requests(split->shape, rank.signatures);
  if (!shape) return "a signature with an unknown request";
  tables_.add_signature(*shape, split->values);
  rank.signatures.push_back(static_cast<uint32_t>(signatures_++));
  rank.call_of.push_back(static_cast<uint16_t>(info->call_id));
  return kGood;
}

const char* ReceivedCalls::take_tables(const format::RankRecord& record, OneRank& rank) {
  for (size_t i = rank.definitions.size(); i < record.definitions.size(); ++i)
    if (const char* wrong = take_definition(record.definitions[i], rank); wrong != kGood)
      return wrong;
  for (size_t i = rank.signatures.size(); i < record.signatures.size(); ++i) {
    if (signatures_ >= kMostSignatures) return "more different calls than are analysed at a time";
    if (const char* wrong = take_signature(record.signatures[i], rank); wrong != kGood)
      return wrong;
  }
  return kGood;
}

void ReceivedCalls::take_thread(const live::Receiver& receiver,
                                const format::RankRecord::Thread* calls,
                                const spool::Progress& progress, OneRank& rank) {
  auto& thread = rank.threads[progress.thread];
  if (thread == nullptr) thread = std::make_unique<OneThread>();
  thread->rank = rank.rank;
  // A stream that begins again has fewer calls than came before: they are the same ones.
  if (calls != nullptr && progress.calls > thread->known()) {
    auto lengths = std::make_shared<const grammar::Lengths>(grammar::lengths(calls->grammar));
    if (lengths->total() > thread->known()) {
      thread->calls = calls->grammar;
      thread->lengths = std::move(lengths);
      ++thread->version;
    }
  }
  const auto times = receiver.times().find(progress.thread);
  const auto early = receiver.early_times().find(progress.thread);
  thread->times = times == receiver.times().end() ? nullptr : &times->second;
  thread->early = early == receiver.early_times().end() ? nullptr : &early->second;
  thread->progress = progress;
  note_late(rank, *thread);
  set_anchor(rank, *thread);
}

// The end of the last call, and the begin of the one that was under way, are known on both clocks.
void ReceivedCalls::set_anchor(OneRank& rank, OneThread& thread) {
  const spool::Progress& p = thread.progress;
  if (thread.open_wall_ns != 0 && thread.timed() > thread.open_number) {
    const uint64_t begin_ns = thread.begin_ns(thread.open_number);
    if (begin_ns != UINT64_MAX) rank.anchor.add(thread.open_wall_ns, begin_ns);
    thread.open_wall_ns = 0;
  }
  if (p.held_calls != 0 || p.calls == 0) return;
  if (p.open_call != 0 && thread.open_wall_ns == 0)
    thread.open_number = p.calls, thread.open_wall_ns = p.last_time_ns;
  if (p.open_call == 0 && thread.timed() == p.calls)
    rank.anchor.add(p.last_time_ns, thread.last_end_ns());
}

// A call that begins before what was promised has been passed over by the analysis: then states
// were told too late, and are believed less from here on.
void ReceivedCalls::note_late(const OneRank& rank, OneThread& thread) {
  const uint64_t seen = std::exchange(thread.seen, std::max(thread.seen, thread.timed()));
  if (thread.seen == seen || !rank.common) return;
  const uint64_t first_ns = thread.begin_ns(seen);
  if (first_ns == UINT64_MAX) return;
  const uint64_t ns = rank.common->to_common(first_ns);
  if (ns >= promised_ns_) return;
  ++late_calls_;
  margin_ns_ = std::min<uint64_t>(margin_ns_ + 2 * (promised_ns_ - ns), 60'000'000'000);
}

base::Status ReceivedCalls::take(const live::Receiver& receiver, const spool::RankSpool& record,
                                 bool is_over) {
  const auto number = static_cast<Rank>(record.header.rank);
  if (number < 0 || static_cast<uint64_t>(number) >= world_)
    return base::fail("a rank outside of the world");
  auto& rank = ranks_[number];
  if (rank == nullptr) {
    rank = std::make_unique<OneRank>();
    rank->anchor.begin(record.header);
  }
  rank->rank = number;
  if (record.clock.size() > rank->clock.size()) {
    if (!are_good_points(record.clock)) return base::fail("its clock makes no sense");
    rank->clock = record.clock;
    if (rank->common) rank->common.emplace(rank->clock, base_ns_);
  }
  rank->is_over = is_over;
  if (const char* wrong = take_tables(record.record, *rank); wrong != kGood)
    return base::fail(wrong, "rank " + std::to_string(number));
  for (const spool::Progress& p : record.threads) {
    const auto& all = record.record.threads;
    const auto calls =
        std::find_if(all.begin(), all.end(), [&](const auto& t) { return t.thread == p.thread; });
    take_thread(receiver, calls == all.end() ? nullptr : &*calls, p, *rank);
  }
  rank->looked_ns = std::max(rank->looked_ns, receiver.looked_ns());
  return base::Done{};
}

void ReceivedCalls::release() {
  for (auto& [number, rank] : ranks_)
    for (auto& [thread_number, thread] : rank->threads)
      thread->times = nullptr, thread->early = nullptr;
}

// ---- clocks, and until when all is known ----

void ReceivedCalls::begin() {
  bool is_first = true;
  for (const auto& [number, rank] : ranks_) {
    const int64_t init = format::ClockMap::common_of(rank->clock, 0);
    base_ns_ = is_first ? init : std::min(base_ns_, init);
    is_first = false;
  }
  for (auto& [number, rank] : ranks_) {
    rank->common.emplace(rank->clock, base_ns_);
    rank->points_at_begin = rank->clock.size();
    for (auto& [thread_number, thread] : rank->threads) thread->is_open = false;
  }
  promised_ns_ = 0;
}

bool ReceivedCalls::clocks_changed() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const auto& r) {
    return r.second->common && r.second->points_at_begin != r.second->clock.size();
  });
}

bool ReceivedCalls::is_ready() const {
  return ranks_.size() == world_ && std::all_of(ranks_.begin(), ranks_.end(), [](const auto& r) {
           return r.second->is_over ||
                  std::any_of(r.second->threads.begin(), r.second->threads.end(),
                              [](const auto& t) { return t.second->timed() > 0; });
         });
}

uint64_t ReceivedCalls::bound_of(const OneRank& rank, const OneThread& thread) const {
  const spool::Progress& p = thread.progress;
  uint64_t local_ns = thread.last_end_ns();
  if (thread.timed() >= p.calls && p.held_calls == 0) {
    const uint64_t state_ns = p.open_call != 0 ? rank.anchor.at_least(p.last_time_ns, kMarginNs)
                                               : rank.anchor.at_least(rank.looked_ns, margin_ns_);
    local_ns = std::max(local_ns, state_ns);
  }
  return rank.common->to_common(local_ns);
}

ReceivedCalls::Bound ReceivedCalls::bound() const {
  Bound least;
  for (const auto& [number, rank] : ranks_) {
    if (rank->is_over || !rank->common) continue;
    for (const auto& [thread_number, thread] : rank->threads) {
      if (thread->is_damaged) continue;
      const uint64_t ns = bound_of(*rank, *thread);
      if (ns < least.ns) least = {ns, number};
    }
  }
  return least;
}

uint64_t ReceivedCalls::now_ns() const {
  uint64_t now = 0;
  for (const auto& [number, rank] : ranks_)
    if (rank->common)
      now = std::max(now, rank->common->to_common(rank->anchor.at_least(rank->looked_ns, 0)));
  return now;
}

// ---- the source ----

std::vector<Location> ReceivedCalls::new_locations() const {
  std::vector<Location> all;
  for (const auto& [number, rank] : ranks_)
    for (const auto& [thread_number, thread] : rank->threads)
      if (rank->common && !thread->is_open &&
          (thread->timed() > 0 || (rank->is_over && thread->known() > 0)))
        all.push_back({number, thread_number, thread->known(), {}});
  return all;
}

std::unique_ptr<events::CallStream> ReceivedCalls::open(RankReader& reader, uint32_t thread) {
  const auto rank = ranks_.find(reader.rank());
  if (rank == ranks_.end()) return nullptr;
  const auto known = rank->second->threads.find(thread);
  if (known == rank->second->threads.end()) return nullptr;
  known->second->is_open = true;
  return std::make_unique<Stream>(*this, reader, *rank->second, *known->second);
}

}  // namespace refrain::online
