#include "proxy/recorded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/runs.h"
#include "events/buffers/attached.h"
#include "events/comms.h"
#include "events/op.h"
#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "proxy/calls.h"
#include "reader/call_gaps.h"
#include "reader/internal.h"
#include "refrain/calls.h"

namespace refrain::proxy {
namespace {

constexpr int64_t kUnknown = -1'000'000'000;  // as the header's

using Sequence = std::pair<std::vector<int64_t>, std::vector<int64_t>>;  // sources, tags

// One rank's walk through its calls.
class Walk {
 public:
  Walk(Symbolic& symbolic, const Family& family, const Kind& kind)
      : symbolic_(symbolic), sums(family.terminals()), counts(family.terminals()) {
    for (uint32_t t = 0; t < family.terminals(); ++t) {
      terminals_[kind.signature(t)] = t;
    }
    for (const grammar::Symbol& symbol : kind.grammar->symbols)
      if (!symbol.is_rule && takes_any(symbolic, kind, kind.signature(symbol.id))) taken[symbol.id];
    for (uint32_t t = 0; t < family.terminals(); ++t)
      if (symbolic.trace().call_of(kind.signature(t)) == mpi::kMPI_Win_attach) attached[t];
  }

  base::Status run(const Kind& kind, Rank rank, bool with_times) {
    const Trace& trace = symbolic_.trace();
    RankReader reader(trace, rank, with_times ? Times::kRead : Times::kSkip);
    std::map<uint64_t, int64_t> addresses;
    if (!attached.empty()) addresses = events::attached_addresses(reader, kind.thread);
    events::CommTable comms(trace);
    events::Decoder::Places places;
    events::Decoder decoder(reader, comms, places);
    reader::CallGaps gaps(trace, rank, kind.thread);
    std::unordered_map<SignatureId, std::pair<uint32_t, size_t>> open;
    return reader.for_each_call(kind.thread, [&](const Call& call) {
      const auto known = terminals_.find(call.signature->id);
      if (known == terminals_.end()) return true;
      const uint32_t t = known->second;
      if (const auto gap = gaps.before(call); gap) {
        sums[t] += static_cast<double>(*gap);
        ++counts[t];
      }
      if (const auto it = attached.find(t); it != attached.end() && !call.signature->failed()) {
        const auto at = addresses.find(call.seq);
        const Value* base = call.signature->find("base");
        const bool is_memory = base != nullptr && base->kind != ValueKind::kConstant;
        lacks_address = lacks_address || (is_memory && at == addresses.end());
        if (is_memory) it->second.push_back(at == addresses.end() ? 0 : at->second);
      }
      if (taken.empty()) return true;
      const events::Op& op = decoder.op(*call.signature);
      for (const events::RequestUse& use : op.requests) {
        const auto posted = open.find(use.request);
        if (posted == open.end()) continue;
        Sequence& sequence = taken[posted->second.first];
        if (use.has_message) {
          sequence.first[posted->second.second] = use.source;
          sequence.second[posted->second.second] = use.tag;
        }
        open.erase(posted);
      }
      if (const auto it = taken.find(t); it != taken.end()) {
        open[call.signature->id] = {t, it->second.first.size()};
        it->second.first.push_back(kUnknown);
        it->second.second.push_back(kUnknown);
      }
      return true;
    });
  }

 private:
  Symbolic& symbolic_;
  std::unordered_map<SignatureId, uint32_t> terminals_;

 public:
  std::map<uint32_t, Sequence> taken;
  std::map<uint32_t, std::vector<int64_t>> attached;  // addresses in dynamic windows
  bool lacks_address = false;
  std::vector<double> sums;  // of times before each terminal, ns
  std::vector<uint64_t> counts;
};

std::string table_text(const std::vector<int64_t>& values) {
  base::RunList list;
  for (const int64_t v : values) list.append(v);
  std::string out;
  for (const base::RunList::Run& run : list.runs())
    out += fmt::format("{}{{{}, {}, {}}}", out.empty() ? "" : ", ", run.start, run.step, run.count);
  return "Table{" + out + "}";
}

// What the ranks of a family took in one receive: sequences, each once.
struct Sequences {
  std::vector<Sequence> different;
  std::vector<int64_t> of_rank;

  void add(Rank rank, const Sequence& sequence, size_t ranks) {
    of_rank.resize(ranks);
    auto known = std::find(different.begin(), different.end(), sequence);
    if (known == different.end()) known = different.insert(known, sequence);
    of_rank[static_cast<size_t>(rank)] = known - different.begin();
  }
  std::string text(bool has_tags) const {
    std::string all;
    for (const Sequence& s : different) {
      if (!all.empty()) all += ", ";
      all += has_tags ? fmt::format("{{{}, {}}}", table_text(s.first), table_text(s.second))
                      : table_text(s.first);
    }
    return "{" + all + "}, " + table_text(of_rank);
  }
};

// Definitions of them, and their names.
void name_sequences(const std::map<uint32_t, Sequences>& attached,
                    const std::map<uint32_t, Sequences>& sequences, Recorded& recorded,
                    RecordedTexts& texts) {
  for (const auto& [terminal, all] : attached) {
    recorded.taken[terminal] = fmt::format("attached_{}", texts.taken.size());
    texts.taken.push_back(
        fmt::format("Attached {}({});", recorded.taken[terminal], all.text(false)));
  }
  for (const auto& [terminal, all] : sequences) {
    recorded.taken[terminal] = fmt::format("taken_{}", texts.taken.size());
    texts.taken.push_back(fmt::format("Taken {}({});", recorded.taken[terminal], all.text(true)));
  }
}

// What each rank computes, in parts of the mean.
void take_shares(const Family& family, const std::vector<double>& own, uint64_t members,
                 std::vector<double>& share) {
  double mean = 0;
  for (const double one : own) mean += one;
  mean /= static_cast<double>(std::max<uint64_t>(members, 1));
  for (const Kind& kind : family.kinds)
    kind.for_each_rank([&](Rank rank) {
      if (mean > 0) share[static_cast<size_t>(rank)] = own[static_cast<size_t>(rank)] / mean;
    });
}

// Before each terminal's calls, from what `record --gaps` keeps.
std::vector<double> gaps_of_statistics(const Trace& trace, const Family& family) {
  std::vector<double> out(family.terminals());
  for (uint32_t t = 0; t < out.size(); ++t) {
    double sum = 0, count = 0;
    for (const Kind& kind : family.kinds) {
      const Durations gaps = trace.gaps(kind.signature(t));
      sum += gaps.sum_ns;
      count += static_cast<double>(gaps.count);
    }
    if (count > 0) out[t] = sum / count;
  }
  return out;
}

}  // namespace

base::Result<std::vector<Recorded>> recorded_of(Symbolic& symbolic,
                                                const std::vector<Family>& families,
                                                RecordedTexts& texts) {
  const Trace& trace = symbolic.trace();
  const format::TraceData& data = reader::data_of(trace);
  const auto ranks = static_cast<size_t>(trace.rank_count());
  const bool with_times = trace.has_times();
  bool has_totals = false;
  for (const format::RankTotals& t : data.totals) has_totals = has_totals || t.outside_ns > 0;
  const bool with_gaps = !with_times && trace.has_gaps();
  texts.compute = with_times   ? "times of calls"
                  : with_gaps  ? "gaps of signatures"
                  : has_totals ? "totals of ranks"
                               : "nothing";
  texts.share.assign(ranks, 1.0);
  std::vector<Recorded> out;
  for (const Family& family : families) {
    Recorded& recorded = out.emplace_back();
    std::map<uint32_t, Sequences> sequences, attached;
    bool lacks_address = false;
    std::vector<double> sums(family.terminals()), own(ranks);
    std::vector<uint64_t> counts(family.terminals());
    uint64_t calls = 0, members = 0;
    double outside = 0;
    for (const Kind& kind : family.kinds) {
      const Walk first(symbolic, family, kind);
      const bool has_any = !first.taken.empty() || !first.attached.empty();
      base::Status done = base::Done{};
      kind.for_each_rank([&](Rank rank) {
        ++members;
        if (!with_times && static_cast<size_t>(rank) < data.totals.size()) {
          own[static_cast<size_t>(rank)] =
              static_cast<double>(data.totals[static_cast<size_t>(rank)].outside_ns);
          outside += own[static_cast<size_t>(rank)];
          for (const Location& location : trace.locations(rank)) calls += location.calls;
        }
        if (!done.ok() || (!with_times && !has_any)) return;
        Walk walk(symbolic, family, kind);
        done = walk.run(kind, rank, with_times);
        for (const auto& [terminal, sequence] : walk.taken)
          sequences[terminal].add(rank, sequence, ranks);
        for (const auto& [terminal, addresses] : walk.attached)
          attached[terminal].add(rank, {addresses, {}}, ranks);
        lacks_address = lacks_address || walk.lacks_address;
        for (size_t t = 0; t < sums.size(); ++t) {
          sums[t] += walk.sums[t], counts[t] += walk.counts[t];
          own[static_cast<size_t>(rank)] += walk.sums[t];
        }
      });
      if (!done.ok()) return done.error();
    }
    if (lacks_address)
      return base::unsupported(
          "MPI_Win_attach cannot be made again: the trace does not tell where its memory was",
          trace.name());
    name_sequences(attached, sequences, recorded, texts);
    recorded.gap_ns.assign(family.terminals(), 0);
    for (size_t t = 0; t < sums.size(); ++t)
      if (counts[t] > 0) recorded.gap_ns[t] = sums[t] / static_cast<double>(counts[t]);
    if (with_gaps)
      recorded.gap_ns = gaps_of_statistics(trace, family);
    else if (!with_times && calls > 0)
      recorded.any_gap_ns = outside / static_cast<double>(calls);
    if (family.thread() != 0) continue;  // the program has shares of ranks alone
    take_shares(family, own, members, texts.share);
  }
  return out;
}

}  // namespace refrain::proxy
