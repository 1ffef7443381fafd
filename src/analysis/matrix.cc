#include "analysis/matrix.h"

#include <map>
#include <utility>

#include "events/payload.h"
#include "mpi/call_table.h"

namespace refrain::analysis {
namespace {

bool is_wanted(events::TransferKind transfer, MatrixKind kind) {
  if (transfer == events::TransferKind::kP2p) return kind != MatrixKind::kRma;
  return transfer == events::TransferKind::kRma && kind != MatrixKind::kP2p;
}

// Whether a call moves something from one rank to another.
bool is_sender(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  if (info == nullptr || info->persistent) return false;
  return info->traffic == mpi::Traffic::kSend || info->traffic == mpi::Traffic::kStart ||
         info->traffic == mpi::Traffic::kRma;
}

// Whether it carries data and does not say from whom to whom.
bool is_collective(CallId call) {
  const mpi::CallInfo* info = mpi::find_call(call);
  return info != nullptr && !info->persistent && info->group == mpi::CallGroup::kColl &&
         info->traffic != mpi::Traffic::kNothing;
}

// Signatures of a group that move something from one rank to another.
std::vector<Trace::Occurrence> senders(const Trace& trace, GroupId group) {
  std::vector<Trace::Occurrence> out;
  for (const Trace::Occurrence& seen : trace.occurrences(group))
    if (seen.calls > 0 && is_sender(trace.call_of(seen.signature))) out.push_back(seen);
  return out;
}

class Cells {
 public:
  Cells(const Trace& trace, MatrixKind kind) {
    out_.rank_count = trace.rank_count();
    out_.kind = kind;
  }

  void count(const events::Transfer& t, uint64_t calls) {
    const uint64_t messages = events::multiply(t.repeat, calls);
    if (!is_wanted(t.kind, out_.kind)) {
      if (is_wanted(t.kind, MatrixKind::kAll))
        out_.other_kind_messages = events::add(out_.other_kind_messages, messages);
      return;
    }
    if (t.source < 0 || t.dest < 0) {
      out_.other_world_messages = events::add(out_.other_world_messages, messages);
      return;
    }
    MatrixEntry& cell = cells_[{t.source, t.dest}];
    cell.messages = events::add(cell.messages, messages);
    cell.bytes = events::add(cell.bytes, events::multiply(t.bytes, messages));
    if (!t.is_sized) out_.unsized_messages = events::add(out_.unsized_messages, messages);
  }

  void count_collective(uint64_t calls) {
    out_.collective_calls = events::add(out_.collective_calls, calls);
  }

  Matrix take() {
    for (auto& [pair, cell] : cells_) {
      cell.source = pair.first;
      cell.dest = pair.second;
      out_.messages = events::add(out_.messages, cell.messages);
      out_.bytes = events::add(out_.bytes, cell.bytes);
      out_.entries.push_back(cell);
    }
    return std::move(out_);
  }

 private:
  std::map<std::pair<Rank, Rank>, MatrixEntry> cells_;
  Matrix out_;
};

}  // namespace

Matrix matrix(const Trace& trace, MatrixKind kind) {
  Cells cells(trace, kind);
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    for (const Trace::Occurrence& seen : trace.occurrences(g))
      if (is_collective(trace.call_of(seen.signature)))
        cells.count_collective(events::multiply(seen.calls, trace.group_size(g)));
    const std::vector<Trace::Occurrence> signatures = senders(trace, g);
    for (uint64_t i = 0; !signatures.empty() && i < trace.group_size(g); ++i) {
      RankReader reader(trace, trace.group_rank(g, i));
      events::TransferReader transfers(reader);
      for (const Trace::Occurrence& seen : signatures)
        for (const events::Transfer& t : transfers.transfers(seen.signature))
          cells.count(t, seen.calls);
    }
  }
  return cells.take();
}

Result<Matrix> matrix(const Trace& trace, MatrixKind kind, const Window& window) {
  if (const Status good = check_window(trace, window); !good.ok()) return good.error();
  if (window.is_all()) return matrix(trace, kind);
  Cells cells(trace, kind);
  uint64_t untimed = 0;
  for (Rank rank = 0; rank < trace.rank_count(); ++rank) {
    if (!trace.group_of(rank)) continue;
    RankReader reader(trace, rank, Times::kRead);
    const auto mine = rank_in_window(reader, window);
    if (!mine.ok()) return mine.error();
    untimed += mine->untimed;
    events::TransferReader transfers(reader);
    for (const CallsInWindow& of : mine->calls) {
      if (is_collective(trace.call_of(of.signature))) cells.count_collective(of.begun);
      if (of.begun == 0 || !is_sender(trace.call_of(of.signature))) continue;
      for (const events::Transfer& t : transfers.transfers(of.signature)) cells.count(t, of.begun);
    }
  }
  Matrix out = cells.take();
  out.untimed_calls = untimed;
  return out;
}

}  // namespace refrain::analysis
