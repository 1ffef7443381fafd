#include "sim/calibrate/solve.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace refrain::sim {
namespace {

double mean_of(const Curve& curve, const std::function<double(const Point&)>& value) {
  double sum = 0, weights = 0;
  for (const Point& p : curve) {
    const double weight = 1 / (p.error * p.error);
    sum += weight * value(p);
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

// The processors' shares are measured by themselves; the way has the rest of a message's time.
void split(const Line& trip, const Line& send, const Line& receive, Range& out) {
  const double processors = send.at_0 + receive.at_0;
  const double share = processors > trip.at_0 ? trip.at_0 / processors : 1;
  out.send = send.at_0 * share;
  out.receive = receive.at_0 * share;
  out.latency = std::max(0.0, trip.at_0 - processors);
  const double per_byte = send.slope + receive.slope;
  out.cpu_per_byte = std::min(per_byte, trip.slope) / 2;
  out.gap_per_byte = std::max(0.0, trip.slope - per_byte);
}

Range fit_eager(const Curves& curves, double low, double high, const std::vector<bool>& shows) {
  Range out;
  split(fit_line(part_of(curves.trips, low, high)), fit_line(part_of(curves.sends, low, high)),
        fit_line(part_of(curves.receives, low, high)), out);
  const Curve intervals = part_of(curves.intervals, low, high);
  Curve visible;
  for (size_t i = 0; i < intervals.size(); ++i)
    if (i < shows.size() && shows[i]) visible.push_back(intervals[i]);
  if (!visible.empty()) {
    out.gap = mean_of(visible, [](const Point& p) { return p.y; });
    return out;
  }
  out.gap_high = intervals.empty() ? 0 : intervals[0].y;
  for (const Point& p : intervals) out.gap_high = std::min(out.gap_high, p.y);
  return out;
}

// What a sender that waits for the acknowledgement of each message waits longer than the message
// takes to be with its receiver.
double fit_acknowledgement(const Curves& curves, const std::pair<double, double>& sizes) {
  const Line trip = fit_line(part_of(curves.trips, sizes.first, sizes.second));
  return std::max(0.0, mean_of(part_of(curves.takings, sizes.first, sizes.second),
                               [&](const Point& p) { return p.y - trip.at(p.x); }));
}

// Request, answer, data: of those only the send, a round trip and a late receive can be measured.
// docs/calibrate.md has the formulas.
Range fit_rendezvous(const Curves& curves, const std::pair<double, double>& sizes,
                     bool waits_for_processor, bool goes_beside, const Range& before) {
  Range out;
  const auto [low, high] = sizes;
  const Line trip = fit_line(part_of(curves.trips, low, high));
  const Line send = fit_line(part_of(curves.sends, low, high));
  const Curve lates = part_of(curves.lates, low, high);
  out.send = std::min(send.at_0, trip.at_0);
  const Line beside = fit_line(part_of(curves.overlaps, low, high));
  out.receive = std::min(goes_beside ? beside.at_0 : before.receive, trip.at_0 - out.send);
  const double copied = goes_beside ? (send.slope + beside.slope) / 2 : send.slope;
  out.cpu_per_byte = std::min(copied, trip.slope);
  out.gap = before.gap;
  out.gap_high = before.gap_high;
  const double whole = trip.at_0 - out.send - out.receive;
  // A late receive lacks the sender's processor and the request.
  const double request =
      mean_of(lates, [&](const Point& p) { return trip.at(p.x) - p.y; }) - out.send;
  if (waits_for_processor) {
    const double missing =
        mean_of(lates, [&](const Point& p) { return trip.at(p.x) - p.y - send.at(p.x); });
    out.gap_per_byte = std::max(0.0, trip.slope - 2 * out.cpu_per_byte);
    out.handshake = std::max(0.0, -missing);
    out.latency = whole;
    return out;
  }
  out.gap_per_byte = trip.slope - out.cpu_per_byte;
  out.handshake = lates.empty() ? whole / 3 : std::clamp(request, 0.0, whole / 2);
  out.latency = whole - 2 * out.handshake;
  return out;
}

// One that is not rounded to 0 ns.
bool has_latency(const Range& range) { return range.latency >= 0.5; }

// A range of large messages can tell little of L, which is small beside its line's error: where
// none is left, it is that of the nearest range, and G has the rest of what the middle of the range
// takes.
void borrow_latencies(const Curves& curves, const Pieces& pieces, std::vector<Range>& ranges) {
  const std::vector<Range> own = ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (has_latency(own[i])) continue;
    const Range* nearest = nullptr;
    for (size_t away = 1; away < ranges.size() && nearest == nullptr; ++away) {
      if (i >= away && has_latency(own[i - away]))
        nearest = &own[i - away];
      else if (i + away < own.size() && has_latency(own[i + away]))
        nearest = &own[i + away];
    }
    if (nearest == nullptr) continue;
    Range& out = ranges[i];
    const auto [low, high] = pieces.sizes[i];
    const double middle = (low + high) / 2, copied = middle * out.cpu_per_byte;
    const double before = i < pieces.eager ? copied : std::max(2 * out.handshake, copied);
    const double way = fit_line(part_of(curves.trips, low, high)).at(middle) - out.send - before -
                       out.receive - copied;
    if (way <= 0 || middle <= 0) continue;
    out.latency = std::min(nearest->latency, way);
    out.gap_per_byte = (way - out.latency) / middle;
  }
}

}  // namespace

Curve crossings(const Curves& curves, double low, double high) {
  Curve out;
  for (const Point& exchange : part_of(curves.exchanges, low, high)) {
    // An exchange of acknowledged messages waits for acknowledgements.
    const Curve taken = part_of(curves.takings, exchange.x, exchange.x);
    for (const Point& alone : taken.empty() ? part_of(curves.trips, exchange.x, exchange.x) : taken)
      out.push_back({alone.x, exchange.y - alone.y, std::hypot(alone.error, exchange.error)});
  }
  return out;
}

void grow_errors(Curve& curve, const std::vector<std::pair<double, double>>& pieces) {
  for (const auto& [low, high] : pieces) {
    const Curve part = part_of(curve, low, high);
    if (part.size() < 3) continue;
    const double factor = std::sqrt(fit_line(part).misfit / static_cast<double>(part.size() - 2));
    if (factor <= 1) continue;
    for (Point& p : curve)
      if (p.x >= low && p.x <= high) p.error *= factor;
  }
}

// The data of a message that waits leave when the answer is there and the sender's processor is
// done. Which of both is later, in this range: the processor where the difference between a round
// trip and a late receive grows as the processor's time does, and has no room for a request.
bool processor_is_later(const Curves& curves, double low, double high) {
  const Line trip = fit_line(part_of(curves.trips, low, high));
  const Line send = fit_line(part_of(curves.sends, low, high));
  const Curve lates = part_of(curves.lates, low, high);
  if (lates.empty()) return false;
  const auto difference = [&](const Point& p) { return trip.at(p.x) - p.y; };
  const auto rest = [&](const Point& p) { return difference(p) - send.at(p.x); };
  const double level = mean_of(lates, difference), less = mean_of(lates, rest);
  double off_answer = 0, off_processor = 0, weights = 0;
  for (const Point& p : lates) {
    const double weight = 1 / (p.error * p.error);
    off_answer += weight * (difference(p) - level) * (difference(p) - level);
    off_processor += weight * (rest(p) - less) * (rest(p) - less);
    weights += weight;
  }
  const double least = std::max(3 / std::sqrt(weights), 1e-3 * level);
  return off_processor < off_answer && less < least;
}

bool goes_on_beside(const Curve& overlaps, const Line& trip) {
  constexpr double kLittle = 0.05;  // of the transfer
  for (const Point& p : overlaps)
    if (p.y > kLittle * trip.at(p.x)) return false;
  return overlaps.size() > 1;
}

Solution solve(const Curves& curves, const Pieces& pieces) {
  Solution out;
  for (size_t i = 0; i < pieces.sizes.size(); ++i) {
    const auto [low, high] = pieces.sizes[i];
    if (i < pieces.eager) {
      out.ranges.push_back(fit_eager(curves, low, high, pieces.shows_gap[i]));
      if (i >= pieces.unacknowledged)
        out.ranges.back().handshake = fit_acknowledgement(curves, pieces.sizes[i]);
      continue;
    }
    const Range before = pieces.eager > 0 ? out.ranges[pieces.eager - 1] : Range();
    out.ranges.push_back(fit_rendezvous(curves, pieces.sizes[i], pieces.waits_for_processor[i],
                                        pieces.goes_beside[i], before));
  }
  borrow_latencies(curves, pieces, out.ranges);
  for (size_t i = 0; i < out.ranges.size(); ++i) {
    if (i >= pieces.shows_crossing.size() || !pieces.shows_crossing[i]) continue;
    const Line line = fit_line(crossings(curves, pieces.sizes[i].first, pieces.sizes[i].second));
    out.ranges[i].crossing = line.at_0;
    out.ranges[i].crossing_per_byte = line.slope;
  }
  const double limit = pieces.eager > 0 ? pieces.sizes[pieces.eager - 1].second : -1;
  Curve copies;  // what a late receive takes longer
  for (const Point& late : curves.lates)
    for (const Point& receive : curves.receives)
      if (late.x == receive.x && late.x <= limit)
        copies.push_back(
            {late.x, std::max(0.0, late.y - receive.y), std::hypot(late.error, receive.error)});
  const Line copy = fit_line(copies);
  out.copy = copy.at_0;
  out.copy_per_byte = copy.slope;
  // What a wait after a long computation still has to do, of what the whole transfer takes.
  double sum = 0, weights = 0;
  for (const Point& p : curves.overlaps) {
    if (p.x <= limit) continue;
    size_t i = pieces.eager;
    while (i + 1 < pieces.sizes.size() && p.x > pieces.sizes[i].second) ++i;
    if (i >= out.ranges.size()) continue;
    const Range& range = out.ranges[i];
    const double transfer = p.x * range.gap_per_byte;
    if (transfer <= 0) continue;
    const double rest = p.y - range.receive - p.x * range.cpu_per_byte;
    const double error = std::max(p.error / transfer, 1e-3);
    sum += (1 - rest / transfer) / (error * error);
    weights += 1 / (error * error);
  }
  if (weights > 0) out.overlap = std::clamp(sum / weights, 0.0, 1.0);
  return out;
}

Parameter with_interval(double value, std::vector<double> drawn) {
  constexpr double kLow = 0.025, kHigh = 0.975;
  Parameter out{value, value, value};
  if (drawn.empty()) return out;
  std::sort(drawn.begin(), drawn.end());
  const auto last = static_cast<double>(drawn.size() - 1);
  out.low = std::min(value, drawn[static_cast<size_t>(std::floor(kLow * last))]);
  out.high = std::max(value, drawn[static_cast<size_t>(std::ceil(kHigh * last))]);
  return out;
}

}  // namespace refrain::sim
