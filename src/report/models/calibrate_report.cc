#include "report/models/calibrate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "text/escape.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

using sim::Parameter;
using sim::Protocol;
using sim::SizeRange;

struct Column {
  const char* name;
  Parameter SizeRange::*member;
};
constexpr Column kColumns[] = {{"L", &SizeRange::latency},
                               {"o_send", &SizeRange::send},
                               {"o_recv", &SizeRange::receive},
                               {"g", &SizeRange::gap},
                               {"G", &SizeRange::gap_per_byte},
                               {"cpu_per_byte", &SizeRange::cpu_per_byte},
                               {"handshake", &SizeRange::handshake},
                               {"crossing", &SizeRange::crossing},
                               {"crossing_per_byte", &SizeRange::crossing_per_byte}};
constexpr Column kOfSelf[] = {kColumns[1], kColumns[2], kColumns[5]};

std::string cell(const Parameter& p) {
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", p.value, p.low, p.high);
}

std::string size_text(uint64_t bytes) {
  return bytes >= static_cast<uint64_t>(INT64_MAX) ? "no limit" : std::to_string(bytes);
}

nlohmann::ordered_json json_of(const Parameter& p) {
  return {{"value", p.value}, {"low", p.low}, {"high", p.high}};
}

constexpr double kPlotWidth = 900, kPlotHeight = 420, kPlotLeft = 80, kPlotRight = 20,
                 kPlotTop = 40, kPlotBottom = 60;

// Both axes are logarithmic.
class Axes {
 public:
  Axes(const sim::FittedProtocol& of, double top) : top_(top) {
    for (const sim::Curve* curve : {&of.half_trips, &of.sends, &of.receives})
      for (const sim::Point& p : *curve) {
        most_x_ = std::max(most_x_, p.x);
        most_y_ = std::max(most_y_, p.y);
        if (p.y > 0) least_y_ = std::min(least_y_, p.y);
      }
    least_y_ = std::pow(10, std::floor(std::log10(std::max(least_y_, 1.0))));
    most_y_ = std::pow(10, std::ceil(std::log10(std::max(most_y_, 10 * least_y_))));
  }
  double x(double bytes) const {
    const double share = std::log(std::max(bytes, 1.0)) / std::log(std::max(most_x_, 2.0));
    return kPlotLeft + (kPlotWidth - kPlotLeft - kPlotRight) * share;
  }
  double y(double ns) const {
    const double share = std::log(std::max(ns, least_y_) / least_y_) / std::log(most_y_ / least_y_);
    return top_ + kPlotHeight - (kPlotHeight - kPlotTop) * share;
  }
  std::string frame() const {
    std::string out;
    for (double ns = least_y_; ns <= most_y_ * 1.001; ns *= 10)
      out += fmt::format(
          "<line x1='{0:.1f}' y1='{2:.1f}' x2='{1:.1f}' y2='{2:.1f}' stroke='#ddd'/>\n"
          "<text x='{3:.1f}' y='{4:.1f}' text-anchor='end'>{5}</text>\n",
          kPlotLeft, kPlotWidth - kPlotRight, y(ns), kPlotLeft - 6, y(ns) + 4, text::time_text(ns));
    for (double bytes = 1; bytes <= most_x_; bytes *= 32)
      out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{}</text>\n", x(bytes),
                         top_ + kPlotHeight + 18, text::bytes_text(static_cast<uint64_t>(bytes)));
    return out;
  }

 private:
  double top_, most_x_ = 2, most_y_ = 10, least_y_ = 1e18;
};

double fitted_trip(const Protocol& p, double s) {
  const SizeRange& r = p.range_of(static_cast<uint64_t>(s));
  const double copied = s * r.cpu_per_byte.value;
  const bool waits = static_cast<uint64_t>(s) > p.eager_limit;
  const double begun = r.send.value + (waits ? std::max(2 * r.handshake.value, copied) : copied);
  return begun + r.latency.value + s * r.gap_per_byte.value + r.receive.value + copied;
}

std::string panel(const CalibratedDistance& one, double top) {
  const Axes axes(one.fitted, top);
  const Protocol& p = one.fitted.protocol;
  std::string out = fmt::format(
      "<text x='{}' y='{}'>distance {}: one way of a message, and what "
      "processors do for it; points are measured, lines fitted</text>\n",
      kPlotLeft, top + 18, sim::name_of(one.distance));
  out += axes.frame();
  const auto draw = [&](const sim::Curve& curve, const char* colour, const char* name, int row,
                        const auto& fitted) {
    std::string points;
    for (const sim::Point& at : curve) {
      out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.5' fill='{}'/>\n", axes.x(at.x),
                         axes.y(at.y), colour);
      points += fmt::format("{:.1f},{:.1f} ", axes.x(at.x), axes.y(fitted(at.x)));
    }
    out += fmt::format("<polyline points='{}' fill='none' stroke='{}'/>\n", points, colour);
    out += fmt::format("<text x='{}' y='{}' fill='{}'>{}</text>\n", kPlotLeft + 10,
                       top + kPlotTop + 14 * row, colour, name);
  };
  const auto range = [&](double s) -> const SizeRange& {
    return p.range_of(static_cast<uint64_t>(s));
  };
  draw(one.fitted.half_trips, "#0072b2", "half a round trip", 1,
       [&](double s) { return fitted_trip(p, s); });
  draw(one.fitted.sends, "#d55e00", "sending", 2,
       [&](double s) { return range(s).send.value + s * range(s).cpu_per_byte.value; });
  draw(one.fitted.receives, "#009e73", "receiving", 3,
       [&](double s) { return range(s).receive.value + s * range(s).cpu_per_byte.value; });
  return out;
}

}  // namespace

std::vector<std::string> calibrate_warnings(const CalibratedDistance& one) {
  std::vector<std::string> out;
  if (const sim::CoresTaken& taken = one.cores_taken; taken.is_often())
    out.push_back(fmt::format(
        "distance {}: the ranks lost their cores {} times in {:.1f} s to others: these numbers are "
        "too large. Give each rank a core of its own, with nothing else on it, and measure again",
        sim::name_of(one.distance), text::count_text(taken.count), taken.seconds));
  const auto uneven = one.fitted.uneven();
  if (!uneven) return out;
  const auto where = [&](const sim::FittedProtocol::Round& round) {
    return fmt::format("{} in round {}", text::time_text(round.ns), round.round + 1) +
           (one.starts > 1 ? fmt::format(" of start {}", round.start + 1) : "");
  };
  out.push_back(fmt::format(
      "distance {}: a short message took {}, {}: the ranks were not always equally far from each "
      "other (moved to other cores, or the virtual machine was). Bind the ranks as the program's "
      "are, measure again, and join only starts that are alike",
      sim::name_of(one.distance), where(uneven->first), where(uneven->second)));
  return out;
}

namespace {

std::string line(std::string_view name, const std::string& value) {
  return fmt::format("  {:<24} {}\n", name, value);
}

std::string copy_lines(const Protocol& p) {
  return line("unexpected_copy", cell(p.unexpected_copy)) +
         line("unexpected_copy_per_byte", cell(p.unexpected_copy_per_byte));
}

std::string ranges_text(const Protocol& p, std::span<const Column> columns) {
  std::string out;
  for (const SizeRange& r : p.ranges) {
    out += fmt::format("  up to {}:\n", size_text(r.up_to));
    for (const Column& column : columns)
      out += fmt::format("    {:<22} {}\n", column.name, cell(r.*column.member));
  }
  return out;
}

void add_copies_and_ranges(nlohmann::ordered_json& to, const Protocol& p,
                           std::span<const Column> columns) {
  to["unexpected_copy"] = json_of(p.unexpected_copy);
  to["unexpected_copy_per_byte"] = json_of(p.unexpected_copy_per_byte);
  to["ranges"] = nlohmann::json::array();
  for (const SizeRange& r : p.ranges) {
    nlohmann::ordered_json row;
    row["up_to"] = nullptr;
    if (r.up_to != UINT64_MAX) row["up_to"] = r.up_to;
    for (const Column& column : columns) row[column.name] = json_of(r.*column.member);
    to["ranges"].push_back(std::move(row));
  }
}

}  // namespace

std::string calibrate_text(const std::vector<CalibratedDistance>& found,
                           const std::optional<sim::FittedSelf>& self) {
  std::string out;
  for (const CalibratedDistance& one : found) {
    const Protocol& p = one.fitted.protocol;
    const std::string starts =
        one.starts > 1 ? fmt::format(" of {} starts", one.starts) : std::string();
    out += fmt::format("distance {}: {} samples{}, {} of them outliers\n",
                       sim::name_of(one.distance), text::count_text(one.fitted.samples), starts,
                       text::count_text(one.fitted.outliers));
    out += line("eager limit", size_text(p.eager_limit));
    if (p.has_acknowledged()) out += line("acknowledged above", size_text(p.acknowledged_above));
    out += line("overlap", cell(p.overlap)) + copy_lines(p) + ranges_text(p, kColumns);
  }
  if (!self) return out;
  out += fmt::format("a rank to itself: {} samples, {} of them outliers\n",
                     text::count_text(self->samples), text::count_text(self->outliers));
  return out + copy_lines(self->protocol) + ranges_text(self->protocol, kOfSelf);
}

std::string calibrate_json(const std::vector<CalibratedDistance>& found,
                           const std::optional<sim::FittedSelf>& self) {
  nlohmann::ordered_json out;
  out["distances"] = nlohmann::json::array();
  for (const CalibratedDistance& one : found) {
    const Protocol& p = one.fitted.protocol;
    nlohmann::ordered_json to;
    to["distance"] = sim::name_of(one.distance);
    to["samples"] = one.fitted.samples;
    to["starts"] = one.starts;
    to["outliers"] = one.fitted.outliers;
    to["cores_taken"] = nullptr;
    to["seconds"] = nullptr;
    if (one.cores_taken.seconds > 0) {
      to["cores_taken"] = one.cores_taken.count;
      to["seconds"] = one.cores_taken.seconds;
    }
    to["is_disturbed"] = one.cores_taken.is_often();
    to["is_uneven"] = one.fitted.uneven().has_value();
    std::vector<std::vector<double>> shortest(one.starts);  // by start, then by round
    for (const sim::FittedProtocol::Round& round : one.fitted.shortest)
      shortest.at(round.start).push_back(round.ns);
    to["shortest_ns"] = shortest;
    to["eager_limit"] = nullptr;
    if (p.eager_limit < static_cast<uint64_t>(INT64_MAX)) to["eager_limit"] = p.eager_limit;
    to["acknowledged_above"] = nullptr;
    if (p.has_acknowledged()) to["acknowledged_above"] = p.acknowledged_above;
    to["overlap"] = json_of(p.overlap);
    add_copies_and_ranges(to, p, kColumns);
    out["distances"].push_back(std::move(to));
  }
  out["self"] = nullptr;
  if (self) {
    nlohmann::ordered_json to;
    to["samples"] = self->samples;
    to["outliers"] = self->outliers;
    add_copies_and_ranges(to, self->protocol, kOfSelf);
    out["self"] = std::move(to);
  }
  return out.dump(2) + "\n";
}

std::string calibrate_svg(const std::vector<CalibratedDistance>& found) {
  std::string body;
  double top = 0;
  for (const CalibratedDistance& one : found) {
    body += panel(one, top);
    top += kPlotHeight + kPlotBottom;
  }
  return fmt::format(
             "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' "
             "font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' "
             "fill='white'/>\n",
             kPlotWidth, top) +
         body + "</svg>\n";
}

}  // namespace refrain::report
