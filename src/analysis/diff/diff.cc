#include "analysis/diff/diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/diff/noise.h"
#include "analysis/diff/signatures.h"
#include "analysis/waits/wait_states.h"

namespace refrain::analysis::diff {
namespace {

using RowKey = std::pair<DefinitionId, CallId>;

// What waiting there was in one run.
struct Waiting {
  std::map<RowKey, double> by_row;
  std::array<std::vector<double>, waits::kPatterns> by_rank;  // ns, of a pattern and what is in it
};

// What is not there has a reason in `side`.
Waiting waiting_of(const Trace& trace, Side& side) {
  Waiting out;
  events::TraceCalls calls(trace);
  const auto found = waits::wait_states(trace, calls, {});
  if (!found.ok()) return side.no_waits = found.error().message, out;
  side.has_waits = true;
  for (auto& ranks : out.by_rank) ranks.assign(static_cast<size_t>(trace.rank_count()), 0);
  for (const waits::Severity& s : found->severities) {
    const auto ns = static_cast<double>(s.ns);
    out.by_row[{s.path, s.call}] += ns;
    for (auto pattern = s.pattern;; pattern = waits::parent_of(pattern)) {
      out.by_rank[static_cast<size_t>(pattern)][static_cast<size_t>(s.rank)] += ns;
      if (pattern == waits::Pattern::kAll) break;
    }
  }
  return out;
}

Amounts amounts_of(const Counts& counts, double time_ns, double ranks) {
  const auto of = [ranks](uint64_t n) { return static_cast<double>(n) / ranks; };
  return {of(counts.calls),    of(counts.polls),     of(counts.failed), of(counts.bytes),
          of(counts.messages), of(counts.one_sided), time_ns / ranks,   0};
}

// How much of the larger total has changed.
double part(double before, double after, double total_before, double total_after) {
  const double most = std::max(total_before, total_after);
  return is_close(before, after) || !(most > 0) ? 0 : std::abs(after - before) / most;
}

Change change_of(bool is_before, bool is_after, bool is_same) {
  if (!is_before) return Change::kAppeared;
  if (!is_after) return Change::kVanished;
  return is_same ? Change::kSame : Change::kChanged;
}

class Comparison {
 public:
  Comparison(const Trace& before, const Trace& after, reader::Symbols& symbols,
             const Options& options)
      : traces_{&before, &after}, symbols_(symbols), options_(options) {
    out_.same_ranks = before.rank_count() == after.rank_count();
    for (size_t s = 0; s < 2; ++s) {
      sums_[s] = summarise(*traces_[s], static_cast<uint64_t>(traces_[1 - s]->rank_count()));
      ranks_[s] = out_.same_ranks || sums_[s].ranks == 0 ? 1 : static_cast<double>(sums_[s].ranks);
    }
  }

  Diff run() {
    take_waits();
    take_totals();
    const std::vector<PlacePair> pairs =
        align(*traces_[0], sums_[0], *traces_[1], sums_[1], symbols_);
    for (const PlacePair& pair : pairs) compare_calls(pair);
    const std::vector<uint32_t> place_of_pair = sort_calls();
    compare_loops(pairs, place_of_pair);
    if (out_.same_ranks)
      compare_partners(sums_[0].partners, sums_[1].partners);
    else
      compare_partners(sums_[0].relative_partners, sums_[1].relative_partners);
    compare_waits();
    return std::move(out_);
  }

 private:
  void take_waits() {
    const bool both = traces_[0]->has_times() && traces_[1]->has_times();
    for (size_t s = 0; s < 2; ++s) {
      Side& side = out_.sides[s];
      if (!options_.waits)
        side.no_waits = "nobody asked for them";
      else if (!traces_[s]->has_times())
        side.no_waits = "the trace has no times of single calls";
      else if (!both)
        side.no_waits = "the other trace has no times of single calls";
      else
        waiting_[s] = waiting_of(*traces_[s], side);
    }
  }

  void take_totals() {
    for (size_t s = 0; s < 2; ++s) {
      const Summary& sum = sums_[s];
      Side& side = out_.sides[s];
      side.ranks = static_cast<uint64_t>(traces_[s]->rank_count());
      side.places = sum.rows.size();
      side.unsized = sum.all.unsized;
      side.partners = out_.same_ranks ? sum.partners.size() : sum.relative_partners.size();
      for (const CallRow& row : sum.rows) side.signatures += row.signatures.size();
      Amounts& all = s == 0 ? out_.before : out_.after;
      all = amounts_of(sum.all, sum.times.sum_ns, ranks_[s]);
      double squares = 0;
      for (const CallRow& row : sum.rows) squares += std::pow(error(s, row), 2);
      errors_[s] = std::max(std::sqrt(squares), error_of(sum.in_mpi_ns)) / ranks_[s];
    }
    out_.time_noise_ns = noise_of(out_.before.time_ns, errors_[0], out_.after.time_ns, errors_[1]);
  }

  double error(size_t side, const CallRow& row) const {
    return error_of(row.times, static_cast<double>(sums_[side].ranks));
  }

  double waits_of(size_t side, const CallRow& row) const {
    const auto at = waiting_[side].by_row.find({row.path, row.call});
    return at == waiting_[side].by_row.end() ? 0 : at->second / ranks_[side];
  }

  void compare_calls(const PlacePair& pair) {
    static const CallRow kNothing;
    CallChange out;
    out.is_before = pair.before != PlacePair::kNone;
    out.is_after = pair.after != PlacePair::kNone;
    const CallRow& a = out.is_before ? sums_[0].rows[pair.before] : kNothing;
    const CallRow& b = out.is_after ? sums_[1].rows[pair.after] : kNothing;
    out.path_before = a.path;
    out.path_after = b.path;
    out.call = out.is_after ? b.call : a.call;
    out.before = amounts_of(a.counts, a.times.sum_ns, ranks_[0]);
    out.after = amounts_of(b.counts, b.times.sum_ns, ranks_[1]);
    out.before.waits_ns = out.is_before ? waits_of(0, a) : 0;
    out.after.waits_ns = out.is_after ? waits_of(1, b) : 0;
    out.time_noise_ns = noise_of(out.before.time_ns, error(0, a) / ranks_[0], out.after.time_ns,
                                 error(1, b) / ranks_[1]);
    out.signatures_before = a.signatures.size();
    out.signatures_after = b.signatures.size();
    out.signatures = compare_signatures(a.signatures, b.signatures, ranks_[0], ranks_[1]);
    const bool is_same = out.signatures.empty() && is_close(out.before.calls, out.after.calls) &&
                         is_close(out.before.bytes, out.after.bytes) &&
                         is_close(out.before.messages, out.after.messages) &&
                         is_close(out.before.one_sided, out.after.one_sided) &&
                         is_close(out.before.failed, out.after.failed);
    out.change = change_of(out.is_before, out.is_after, is_same);
    out.weight = std::max(
        {part(out.before.calls, out.after.calls, out_.before.calls, out_.after.calls),
         part(out.before.bytes, out.after.bytes, out_.before.bytes, out_.after.bytes),
         part(out.before.messages, out.after.messages, out_.before.messages, out_.after.messages)});
    out_.calls.push_back(std::move(out));
  }

  // Returns where each has gone.
  std::vector<uint32_t> sort_calls() {
    std::vector<uint32_t> order(out_.calls.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
      const CallChange &a = out_.calls[x], &b = out_.calls[y];
      return std::tuple(a.change == Change::kSame, -a.weight) <
             std::tuple(b.change == Change::kSame, -b.weight);
    });
    std::vector<uint32_t> where(order.size());
    std::vector<CallChange> sorted;
    for (uint32_t i = 0; i < order.size(); ++i) {
      where[order[i]] = i;
      sorted.push_back(std::move(out_.calls[order[i]]));
    }
    out_.calls = std::move(sorted);
    return where;
  }

  void compare_loops(const std::vector<PlacePair>& pairs, const std::vector<uint32_t>& where) {
    std::array<Loops, 2> loops;
    for (size_t s = 0; s < 2; ++s)
      loops[s] = loops_of(*traces_[s], sums_[s], pair_of_row(pairs, sums_[s].rows.size(), s == 0));
    const auto calls_of = [&](const Body& body) {
      std::vector<uint32_t> out;
      for (const uint32_t place : body)
        if (place < where.size()) out.push_back(where[place]);
      std::sort(out.begin(), out.end());
      return out;
    };
    for (const LoopPair& pair : match_loops(loops[0], loops[1])) {
      LoopChange out;
      out.iterations_before = pair.before.mean();
      out.iterations_after = pair.after.mean();
      out.entries_before =
          sums_[0].ranks == 0 ? 0 : pair.before.entries / static_cast<double>(sums_[0].ranks);
      out.entries_after =
          sums_[1].ranks == 0 ? 0 : pair.after.entries / static_cast<double>(sums_[1].ranks);
      const bool is_same = pair.body_before == pair.body_after && pair.before.is_like(pair.after);
      out.change = change_of(!pair.body_before.empty(), !pair.body_after.empty(), is_same);
      if (out.change == Change::kSame) continue;
      out.calls_before = calls_of(pair.body_before);
      out.calls_after = calls_of(pair.body_after);
      if (is_of_polls(out)) continue;
      out_.loops.push_back(std::move(out));
    }
    std::stable_sort(out_.loops.begin(), out_.loops.end(),
                     [](const LoopChange& a, const LoopChange& b) {
                       return std::abs(a.iterations_after - a.iterations_before) >
                              std::abs(b.iterations_after - b.iterations_before);
                     });
  }

  // A loop that asks again and again goes round as often as there is time.
  bool is_of_polls(const LoopChange& loop) const {
    for (const auto* calls : {&loop.calls_before, &loop.calls_after})
      for (const uint32_t i : *calls)
        if (is_poll(out_.calls[i].call)) return true;
    return false;
  }

  static void name(const std::pair<Rank, Rank>& ranks, PartnerChange& out) {
    std::tie(out.source, out.dest) = ranks;
  }
  static void name(const std::string& distance, PartnerChange& out) { out.distance = distance; }

  template <class Map>
  void compare_partners(const Map& before, const Map& after) {
    auto a = before.begin();
    auto b = after.begin();
    while (a != before.end() || b != after.end()) {
      PartnerChange out;
      const bool has_a = a != before.end() && (b == after.end() || !(b->first < a->first));
      const bool has_b = b != after.end() && (a == before.end() || !(a->first < b->first));
      name(has_a ? a->first : b->first, out);
      const auto take = [](auto& at, double ranks, double& messages, double& one_sided,
                           double& bytes) {
        messages = static_cast<double>(at->second.messages) / ranks;
        one_sided = static_cast<double>(at->second.one_sided) / ranks;
        bytes = static_cast<double>(at->second.bytes) / ranks;
        ++at;
      };
      if (has_a) take(a, ranks_[0], out.messages_before, out.one_sided_before, out.bytes_before);
      if (has_b) take(b, ranks_[1], out.messages_after, out.one_sided_after, out.bytes_after);
      out.change = change_of(has_a, has_b,
                             is_close(out.messages_before, out.messages_after) &&
                                 is_close(out.one_sided_before, out.one_sided_after) &&
                                 is_close(out.bytes_before, out.bytes_after));
      if (out.change != Change::kSame) out_.partners.push_back(std::move(out));
    }
    std::stable_sort(out_.partners.begin(), out_.partners.end(),
                     [](const PartnerChange& x, const PartnerChange& y) {
                       return std::abs(x.bytes_after - x.bytes_before) >
                              std::abs(y.bytes_after - y.bytes_before);
                     });
  }

  void compare_waits() {
    if (!out_.has_waits()) return;
    for (size_t p = 0; p < waits::kPatterns; ++p) {
      std::array<double, 2> ns{}, error{};
      for (size_t s = 0; s < 2; ++s) {
        const std::vector<double>& ranks = waiting_[s].by_rank[p];
        ns[s] = std::accumulate(ranks.begin(), ranks.end(), 0.0) / ranks_[s];
        // What makes times uncertain makes waits so: they are differences of times.
        const double time = s == 0 ? out_.before.time_ns : out_.after.time_ns;
        error[s] =
            std::max(error_of(ranks) / ranks_[s], time > 0 ? errors_[s] / time * ns[s] : 0.0);
      }
      const double noise = noise_of(ns[0], error[0], ns[1], error[1]);
      if (p == 0) {
        out_.before.waits_ns = ns[0];
        out_.after.waits_ns = ns[1];
        out_.waits_noise_ns = noise;
      }
      if (ns[0] > 0 || ns[1] > 0)
        out_.waits.push_back({static_cast<waits::Pattern>(p), {ns[0], ns[1], noise}});
    }
  }

  const Trace* const traces_[2];
  reader::Symbols& symbols_;
  const Options options_;
  Summary sums_[2];
  Waiting waiting_[2];
  double ranks_[2] = {1, 1};  // what sums are divided by
  double errors_[2] = {0, 0};
  Diff out_;
};

}  // namespace

std::string_view name_of(Change change) {
  switch (change) {
    case Change::kSame: return "same";
    case Change::kAppeared: return "appeared";
    case Change::kVanished: return "vanished";
    case Change::kChanged: return "changed";
  }
  return "";
}

bool Diff::is_same_of_a_rank() const {
  return (calls.empty() || calls.front().change == Change::kSame) && loops.empty() &&
         partners.empty();
}

Diff diff(const Trace& before, const Trace& after, reader::Symbols& symbols,
          const Options& options) {
  return Comparison(before, after, symbols, options).run();
}

}  // namespace refrain::analysis::diff
