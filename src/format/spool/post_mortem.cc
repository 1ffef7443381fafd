#include "format/spool/post_mortem.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "format/content.h"
#include "format/layout.h"
#include "format/limits.h"
#include "mpi/call_ids.h"
#include "mpi/call_name.h"

namespace refrain::format::spool {

namespace {

// Together with what one more rank may add (read.cc): no overflow.
constexpr uint64_t kMaxAllCalls = uint64_t{1} << 62;

std::string name_of(uint32_t call) { return mpi::call_name(static_cast<mpi::CallId>(call)); }

// "0-3, 7", at most about 200 characters.
std::string list_of(const std::vector<uint64_t>& ranks) {
  constexpr size_t kMaxText = 200;
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (text.size() > kMaxText) return text + ", ...";
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) text.append("-").append(std::to_string(ranks[end - 1]));
    i = end;
  }
  return text;
}

// Whether a trace may have the definitions; all else is looked at by leaf().
bool are_good(const std::vector<Definition>& definitions, uint64_t world_size) {
  TraceData alone;
  alone.meta.ranks = world_size;
  alone.meta.complete = false;
  alone.definitions = definitions;
  const std::vector<Finding> findings = check_content(alone, SIZE_MAX);
  return std::none_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.section == to_string(SectionType::kDefinitions);
  });
}

int64_t one_rank(const std::vector<uint64_t>& ranks) {
  return ranks.size() == 1 ? static_cast<int64_t>(ranks[0]) : -1;
}

}  // namespace

// A rank's place is that of the thread that was active last.
void PostMortem::note(const RankSpool& r) {
  Last last;
  last.rank = r.record.rank;
  last.state = r.header.state;
  last.time_ns = r.header.opened_realtime_ns;
  uint64_t held = 0;
  for (const Progress& p : r.threads) {
    held += p.held_calls;
    if (p.last_time_ns < last.time_ns) continue;
    last.time_ns = p.last_time_ns;
    last.open_call = p.open_call;
    last.last_call = p.last_call;
  }
  lasts_.push_back(last);
  const auto rank = static_cast<int64_t>(last.rank);
  if (held > 0)
    losses_.push_back({"held_back", held, rank,
                       "calls behind a receive that had not ended: its size was to decide"});
  if (r.header.state == State::kStopped) {
    whole_ = false;
    const std::string why =
        r.header.error == ECANCELED
            ? "a signal handler jumped out of the recorder"
            : "its spool could not grow (errno " + std::to_string(r.header.error) + ")";
    losses_.push_back({"spool_stopped", 0, rank, why + ": later calls are not here"});
  }
  for (const std::string& what : r.damage) {
    whole_ = false;
    losses_.push_back({"spool_damaged", 0, rank, what});
  }
}

base::Status PostMortem::add(RankSpool rank) {
  if (world_size_ == 0) world_size_ = rank.header.world_size;
  const RankSpool& r = rank;
  const uint64_t number = r.record.rank;
  if (r.header.world_size != world_size_ || (!lasts_.empty() && number <= lasts_.back().rank))
    return base::fail("does not belong to the same job as the others");
  // Sums over all ranks must fit: the format allows less than 2^64 calls.
  for (const Progress& p : r.threads) calls_ += p.calls;
  if (calls_ > kMaxAllCalls) {
    add_missing(number, "more calls than any job can make");
    return base::fail("more calls than any job can make");
  }
  if (!wants_totals(r.record)) leave_out_totals(rank.record);
  auto part = are_good(r.record.definitions, world_size_)
                  ? leaf(r.record, world_size_)
                  : base::Result<PartialTrace>(base::fail("it has a definition that is none"));
  if (!part.ok()) {
    add_missing(number, "its record contradicts itself");
    return part.error();
  }
  note(rank);
  ++found_;
  return put(std::move(part.value()));
}

base::Status PostMortem::put(PartialTrace part) {
  stack_.push_back(std::move(part));
  sizes_.push_back(1);
  while (sizes_.size() > 1 && sizes_[sizes_.size() - 2] == sizes_.back()) {
    PartialTrace top = std::move(stack_.back());
    stack_.pop_back();
    auto both = merge(std::move(stack_.back()), std::move(top));
    if (!both.ok()) return both.error();
    stack_.back() = std::move(both.value());
    sizes_.pop_back();
    sizes_.back() *= 2;
  }
  return base::Done{};
}

void PostMortem::add_missing(uint64_t rank, const std::string& why) {
  whole_ = false;
  if (losses_.size() < kMaxTexts && (world_size_ == 0 || rank < world_size_))
    losses_.push_back({"rank_missing", 0, static_cast<int64_t>(rank), why});
}

// When a rank dies, the others wait for it in MPI until the launcher kills them; so first in line
// are those that gave up on purpose, then those that were not in MPI, and last those inside of it.
// Among these, the one that was not heard of for the longest time.
const PostMortem::Last* PostMortem::first_to_die() const {
  const auto order = [](const Last& l) {
    if (l.open_call == mpi::kMPI_Abort) return 0;
    if (l.state == State::kExited) return 1;
    return l.open_call == 0 ? 2 : 3;
  };
  const auto first =
      std::min_element(lasts_.begin(), lasts_.end(), [&](const Last& a, const Last& b) {
        return std::pair(order(a), a.time_ns) < std::pair(order(b), b.time_ns);
      });
  return first == lasts_.end() ? nullptr : &*first;
}

void PostMortem::add_open_calls(std::vector<LossRecord>& losses) const {
  std::map<uint32_t, std::vector<uint64_t>> by_call;
  for (const Last& l : lasts_)
    if (l.open_call != 0) by_call[l.open_call].push_back(l.rank);
  for (const auto& [call, ranks] : by_call) {
    // MPI_Abort and MPI_Finalize are in the trace: they are recorded before they end the job.
    const bool recorded = call == mpi::kMPI_Abort || call == mpi::kMPI_Finalize;
    losses.push_back({"call_open", recorded ? 0 : ranks.size(), one_rank(ranks),
                      "in " + name_of(call) + ": rank " + list_of(ranks)});
  }
}

// Ranks that nobody spoke of.
void PostMortem::add_absent(std::vector<LossRecord>& losses) {
  std::vector<bool> seen(world_size_);
  for (const Last& l : lasts_) seen[l.rank] = true;
  for (const LossRecord& l : losses_)
    if (l.reason == "rank_missing" && static_cast<uint64_t>(l.rank) < world_size_)
      seen[static_cast<size_t>(l.rank)] = true;
  std::vector<uint64_t> absent;
  for (uint64_t rank = 0; rank < world_size_; ++rank)
    if (!seen[rank]) absent.push_back(rank);
  if (absent.empty()) return;
  whole_ = false;
  losses.push_back(
      {"rank_missing", 0, one_rank(absent), "no spool file of rank " + list_of(absent)});
}

base::Result<TraceData> PostMortem::finish() {
  if (stack_.empty()) return base::fail("no rank's record could be read");
  while (stack_.size() > 1) {
    PartialTrace top = std::move(stack_.back());
    stack_.pop_back();
    auto both = merge(std::move(stack_.back()), std::move(top));
    if (!both.ok()) return both.error();
    stack_.back() = std::move(both.value());
  }
  auto trace = format::finish(std::move(stack_.front()));
  if (!trace.ok()) return trace.error();
  trace->meta.complete = false;
  trace->losses = all_losses(std::move(trace->losses));
  return trace;
}

// What the ranks themselves had lost comes last.
std::vector<LossRecord> PostMortem::all_losses(std::vector<LossRecord> own) {
  std::vector<LossRecord> losses;
  const bool finished = std::all_of(lasts_.begin(), lasts_.end(), [](const Last& l) {
    return l.state == State::kFinishing || l.state == State::kDone || l.state == State::kLeft;
  });
  if (finished) {
    story_ = "all of them were in MPI_Finalize";
    losses.push_back(
        {"unfinished", 0, -1, "every rank came to MPI_Finalize, which wrote no trace"});
  } else {
    losses.push_back({"unfinished", 0, -1, "the run did not come to the end of MPI_Finalize"});
    add_death(losses);
    add_open_calls(losses);
  }
  losses.insert(losses.end(), losses_.begin(), losses_.end());
  for (LossRecord& l : own)
    if (l.reason != "rank_missing") losses.push_back(std::move(l));
  add_absent(losses);
  return losses;
}

void PostMortem::add_death(std::vector<LossRecord>& losses) {
  const Last& first = *first_to_die();
  uint64_t latest = 0;
  for (const Last& l : lasts_) latest = std::max(latest, l.time_ns);
  if (first.open_call != 0) {
    story_ = "in " + name_of(first.open_call);
  } else if (first.last_call != 0) {
    story_ = "outside MPI, after " + name_of(first.last_call);
  } else {
    story_ = "before its first call";
  }
  const bool says_so = first.open_call == mpi::kMPI_Abort;
  if (says_so) story_ = "by MPI_Abort";
  if (first.state == State::kExited && !says_so)
    story_ += first.open_call == 0 ? ", by exit" : ", by exit or a fatal error of MPI";
  const uint64_t before_us = (latest - first.time_ns) / 1000;
  story_ += before_us == 0
                ? ", the last sign of any rank"
                : ", " + std::to_string(before_us) + " us before the last sign of any rank";
  losses.push_back({"died_first", 0, static_cast<int64_t>(first.rank), story_});
  story_ = "rank " + std::to_string(first.rank) + " died first, " + story_;
}

}  // namespace refrain::format::spool
