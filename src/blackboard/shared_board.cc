#include "blackboard/shared_board.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace refrain::blackboard {

SharedBoard::SharedBoard(Mailboxes& mailboxes, refrain_blackboard* local, int workers,
                         size_t most_bytes)
    : mailboxes_(mailboxes),
      local_(local),
      has_workers_(workers != 0),
      most_bytes_(most_bytes),
      new_(static_cast<size_t>(mailboxes.size())),
      outgoing_(static_cast<size_t>(mailboxes.size())),
      incoming_(static_cast<size_t>(mailboxes.size())) {}

SharedBoard::~SharedBoard() { refrain_blackboard_free(local_); }

int SharedBoard::broken() {
  is_broken_.store(true);
  return REFRAIN_BOARD_EMPI;
}

// -- who owns what --

int SharedBoard::owner(refrain_type type) const {
  const auto place = owners_.find(type);
  if (place != owners_.end()) return place->second;
  return static_cast<int>(type % static_cast<uint64_t>(mailboxes_.size()));
}

int SharedBoard::give(refrain_type type, int rank) {
  if (rank < 0 || rank >= mailboxes_.size() || readers_.contains(type))
    return REFRAIN_BOARD_EINVALID;
  owners_[type] = rank;
  return 0;
}

int SharedBoard::add(const char* name, const refrain_type* sensitivities, int count,
                     refrain_operation operation, void* context) {
  if (!is_driver() || count < 1) return REFRAIN_BOARD_EINVALID;
  const int rank = owner(sensitivities[0]);
  if (rank == mailboxes_.rank()) {
    const refrain_source source =
        refrain_source_add(local_, name, sensitivities, count, operation, context);
    if (source < 0) return static_cast<int>(source);
  }
  for (int i = 0; i < count; ++i) {
    std::vector<int>& ranks = readers_[sensitivities[i]];
    const auto place = std::lower_bound(ranks.begin(), ranks.end(), rank);
    if (place == ranks.end() || *place != rank) ranks.insert(place, rank);
  }
  return rank;
}

// -- submitting --

uint64_t SharedBoard::bytes_here() const {
  refrain_blackboard_counts counts;
  refrain_blackboard_count(local_, &counts);
  return counts.bytes + outgoing_bytes_.load();
}

// Only while something is going on that may give memory back.
bool SharedBoard::is_full() const {
  return most_bytes_ != 0 && bytes_here() >= most_bytes_ &&
         (outgoing_bytes_.load() != 0 || refrain_blackboard_is_idle(local_) == 0);
}

// Not because of what is to be sent: two ranks could wait for each other to take it.
bool SharedBoard::is_too_full_to_take() const {
  return most_bytes_ != 0 && bytes_here() >= most_bytes_ && refrain_blackboard_is_idle(local_) == 0;
}

int SharedBoard::submit(EntryRef entry) {
  if (is_broken_.load()) return REFRAIN_BOARD_EMPI;
  const auto readers = readers_.find(refrain_entry_type(entry.get()));
  if (readers == readers_.end()) return refrain_blackboard_submit(local_, entry.give());
  bool is_here = false;
  {
    const std::lock_guard lock(lock_);
    for (const int rank : readers->second) {
      if (rank == mailboxes_.rank()) {
        is_here = true;
        continue;
      }
      sent_.fetch_add(1);
      outgoing_bytes_.fetch_add(refrain_entry_bytes(entry.get()));
      new_[static_cast<size_t>(rank)].push_back(entry);
      new_count_.fetch_add(1);
    }
  }
  int code = is_here ? refrain_blackboard_submit(local_, entry.give()) : 0;
  // An operation that the driver runs itself may not wait for other jobs, as no operation may.
  if (code < 0 || !is_driver() || is_in_job_) return code;
  constexpr int kStepEvery = 32;  // a look at what has come costs more than a submission
  if (++since_step_ >= kStepEvery) {
    since_step_ = 0;
    code = progress();
  }
  for (int round = 0; code == 0 && is_full(); ++round) {
    bool moved = false;
    code = step(&moved);
    if (moved) round = 0;
    mailboxes_.pause(round);
  }
  return code;
}

// -- moving entries --

int SharedBoard::send_to(int rank, Outgoing& out, bool* moved) {
  while (out.first < out.entries.size()) {
    refrain_entry* const entry = out.entries[out.first].get();
    const Head head{refrain_entry_type(entry), refrain_entry_bytes(entry)};
    const size_t whole = sizeof head + head.bytes;
    while (out.sent < whole) {
      const bool in_head = out.sent < sizeof head;
      const char* const data =
          in_head ? reinterpret_cast<const char*>(&head) + out.sent
                  : static_cast<const char*>(refrain_entry_data(entry)) + out.sent - sizeof head;
      const int64_t put = mailboxes_.write(rank, data, (in_head ? sizeof head : whole) - out.sent);
      if (put < 0) return broken();
      if (put == 0) return 0;
      out.sent += static_cast<size_t>(put);
      *moved = true;
    }
    outgoing_bytes_.fetch_sub(head.bytes);
    out.entries[out.first++] = EntryRef();
    out.sent = 0;
  }
  out.entries.clear();
  out.first = 0;
  return 0;
}

int SharedBoard::send(bool* moved) {
  if (new_count_.load() != 0) {
    const std::lock_guard lock(lock_);
    for (size_t rank = 0; rank < new_.size(); ++rank) {
      std::vector<EntryRef>& entries = outgoing_[rank].entries;
      for (EntryRef& entry : new_[rank]) entries.push_back(std::move(entry));
      new_[rank].clear();
    }
    new_count_.store(0);
  }
  for (size_t rank = 0; rank < outgoing_.size(); ++rank)
    if (!outgoing_[rank].entries.empty())
      if (const int code = send_to(static_cast<int>(rank), outgoing_[rank], moved); code < 0)
        return code;
  return 0;
}

// 1: the head is there, and room for its entry.
int SharedBoard::take_head(int rank, Incoming& in, bool* moved) {
  while (in.head_bytes < sizeof in.head) {
    const int64_t got = mailboxes_.read(rank, reinterpret_cast<char*>(&in.head) + in.head_bytes,
                                        sizeof in.head - in.head_bytes);
    if (got < 0) return broken();
    if (got == 0) return 0;
    in.head_bytes += static_cast<size_t>(got);
    *moved = true;
  }
  if (in.entry.get() == nullptr)
    in.entry = EntryRef(refrain_entry_new(in.head.type, in.head.bytes));
  return in.entry.get() == nullptr ? REFRAIN_BOARD_ENOMEM : 1;
}

int SharedBoard::take_from(int rank, Incoming& in, bool* moved) {
  for (;;) {
    if (in.head_bytes == 0 && is_too_full_to_take()) {
      has_more_ = true;
      return 0;
    }
    if (const int code = take_head(rank, in, moved); code <= 0) return code;
    char* const data = static_cast<char*>(refrain_entry_write(in.entry.get()));
    while (in.bytes < in.head.bytes) {
      const int64_t got = mailboxes_.read(rank, data + in.bytes, in.head.bytes - in.bytes);
      if (got < 0) return broken();
      if (got == 0) return 0;
      in.bytes += static_cast<size_t>(got);
      *moved = true;
    }
    const int code = refrain_blackboard_submit(local_, in.entry.give());
    in = Incoming();
    ++taken_;
    if (code < 0) return code;
  }
}

int SharedBoard::take(bool* moved) {
  const bool is_new = mailboxes_.has_news();
  if (!is_new && !has_more_) return 0;
  has_more_ = false;
  for (size_t rank = 0; rank < incoming_.size(); ++rank)
    if (static_cast<int>(rank) != mailboxes_.rank())
      if (const int code = take_from(static_cast<int>(rank), incoming_[rank], moved); code < 0) {
        has_more_ = true;
        return code;
      }
  return 0;
}

// Everything that can be done at this moment.
int SharedBoard::step(bool* moved) {
  if (is_broken_.load()) return REFRAIN_BOARD_EMPI;
  if (const int code = take(moved); code < 0) return code;
  if (!has_workers_ && refrain_blackboard_is_idle(local_) == 0) {
    is_in_job_ = true;
    refrain_blackboard_wait(local_);
    is_in_job_ = false;
    *moved = true;
  }
  return send(moved);
}

int SharedBoard::progress() {
  if (!is_driver() || is_in_job_) return REFRAIN_BOARD_EINVALID;
  bool moved = false;
  return step(&moved);
}

// -- the end --

// Operations submit before they end, so the board is looked at first.
bool SharedBoard::has_nothing_to_do() {
  return refrain_blackboard_is_idle(local_) != 0 && new_count_.load() == 0 &&
         outgoing_bytes_.load() == 0 && !has_more_ &&
         std::all_of(outgoing_.begin(), outgoing_.end(),
                     [](const Outgoing& out) { return out.entries.empty(); });
}

int SharedBoard::wait() {
  if (!is_driver() || is_in_job_) return REFRAIN_BOARD_EINVALID;
  Mailboxes::Sums before{-1, -2}, now{};
  bool is_summing = false;
  for (int round = 0;; ++round) {
    bool moved = false;
    if (const int code = step(&moved); code < 0) return code;
    if (!is_summing && has_nothing_to_do()) {
      if (!mailboxes_.begin_sum({sent_.load(), taken_})) return broken();
      is_summing = true;
    }
    const int summed = is_summing ? mailboxes_.test_sum(&now) : 0;
    if (summed < 0) return broken();
    if (summed > 0) {
      is_summing = false;
      if (now == before && now[0] == now[1]) return 0;
      before = now;
      moved = true;
    }
    if (moved) round = 0;
    mailboxes_.pause(round);
  }
}

}  // namespace refrain::blackboard
