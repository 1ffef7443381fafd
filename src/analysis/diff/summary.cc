#include "analysis/diff/summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>

#include "analysis/diff/call_words.h"
#include "events/buffers/transfers.h"
#include "events/payload.h"
#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"
#include "reader/internal.h"

namespace refrain::analysis::diff {
namespace {

// Calls of one signature, the same way by every rank of a group.
struct Shared {
  Trace::Occurrence seen;
  bool is_sender = false;        // hands in something
  bool differs_by_rank = false;  // decoded for each rank
  bool is_poll = false;
  bool failed = false;
};

using RowKey = std::pair<DefinitionId, CallId>;

struct Building {
  CallRow row;
  std::map<Words, SignatureRow> signatures;
};

CallTimes times_of(const format::DurationStats& stats) {
  CallTimes out;
  out.calls = static_cast<double>(stats.count);
  if (std::isfinite(stats.sum_ns) && stats.sum_ns > 0) out.sum_ns = stats.sum_ns;
  double n = 0, sum = 0, squares = 0;
  for (size_t i = stats.histogram.first(); i < stats.histogram.first() + stats.histogram.used();
       ++i) {
    const auto in_bucket = static_cast<double>(stats.histogram[i]);
    const double centre = std::ldexp(1.5, static_cast<int>(i));
    n += in_bucket;
    sum += in_bucket * centre;
    squares += in_bucket * centre * centre;
  }
  // The histogram tells the spread, the sum the mean.
  const double spread = n > 0 && sum > 0 ? squares * n / (sum * sum) : 1;
  if (out.calls > 0) out.squares_ns2 = spread * out.sum_ns * out.sum_ns / out.calls;
  return out;
}

class Folder {
 public:
  Folder(const Trace& trace, uint64_t compared_ranks)
      : trace_(trace), graphs_(trace), compared_ranks_(compared_ranks) {
    out_.row_of_signature.assign(trace.signature_count(), Summary::kNoRow);
    calls_.assign(trace.signature_count(), 0);
  }

  Summary run() {
    for (GroupId g = 0; g < trace_.group_count(); ++g) fold_group(g);
    for (const format::RankTotals& totals : reader::data_of(trace_).totals)
      out_.in_mpi_ns.push_back(static_cast<double>(totals.in_mpi_ns));
    finish();
    return std::move(out_);
  }

 private:
  std::vector<Shared> shared_of(RankReader& first, const std::vector<Trace::Occurrence>& calls) {
    std::vector<Shared> out;
    for (const Trace::Occurrence& seen : calls) {
      if (seen.calls == 0) continue;
      const CallId id = trace_.call_of(seen.signature);
      const mpi::CallInfo* info = mpi::find_call(id);
      Shared shared;
      shared.seen = seen;
      shared.is_poll = is_poll(id);
      shared.failed = first.signature(seen.signature).failed();
      shared.is_sender = info != nullptr && info->traffic != mpi::Traffic::kNothing &&
                         info->traffic != mpi::Traffic::kRecv && !info->persistent;
      shared.differs_by_rank = shared.is_sender || has_rank(info);
      for (const format::RankExpr& slot : reader::data_of(trace_).signatures[seen.signature].slots)
        shared.differs_by_rank =
            shared.differs_by_rank || slot.kind != format::RankExpr::Kind::kConst;
      out.push_back(shared);
    }
    return out;
  }

  static bool has_rank(const mpi::CallInfo* info) {
    return info != nullptr &&
           std::any_of(info->params.begin(), info->params.end(),
                       [](const mpi::ParamInfo& p) { return p.kind == mpi::ParamKind::kRank; });
  }

  void fold_group(GroupId group) {
    const uint64_t ranks = trace_.group_size(group);
    if (ranks == 0) return;
    out_.ranks += ranks;
    const std::vector<Trace::Occurrence> calls = trace_.occurrences(group);
    RankReader first(trace_, trace_.group_rank(group, 0));
    RankReader last(trace_, trace_.group_rank(group, ranks - 1));
    const std::vector<Shared> signatures = shared_of(first, calls);
    const Grids grids = grids_of(first, calls);
    fold_rank(first, ranks > 1 ? &last : nullptr, grids, signatures, ranks, true);
    const bool is_all = std::none_of(signatures.begin(), signatures.end(),
                                     [](const Shared& s) { return s.differs_by_rank; });
    for (uint64_t i = 1; i < ranks && !is_all; ++i) {
      RankReader reader(trace_, trace_.group_rank(group, i));
      fold_rank(reader, &first, grids, signatures, 1, false);
    }
  }

  // `ranks`: for how many ranks the calls that are the same for all stand.
  void fold_rank(RankReader& reader, RankReader* other, const Grids& grids,
                 const std::vector<Shared>& signatures, uint64_t ranks, bool is_first) {
    WordMaker maker(reader, other, grids, compared_ranks_);
    events::TransferReader transfers(reader, graphs_);
    for (const Shared& s : signatures) {
      if (!is_first && !s.differs_by_rank) continue;
      const uint64_t times = s.differs_by_rank ? 1 : ranks;
      const Signature& call = reader.signature(s.seen.signature);
      Building& building = rows_[{call.site, call.call}];
      if (is_first) first_path_.emplace(s.seen.signature, RowKey{call.site, call.call});
      Counts counts = counts_of(s, times);
      if (s.is_sender) count_transfers(transfers, maker, call, s.seen, counts);
      SignatureRow& row = building.signatures[maker.words(s.seen.signature)];
      row.counts.add(counts);
      row.ranks += times;
      calls_[s.seen.signature] = events::add(calls_[s.seen.signature], counts.calls + counts.polls);
      cells_[{s.seen.signature, call.site}] =
          events::add(cells_[{s.seen.signature, call.site}], counts.calls + counts.polls);
    }
  }

  static Counts counts_of(const Shared& s, uint64_t ranks) {
    Counts out;
    const uint64_t calls = events::multiply(s.seen.calls, ranks);
    (s.is_poll ? out.polls : out.calls) = calls;
    if (s.failed) out.failed = calls;
    return out;
  }

  void count_transfers(events::TransferReader& transfers, const WordMaker& maker,
                       const Signature& call, const Trace::Occurrence& seen, Counts& counts) {
    const mpi::CallInfo& info = *mpi::find_call(call.call);
    const auto me = trace_.rank_count();
    for (const events::Transfer& t : transfers.transfers(seen.signature)) {
      const uint64_t times = events::multiply(t.repeat, seen.calls);
      const uint64_t bytes = events::multiply(t.bytes, times);
      counts.bytes = events::add(counts.bytes, bytes);
      if (!t.is_sized) counts.unsized = events::add(counts.unsized, times);
      if (t.kind != events::TransferKind::kP2p && t.kind != events::TransferKind::kRma) continue;
      counts.messages = events::add(counts.messages, times);
      const uint64_t one_sided = t.kind == events::TransferKind::kRma ? times : 0;
      counts.one_sided = events::add(counts.one_sided, one_sided);
      std::string label = "of another world";
      if (t.source >= 0 && t.dest >= 0) {
        put(out_.partners[{t.source, t.dest}], times, one_sided, bytes);
        const auto peer = static_cast<size_t>(info.peer_param);
        const bool is_direct = info.peer_param >= 0 && peer < call.args.size();
        label = is_direct ? maker.partner(call, call.args[peer].value.at_entry())
                          : world_distance(t.dest - t.source, me);
      }
      put(out_.relative_partners[label], times, one_sided, bytes);
    }
  }

  static std::string world_distance(int64_t distance, int64_t size) {
    if (distance > size / 2) distance -= size;
    if (distance < -(size - 1) / 2) distance += size;
    if (distance == 0) return "me";
    return (distance < 0 ? "me" : "me+") + std::to_string(distance);
  }

  static void put(Traffic& traffic, uint64_t messages, uint64_t one_sided, uint64_t bytes) {
    traffic.messages = events::add(traffic.messages, messages);
    traffic.one_sided = events::add(traffic.one_sided, one_sided);
    traffic.bytes = events::add(traffic.bytes, bytes);
  }

  void share_times() {
    for (const auto& [key, calls] : cells_) {
      const auto [signature, path] = key;
      if (calls_[signature] == 0) continue;
      CallTimes times = times_of(reader::data_of(trace_).durations[signature]);
      const double share = static_cast<double>(calls) / static_cast<double>(calls_[signature]);
      times.calls *= share;
      times.sum_ns *= share;
      times.squares_ns2 *= share;
      rows_[{path, trace_.call_of(signature)}].row.times.add(times);
    }
  }

  void finish() {
    share_times();
    std::map<RowKey, uint32_t> index;
    for (auto& [key, building] : rows_) {
      index[key] = static_cast<uint32_t>(out_.rows.size());
      CallRow& row = building.row;
      std::tie(row.path, row.call) = key;
      for (auto& [words, signature] : building.signatures) {
        signature.words = words;
        row.counts.add(signature.counts);
        row.signatures.push_back(std::move(signature));
      }
      out_.all.add(row.counts);
      out_.times.add(row.times);
      out_.rows.push_back(std::move(row));
    }
    for (const auto& [signature, key] : first_path_) out_.row_of_signature[signature] = index[key];
  }

  const Trace& trace_;
  events::GraphDegrees graphs_;
  const uint64_t compared_ranks_;
  std::map<RowKey, Building> rows_;
  std::vector<uint64_t> calls_;  // of all ranks, by signature
  std::map<std::pair<SignatureId, DefinitionId>, uint64_t> cells_;
  std::map<SignatureId, RowKey> first_path_;
  Summary out_;
};

}  // namespace

void Counts::add(const Counts& other) {
  calls = events::add(calls, other.calls);
  polls = events::add(polls, other.polls);
  failed = events::add(failed, other.failed);
  bytes = events::add(bytes, other.bytes);
  messages = events::add(messages, other.messages);
  one_sided = events::add(one_sided, other.one_sided);
  unsized = events::add(unsized, other.unsized);
}

void CallTimes::add(const CallTimes& other) {
  calls += other.calls;
  sum_ns += other.sum_ns;
  squares_ns2 += other.squares_ns2;
}

double CallTimes::variation() const {
  if (!(calls > 0) || !(sum_ns > 0)) return 0;
  const double relative = squares_ns2 * calls / (sum_ns * sum_ns) - 1;
  return relative > 0 ? std::sqrt(relative) : 0;
}

bool is_poll(CallId call) {
  // MPI_Waitsome is called as often as the others are late.
  return mpi::meaning_of(call).how == mpi::How::kPolls || call == mpi::kMPI_Waitsome;
}

Summary summarise(const Trace& trace, uint64_t compared_ranks) {
  return Folder(trace, compared_ranks).run();
}

}  // namespace refrain::analysis::diff
