#include "sim/calibrate/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "sim/calibrate/solve.h"

namespace refrain::sim {
namespace {

constexpr double kVisible = 1.03;  // a gap shows where messages come that much slower than without

// A time of it is that of messages between two ranks.
bool is_of_two_ranks(SampleTest test) {
  return test != SampleTest::kDelayed && test != SampleTest::kProbed && test != SampleTest::kSelf &&
         test != SampleTest::kSelfLate;
}

class Fitter {
 public:
  Fitter(const Samples& samples, const FitOptions& options)
      : samples_(samples), options_(options) {}

  base::Result<FittedProtocol> run() {
    limits_ = fit_limits(samples_);
    take_cells();
    for (const auto& [curve, name] :
         {std::pair(&curves_.trips, "pingpong"), std::pair(&curves_.sends, "send")})
      if (curve->size() < 2)
        return base::usage(std::string("samples of the test '") + name +
                           "' are needed, of two sizes at least");
    cut();
    for (Curve* const curve : curves_.all())
      if (curve != &curves_.intervals && curve != &curves_.overlaps)
        grow_errors(*curve, pieces_.sizes);
    decide();
    const Solution best = solve(curves_, pieces_);
    draw();
    write(best);
    take_shortest();
    out_.half_trips = curves_.trips;
    out_.sends = curves_.sends;
    out_.receives = curves_.receives;
    return std::move(out_);
  }

 private:
  // The curves of all starts, and what those of each start are; a start that lacks a cell has the
  // mean there.
  void take_cells() {
    std::vector<Estimate> means;
    std::vector<std::vector<Estimate>> of_starts(samples_.starts);
    for (const SampleCell& cell : samples_.cells) {
      std::vector<const SampleCell*> measured = {&cell};
      for (const SampleCell& one : cell.other_starts) measured.push_back(&one);
      std::vector<Estimate> all;
      for (const SampleCell* const one : measured) all.push_back(robust_mean(one->ns, one->lines));
      means.push_back(mean_of(all));
      for (std::vector<Estimate>& one : of_starts) one.push_back(means.back());
      for (size_t i = 0; i < all.size(); ++i) {
        of_starts[measured[i]->start].back() = all[i];
        if (!is_of_two_ranks(cell.test)) continue;
        out_.samples += measured[i]->ns.size();
        out_.outliers += measured[i]->ns.size() - all[i].used;
      }
    }
    curves_ = curves_of(means);
    if (samples_.starts < 2) return;
    for (const std::vector<Estimate>& one : of_starts) of_starts_.push_back(curves_of(one));
  }

  void take_shortest() {
    const SampleCell* shortest = nullptr;
    for (const SampleCell& cell : samples_.cells)
      if (cell.test == SampleTest::kPingPong &&
          (shortest == nullptr || cell.bytes < shortest->bytes))
        shortest = &cell;
    take_rounds(*shortest);
    for (const SampleCell& other : shortest->other_starts) take_rounds(other);
  }

  void take_rounds(const SampleCell& of) {
    auto begin = of.ns.begin();
    for (size_t round = 0; round < of.lines.size(); ++round) {
      std::vector<double> one(begin, begin + static_cast<std::ptrdiff_t>(of.lines[round]));
      begin += static_cast<std::ptrdiff_t>(one.size());
      if (one.empty()) continue;
      const auto middle = one.begin() + static_cast<std::ptrdiff_t>(one.size() / 2);
      std::nth_element(one.begin(), middle, one.end());
      out_.shortest.push_back({of.start, round, *middle / 2});
    }
  }

  // `by_cell`: of each cell of the samples.
  Curves curves_of(const std::vector<Estimate>& by_cell) const {
    Curves out;
    struct Burst {
      double count;
      Estimate time;
    };
    std::map<double, std::vector<Burst>> bursts;
    for (size_t i = 0; i < by_cell.size(); ++i) {
      const SampleCell& cell = samples_.cells[i];
      const Estimate& e = by_cell[i];
      const auto x = static_cast<double>(cell.bytes);
      switch (cell.test) {
        case SampleTest::kPingPong: out.trips.push_back({x, e.mean / 2, e.error / 2}); break;
        case SampleTest::kSend: out.sends.push_back({x, e.mean, e.error}); break;
        case SampleTest::kReceive: out.receives.push_back({x, e.mean, e.error}); break;
        case SampleTest::kLate: out.lates.push_back({x, e.mean, e.error}); break;
        case SampleTest::kExchange: {
          const auto count = static_cast<double>(cell.count);
          out.exchanges.push_back({x, e.mean / count, e.error / count});
          break;
        }
        case SampleTest::kOverlap: out.overlaps.push_back({x, e.mean, e.error}); break;
        case SampleTest::kBurst: bursts[x].push_back({static_cast<double>(cell.count), e}); break;
        case SampleTest::kTaken: out.takings.push_back({x, e.mean, e.error}); break;
        case SampleTest::kDelayed:
        case SampleTest::kProbed:
        case SampleTest::kSelf:
        case SampleTest::kSelfLate: break;
      }
    }
    for (const auto& [x, all] : bursts)
      for (size_t i = 1; i < all.size(); ++i) {
        const double more = all[i].count - all[0].count;
        if (more <= 0) continue;
        out.intervals.push_back({x, (all[i].time.mean - all[0].time.mean) / more,
                                 std::hypot(all[i].time.error, all[0].time.error) / more});
      }
    for (Curve* const curve : out.all())
      std::stable_sort(curve->begin(), curve->end(),
                       [](const Point& a, const Point& b) { return a.x < b.x; });
    return out;
  }

  void cut() {
    for (const Way way : {Way::kEager, Way::kAcknowledged, Way::kRendezvous}) {
      const bool is_eager = way != Way::kRendezvous;
      std::vector<double> sizes;
      for (const Point& p : curves_.trips)
        if (way_of(p.x) == way && (sizes.empty() || sizes.back() < p.x)) sizes.push_back(p.x);
      if (sizes.empty()) continue;
      const double low = sizes.front(), high = sizes.back();
      std::vector<Curve> shapes = {part_of(curves_.trips, low, high),
                                   part_of(curves_.sends, low, high),
                                   part_of(is_eager ? curves_.receives : curves_.lates, low, high)};
      for (const auto& [first, last] : cut_in_pieces(sizes, shapes, options_.pieces)) {
        pieces_.sizes.push_back({sizes[first], sizes[last - 1]});
        pieces_.eager += is_eager ? 1 : 0;
        pieces_.unacknowledged += way == Way::kEager ? 1 : 0;
      }
    }
    for (size_t i = 0; i < pieces_.sizes.size(); ++i) pieces_.up_to.push_back(end_of(i));
  }

  enum class Way : uint8_t { kEager, kAcknowledged, kRendezvous };
  Way way_of(double bytes) const {
    if (bytes > static_cast<double>(limits_.eager)) return Way::kRendezvous;
    return bytes > static_cast<double>(limits_.acknowledged) ? Way::kAcknowledged : Way::kEager;
  }

  // Up to where a piece reaches, by round trips.
  uint64_t end_of(size_t piece) const {
    if (piece + 1 == pieces_.sizes.size()) return UINT64_MAX;
    if (piece + 1 == pieces_.eager) return limits_.eager;
    if (piece + 1 == pieces_.unacknowledged) return limits_.acknowledged;
    const auto [low, high] = pieces_.sizes[piece];
    const auto [next_low, next_high] = pieces_.sizes[piece + 1];
    return end_of_line(fit_line(part_of(curves_.trips, low, high)), high,
                       fit_line(part_of(curves_.trips, next_low, next_high)), next_low);
  }

  // What is the same in all draws.
  void decide() {
    for (const auto& [low, high] : pieces_.sizes) {
      pieces_.waits_for_processor.push_back(processor_is_later(curves_, low, high));
      pieces_.goes_beside.push_back(goes_on_beside(part_of(curves_.overlaps, low, high),
                                                   fit_line(part_of(curves_.trips, low, high))));
    }
    for (const auto& [low, high] : pieces_.sizes)
      pieces_.shows_crossing.push_back(crossing_shows(low, high));
    pieces_.shows_gap.assign(pieces_.sizes.size(), {});
    const Solution plain = solve(curves_, pieces_);
    for (size_t i = 0; i < pieces_.eager; ++i) {
      const Range& range = plain.ranges[i];
      for (const Point& p :
           part_of(curves_.intervals, pieces_.sizes[i].first, pieces_.sizes[i].second)) {
        const double stream = p.x * range.gap_per_byte;
        const double copied = p.x * range.cpu_per_byte;
        const double without = std::max({range.send + copied, range.receive + copied, stream});
        pieces_.shows_gap[i].push_back(p.y > kVisible * without + 3 * p.error && stream < p.y / 2);
      }
    }
  }

  // In a range of sizes, exchanges are slower than half round trips, and not by chance.
  bool crossing_shows(double low, double high) const {
    const Line trip = fit_line(part_of(curves_.trips, low, high));
    double sum = 0, weights = 0;  // of what is more, in relation
    for (const Point& p : crossings(curves_, low, high)) {
      const double whole = trip.at(p.x), weight = whole * whole / (p.error * p.error);
      if (whole <= 0) continue;
      sum += weight * p.y / whole;
      weights += weight;
    }
    return weights > 0 && sum > (kVisible - 1) * weights && sum > 3 * std::sqrt(weights);
  }

  // Cells by their own errors, and all cells of a start together by what starts differ by: a start
  // whose sends are slow has them all slow.
  void draw() {
    std::mt19937_64 random(options_.seed);
    std::normal_distribution<double> normal;
    for (uint32_t i = 0; i < options_.draws; ++i) {
      Curves drawn = curves_;
      add_starts(random, drawn);
      for (Curve* const curve : drawn.all())
        for (Point& p : *curve) p.y = std::max(0.0, p.y + p.error * normal(random));
      draws_.push_back(solve(drawn, pieces_));
    }
  }

  // Shares of the starts that add up to 0, such that the sum varies as their mean does.
  void add_starts(std::mt19937_64& random, Curves& to) {
    if (of_starts_.empty()) return;
    std::normal_distribution<double> normal;
    const auto n = static_cast<double>(of_starts_.size());
    std::vector<double> shares;
    double mean = 0;
    for (size_t i = 0; i < of_starts_.size(); ++i) {
      shares.push_back(normal(random));
      mean += shares.back() / n;
    }
    for (size_t i = 0; i < of_starts_.size(); ++i) {
      const double share = (shares[i] - mean) * student_widening(n - 1) / std::sqrt(n * (n - 1));
      for (size_t c = 0; c < to.all().size(); ++c)
        for (size_t k = 0; k < to.all()[c]->size(); ++k)
          (*to.all()[c])[k].y += share * (*of_starts_[i].all()[c])[k].y;
    }
  }

  Parameter parameter(double value, const std::function<double(const Solution&)>& of) const {
    std::vector<double> all;
    for (const Solution& one : draws_) all.push_back(of(one));
    return with_interval(value, std::move(all));
  }

  void write(const Solution& best) {
    Protocol& out = out_.protocol;
    out.eager_limit = limits_.eager;
    out.acknowledged_above = limits_.acknowledged;
    for (size_t i = 0; i < best.ranges.size(); ++i) {
      const Range& range = best.ranges[i];
      const auto take = [&](double Range::*member) {
        return parameter(range.*member, [&](const Solution& s) { return s.ranges[i].*member; });
      };
      SizeRange to;
      to.up_to = pieces_.up_to[i];
      to.latency = take(&Range::latency);
      to.send = take(&Range::send);
      to.receive = take(&Range::receive);
      to.gap = range.gap_high >= 0 ? Parameter{0, 0, range.gap_high} : take(&Range::gap);
      to.gap_per_byte = take(&Range::gap_per_byte);
      to.cpu_per_byte = take(&Range::cpu_per_byte);
      to.handshake = i < pieces_.unacknowledged ? to.latency : take(&Range::handshake);
      to.crossing = take(&Range::crossing);
      to.crossing_per_byte = take(&Range::crossing_per_byte);
      out.ranges.push_back(to);
    }
    out.unexpected_copy = parameter(best.copy, [](const Solution& s) { return s.copy; });
    out.unexpected_copy_per_byte =
        parameter(best.copy_per_byte, [](const Solution& s) { return s.copy_per_byte; });
    out.overlap = parameter(best.overlap, [](const Solution& s) { return s.overlap; });
    if (out.overlap.low == 0) out.overlap.value = 0;  // none that can be told from none
  }

  const Samples& samples_;
  const FitOptions& options_;
  Limits limits_;
  Curves curves_;
  std::vector<Curves> of_starts_;  // point by point as curves_; empty: there is one start
  Pieces pieces_;
  std::vector<Solution> draws_;
  FittedProtocol out_;
};

}  // namespace

namespace {

// The largest size whose sends took less than that share of the delay, of a test.
uint64_t fit_limit(const Samples& samples, SampleTest test, double share) {
  std::vector<std::pair<uint64_t, bool>> waited;  // by size: did the send wait
  const auto look = [&](const SampleCell& cell) {
    std::vector<double> ns = cell.ns;
    std::sort(ns.begin(), ns.end());
    const double median = ns[(ns.size() - 1) / 2];
    waited.push_back({cell.bytes, median > static_cast<double>(cell.delay_ns) * share});
  };
  for (const SampleCell& cell : samples.cells) {
    if (cell.test != test) continue;
    look(cell);
    std::for_each(cell.other_starts.begin(), cell.other_starts.end(), look);
  }
  std::sort(waited.begin(), waited.end());
  // The limit that contradicts the fewest sizes; 0: all wait.
  size_t wrong = 0;
  for (const auto& [bytes, waits] : waited) wrong += waits ? 0 : 1;
  size_t least = wrong;
  uint64_t limit = 0;
  for (const auto& [bytes, waits] : waited) {
    wrong = waits ? wrong + 1 : wrong - 1;
    if (wrong > least) continue;
    least = wrong;
    limit = bytes;
  }
  return waited.empty() || limit == waited.back().first ? UINT64_MAX : limit;
}

}  // namespace

Limits fit_limits(const Samples& samples) {
  // What waits for nobody is done long before the delay is over; what waits for its receiver to be
  // in MPI after one delay, what waits for its receive after two.
  constexpr double kNobody = 0.5, kReceiver = 1.5;
  Limits out;
  out.eager = fit_limit(samples, SampleTest::kDelayed, kNobody);
  const bool is_probed =
      std::any_of(samples.cells.begin(), samples.cells.end(),
                  [](const SampleCell& cell) { return cell.test == SampleTest::kProbed; });
  if (!is_probed || out.eager == UINT64_MAX) return out;
  const uint64_t limit = fit_limit(samples, SampleTest::kProbed, kReceiver);
  if (limit > out.eager) out.acknowledged = std::exchange(out.eager, limit);
  return out;
}

std::optional<std::pair<FittedProtocol::Round, FittedProtocol::Round>> FittedProtocol::uneven()
    const {
  constexpr double kUneven = 1.5;
  const auto [least, most] = std::minmax_element(
      shortest.begin(), shortest.end(), [](const Round& a, const Round& b) { return a.ns < b.ns; });
  if (least == shortest.end() || most->ns <= kUneven * least->ns) return {};
  return std::pair(*least, *most);
}

base::Result<FittedProtocol> fit_protocol(const Samples& samples, const FitOptions& options) {
  return Fitter(samples, options).run();
}

}  // namespace refrain::sim
