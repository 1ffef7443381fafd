#include "analysis/matrix.h"

#include <map>
#include <utility>

#include "analysis/payload.h"
#include "mpi/call_table.h"

namespace refrain::analysis {
namespace {

bool is_wanted(TransferKind transfer, MatrixKind kind) {
  if (transfer == TransferKind::kP2p) return kind != MatrixKind::kRma;
  return transfer == TransferKind::kRma && kind != MatrixKind::kP2p;
}

// Signatures of a group that move something from one rank to another.
std::vector<Trace::Occurrence> senders(const Trace& trace, GroupId group) {
  std::vector<Trace::Occurrence> out;
  for (const Trace::Occurrence& seen : trace.occurrences(group)) {
    const mpi::CallInfo* info = mpi::find_call(trace.call_of(seen.signature));
    if (info == nullptr || info->persistent || seen.calls == 0) continue;
    if (info->traffic == mpi::Traffic::kSend || info->traffic == mpi::Traffic::kStart ||
        info->traffic == mpi::Traffic::kRma)
      out.push_back(seen);
  }
  return out;
}

}  // namespace

Matrix matrix(const Trace& trace, MatrixKind kind) {
  Matrix out;
  out.rank_count = trace.rank_count();
  std::map<std::pair<Rank, Rank>, MatrixEntry> cells;
  const auto count = [&](const Transfer& t, uint64_t calls) {
    const uint64_t messages = multiply(t.repeat, calls);
    if (t.source < 0 || t.dest < 0) {
      out.other_world_messages = add(out.other_world_messages, messages);
      return;
    }
    MatrixEntry& cell = cells[{t.source, t.dest}];
    cell.messages = add(cell.messages, messages);
    cell.bytes = add(cell.bytes, multiply(t.bytes, messages));
    if (!t.is_sized) out.unsized_messages = add(out.unsized_messages, messages);
  };
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const std::vector<Trace::Occurrence> signatures = senders(trace, g);
    for (uint64_t i = 0; !signatures.empty() && i < trace.group_size(g); ++i) {
      RankReader reader(trace, trace.group_rank(g, i));
      TransferReader transfers(reader);
      for (const Trace::Occurrence& seen : signatures)
        for (const Transfer& t : transfers.transfers(seen.signature))
          if (is_wanted(t.kind, kind)) count(t, seen.calls);
    }
  }
  for (auto& [pair, cell] : cells) {
    cell.source = pair.first;
    cell.dest = pair.second;
    out.messages = add(out.messages, cell.messages);
    out.bytes = add(out.bytes, cell.bytes);
    out.entries.push_back(cell);
  }
  return out;
}

}  // namespace refrain::analysis
