#include "analysis/timeline.h"

#include <algorithm>
#include <array>
#include <map>

#include "format/trace_data.h"
#include "mpi/call_ids.h"
#include "mpi/call_table.h"
#include "reader/internal.h"
#include "reader/own_work.h"
#include "refrain/calls.h"

namespace refrain::analysis {
namespace {

// Finds the times of the recorder's work on a row, as its calls go by.
class OwnWorkOf {
 public:
  OwnWorkOf(const Trace& trace, TimelineRow& row)
      : row_(row), after_(trace, row.rank, row.thread) {}
  void see(const Call& call) {
    auto& spans = row_.own_work;
    if (is_open_) spans.back().end_ns = std::min(spans.back().end_ns, call.begin_ns);
    const uint64_t ns = after_(call.seq);
    is_open_ = ns > 0;
    if (is_open_) spans.push_back({call.end_ns, call.end_ns + ns});
  }

 private:
  TimelineRow& row_;
  reader::OwnWorkAfter after_;
  bool is_open_ = false;  // the next call ends it at the latest
};

class Reader {
 public:
  Reader(const Trace& trace, const TimelineOptions& options) : trace_(trace), options_(options) {
    for (SignatureId id = 0; id < trace.signature_count(); ++id)
      class_of_.push_back(events::class_of(trace.call_of(id)));
  }

  Timeline run() {
    find_rows();
    out_.has_times = trace_.has_times();
    if (!out_.has_times) {
      estimate();
      return std::move(out_);
    }
    find_span();
    const size_t rows = std::max<size_t>(out_.rows.size(), 1);
    out_.bins = std::clamp<size_t>(options_.most_cells / rows, 16, options_.most_bins);
    out_.share.resize(out_.bins * out_.rows.size());
    out_.classes.resize(out_.share.size());
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      if (options_.progress) options_.progress(i, out_.rows.size());
      read(i);
    }
    thin(0);
    share_out();
    return std::move(out_);
  }

 private:
  // An anchor that may have to go. What it weighs: the longer of the call and the time before it.
  struct Candidate {
    uint32_t row = 0;
    uint64_t weight = 0;
    Anchor anchor;
  };

  void find_rows() {
    for (Rank rank = 0; rank < trace_.rank_count(); ++rank) {
      const auto group = trace_.group_of(rank);
      if (!group) continue;
      for (const Location& l : trace_.locations(rank)) {
        TimelineRow row;
        row.rank = rank;
        row.thread = l.thread;
        row.group = *group;
        row.grammar = l.grammar;
        row.calls = l.calls;
        out_.rows.push_back(std::move(row));
      }
    }
  }

  double mean_ns(SignatureId id) const {
    const Durations d = trace_.durations(id);
    return d.count == 0 ? 0 : d.sum_ns / static_cast<double>(d.count);
  }

  // The length of a row from what its rank was in MPI and outside, until MPI_Finalize, and that.
  void estimate() {
    double finalize_ns = 0;
    for (SignatureId id = 0; id < trace_.signature_count(); ++id) {
      if (trace_.call_of(id) == mpi::kMPI_Finalize)
        finalize_ns = std::max(finalize_ns, mean_ns(id));
    }
    // Durations of a damaged trace may be of any length.
    const auto finalize = static_cast<uint64_t>(std::min(finalize_ns, 1e18));
    const auto& totals = reader::data_of(trace_).totals;
    for (TimelineRow& row : out_.rows) {
      const auto rank = static_cast<size_t>(row.rank);
      if (rank < totals.size()) row.end_ns = length_of(totals[rank]);
      row.end_ns += finalize;
      out_.end_ns = std::max(out_.end_ns, row.end_ns);
    }
  }

  static uint64_t length_of(const format::RankTotals& t) {
    return t.in_mpi_ns + t.outside_ns + t.own_ns;
  }

  // First begin and last end, for the bins: of every row the first call, and the last.
  void find_span() {
    bool is_first = true;
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      TimelineRow& row = out_.rows[i];
      RankReader reader(trace_, row.rank, Times::kRead);
      Result<Cursor> calls = reader.cursor(row.thread);
      if (!calls.ok() || row.calls == 0) continue;
      bool found = false;
      const auto see = [&](const Call* call) {
        if (call == nullptr || !call->has_time) return;
        row.begin_ns = found ? std::min(row.begin_ns, call->begin_ns) : call->begin_ns;
        row.end_ns = found ? std::max(row.end_ns, call->end_ns) : call->end_ns;
        found = true;
      };
      see(calls->next());
      calls->seek(row.calls - 1);
      see(calls->next());
      if (!found) continue;
      out_.begin_ns = is_first ? row.begin_ns : std::min(out_.begin_ns, row.begin_ns);
      out_.end_ns = is_first ? row.end_ns : std::max(out_.end_ns, row.end_ns);
      is_first = false;
    }
    out_.end_ns = std::max(out_.end_ns, out_.begin_ns + 1);
  }

  void read(size_t index) {
    TimelineRow& row = out_.rows[index];
    RankReader reader(trace_, row.rank, Times::kRead);
    Result<Cursor> calls = reader.cursor(row.thread);
    if (!calls.ok()) return;
    std::vector<std::array<float, events::kCallClasses>> bins(out_.bins);
    std::map<CallId, uint64_t> times;
    std::vector<uint64_t> by_signature(trace_.signature_count(), 0);
    uint64_t before = row.begin_ns;
    OwnWorkOf own(trace_, row);
    while (const Call* call = calls->next()) {
      if (!call->has_time) continue;
      ++row.timed_calls;
      own.see(*call);
      const SignatureId id = call->signature->id;
      by_signature[id] += call->end_ns - std::min(call->begin_ns, call->end_ns);
      fill(bins, call->begin_ns, call->end_ns, class_of_[id]);
      row.end_ns = std::max(row.end_ns, call->end_ns);
      const uint64_t gap = call->begin_ns > before ? call->begin_ns - before : 0;
      const uint64_t length = call->end_ns > call->begin_ns ? call->end_ns - call->begin_ns : 0;
      before = std::max(before, call->end_ns);
      const bool is_edge = call->seq == 0 || call->seq + 1 == row.calls;
      const uint64_t weight = is_edge ? UINT64_MAX : std::max(gap, length);
      if (weight <= least_ && !is_edge && has_least_) continue;
      candidates_.push_back(
          {static_cast<uint32_t>(index), weight, {call->seq, call->begin_ns, call->end_ns}});
      if (candidates_.size() > 2 * options_.most_anchors) thin(options_.most_anchors);
    }
    if (!calls->time_status().ok()) ++out_.damaged_rows;
    out_.end_ns = std::max(out_.end_ns, row.end_ns);
    for (SignatureId id = 0; id < by_signature.size(); ++id)
      if (by_signature[id] > 0) times[trace_.call_of(id)] += by_signature[id];
    for (const auto& [call, ns] : times)
      out_.times.push_back({static_cast<uint32_t>(index), call, ns});
    put(index, bins);
  }

  void fill(std::vector<std::array<float, events::kCallClasses>>& bins, uint64_t begin,
            uint64_t end, events::CallClass c) const {
    const double width =
        static_cast<double>(out_.end_ns - out_.begin_ns) / static_cast<double>(out_.bins);
    const double from = (static_cast<double>(begin) - static_cast<double>(out_.begin_ns)) / width;
    const double to = (static_cast<double>(end) - static_cast<double>(out_.begin_ns)) / width;
    const auto last = static_cast<double>(out_.bins);
    if (!(to > from) || from < 0 || from >= last) return;
    const auto first_bin = static_cast<size_t>(from);
    const auto last_bin = std::min(static_cast<size_t>(to), out_.bins - 1);
    for (size_t b = first_bin; b <= last_bin; ++b) {
      const auto at = static_cast<double>(b);
      bins[b][static_cast<size_t>(c)] +=
          static_cast<float>(std::min(to, at + 1) - std::max(from, at));
    }
  }

  void put(size_t row, const std::vector<std::array<float, events::kCallClasses>>& bins) {
    for (size_t b = 0; b < out_.bins; ++b) {
      float sum = 0;
      size_t most = 0;
      for (size_t c = 1; c < events::kCallClasses; ++c) {
        sum += bins[b][c];
        if (bins[b][c] > bins[b][most]) most = c;
      }
      const float level = std::min(sum, 1.0F) * 255.0F;
      // What is there at all can be seen.
      out_.share[row * out_.bins + b] =
          static_cast<uint8_t>(sum > 0 ? std::max(level, 1.0F) : 0.0F);
      out_.classes[row * out_.bins + b] = static_cast<events::CallClass>(most);
    }
  }

  // Keeps the `keep` heaviest candidates; 0: as many as may stay.
  void thin(size_t keep) {
    const size_t most = keep == 0 ? options_.most_anchors : keep;
    if (candidates_.size() <= most) return;
    const auto middle = candidates_.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(candidates_.begin(), middle, candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
    least_ = middle->weight;
    has_least_ = true;
    candidates_.erase(middle, candidates_.end());
  }

  void share_out() {
    std::sort(candidates_.begin(), candidates_.end(), [](const auto& a, const auto& b) {
      return a.row != b.row ? a.row < b.row : a.anchor.seq < b.anchor.seq;
    });
    for (const Candidate& c : candidates_) out_.rows[c.row].anchors.push_back(c.anchor);
    out_.least_ns = least_;
    out_.is_whole = !has_least_;
  }

  const Trace& trace_;
  const TimelineOptions& options_;
  std::vector<events::CallClass> class_of_;
  std::vector<Candidate> candidates_;
  uint64_t least_ = 0;
  bool has_least_ = false;
  Timeline out_;
};

}  // namespace

Timeline timeline(const Trace& trace, const TimelineOptions& options) {
  return Reader(trace, options).run();
}

}  // namespace refrain::analysis
