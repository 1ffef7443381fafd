#include "report/models/predict_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/models/simulate_report.h"
#include "text/numbers.h"

namespace refrain::report {
namespace {

uint64_t ns_of(sim::Time ns) { return ns < 0 ? 0 : static_cast<uint64_t>(ns); }

// PHANTOM, section 8: (measured - predicted) / measured, in percent, with its sign.
double error_percent(double predicted_s, double measured_s) {
  return 100 * (measured_s - predicted_s) / measured_s;
}
double error_percent(const sim::Prediction& prediction, double measured_s) {
  return error_percent(static_cast<double>(prediction.simulation.predicted_ns) * 1e-9, measured_s);
}

std::string p0_text(uint64_t most_ranks) {
  return most_ranks == UINT64_MAX ? "all" : std::to_string(most_ranks);
}

struct Bar {
  sim::SweptPart part = sim::SweptPart::kBandwidth;
  sim::Prediction::Point low, high;  // of the least and the largest prediction
};

std::vector<Bar> bars(const sim::Prediction& prediction) {
  std::vector<Bar> out;
  for (const auto& point : prediction.sweep) {
    auto known = std::find_if(out.begin(), out.end(),
                              [&](const Bar& bar) { return bar.part == point.part; });
    if (known == out.end()) known = out.insert(out.end(), {point.part, point, point});
    if (point.predicted_ns < known->low.predicted_ns) known->low = point;
    if (point.predicted_ns > known->high.predicted_ns) known->high = point;
  }
  std::stable_sort(out.begin(), out.end(), [](const Bar& a, const Bar& b) {
    return a.high.predicted_ns - a.low.predicted_ns > b.high.predicted_ns - b.low.predicted_ns;
  });
  return out;
}

}  // namespace

std::string predict_text(const sim::Prediction& prediction, const sim::Machine& machine,
                         double measured_s) {
  std::string out = simulate_text(prediction.simulation, machine);
  const sim::Time base = prediction.simulation.predicted_ns;
  if (!prediction.draws.empty())
    out += fmt::format("\n  90 % of {} simulations: {} to {}\n", prediction.draws.size(),
                       text::duration_text(ns_of(prediction.low_ns)),
                       text::duration_text(ns_of(prediction.high_ns)));
  if (measured_s > 0)
    out += fmt::format("  error {} % of the measured {}\n",
                       text::signed_text(error_percent(prediction, measured_s), 2),
                       text::time_text(measured_s * 1e9));
  if (prediction.sweep.empty()) return out;
  out += fmt::format("\n  {:<10} {:>8}  {:>10}  {:>8}\n", "part", "factor", "time", "change");
  for (const auto& point : prediction.sweep)
    out += fmt::format(
        "  {:<10} {:>8.3g}  {:>10}  {:>7}%\n", sim::name_of(point.part), point.factor,
        text::duration_text(ns_of(point.predicted_ns)),
        text::signed_text(base > 0 ? 100.0 * static_cast<double>(point.predicted_ns - base) /
                                         static_cast<double>(base)
                                   : 0.0,
                          1));
  return out;
}

std::string predict_json(const sim::Prediction& prediction, const sim::Machine& machine,
                         double measured_s) {
  auto out =
      nlohmann::ordered_json::parse(simulate_json(prediction.simulation, machine), nullptr, false);
  out["interval_ns"] = nullptr;
  if (!prediction.draws.empty()) out["interval_ns"] = {prediction.low_ns, prediction.high_ns};
  out["draws_ns"] = prediction.draws;
  if (measured_s > 0) out["error_percent"] = error_percent(prediction, measured_s);
  out["sweep"] = nlohmann::ordered_json::array();
  for (const auto& point : prediction.sweep)
    out["sweep"].push_back({{"part", sim::name_of(point.part)},
                            {"factor", point.factor},
                            {"predicted_ns", point.predicted_ns}});
  return out.dump(2) + "\n";
}

std::string regression_text(const sim::Regression& regression, const sim::RegressionRun& target,
                            double measured_s) {
  const sim::RegressionModel& best = regression.models.front();
  std::string out = fmt::format("predicted: {} on {} ranks, by regression\n",
                                text::time_text(best.seconds * 1e9), target.ranks);
  out += fmt::format("\n  {:>4}  {:<20} {:>5}  {:>10}  {:>12}{}\n", "p0", "g(q)", "runs", "time",
                     "left out", measured_s > 0 ? "     error" : "");
  for (const sim::RegressionModel& model : regression.models) {
    out += fmt::format(
        "  {:>4}  {:<20} {:>5}  {:>10}  {:>12}", p0_text(model.most_ranks), model.form, model.runs,
        text::time_text(model.seconds * 1e9),
        model.error < 0 ? "-" : fmt::format("{:.2f} %", 100 * (std::exp2(model.error) - 1)));
    if (measured_s > 0)
      out +=
          fmt::format("  {:>7}%", text::signed_text(error_percent(model.seconds, measured_s), 2));
    out += "\n";
  }
  return out + "\n  left out: how far runs are off, each predicted from the others\n";
}

std::string regression_json(const sim::Regression& regression, const sim::RegressionRun& target,
                            double measured_s) {
  const auto ns = [](double seconds) { return text::rounded(seconds * 1e9); };
  nlohmann::ordered_json out;
  out["ranks"] = target.ranks;
  out["predicted_ns"] = ns(regression.models.front().seconds);
  if (measured_s > 0)
    out["error_percent"] = error_percent(regression.models.front().seconds, measured_s);
  out["models"] = nlohmann::ordered_json::array();
  for (const sim::RegressionModel& model : regression.models) {
    nlohmann::ordered_json row = {{"p0", nullptr},
                                  {"g", model.form},
                                  {"runs", model.runs},
                                  {"predicted_ns", ns(model.seconds)},
                                  {"coefficients", model.coefficients},
                                  {"left_out_percent", nullptr}};
    if (model.most_ranks != UINT64_MAX) row["p0"] = model.most_ranks;
    if (model.error >= 0) row["left_out_percent"] = 100 * (std::exp2(model.error) - 1);
    if (measured_s > 0) row["error_percent"] = error_percent(model.seconds, measured_s);
    out["models"].push_back(std::move(row));
  }
  return out.dump(2) + "\n";
}

std::string tornado_svg(const sim::Prediction& prediction) {
  constexpr double kWidth = 900, kLeft = 110, kRight = 130, kRow = 44, kTop = 50;
  const std::vector<Bar> all = bars(prediction);
  sim::Time least = prediction.simulation.predicted_ns, most = least;
  for (const Bar& bar : all) {
    least = std::min(least, bar.low.predicted_ns);
    most = std::max(most, bar.high.predicted_ns);
  }
  const auto x = [&](sim::Time ns) {
    const double share =
        most > least ? static_cast<double>(ns - least) / static_cast<double>(most - least) : 0.5;
    return kLeft + 60 + (kWidth - kLeft - kRight - 60) * share;
  };
  const double height = kTop + kRow * static_cast<double>(all.size()) + 20;
  const double middle = x(prediction.simulation.predicted_ns);
  std::string out = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{0}' height='{1}' font-family='sans-serif' "
      "font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n"
      "<text x='{2:.1f}' y='20' text-anchor='middle'>{3}</text>\n"
      "<line x1='{2:.1f}' y1='28' x2='{2:.1f}' y2='{1}' stroke='#333'/>\n",
      kWidth, height, middle, text::duration_text(ns_of(prediction.simulation.predicted_ns)));
  for (size_t i = 0; i < all.size(); ++i) {
    const Bar& bar = all[i];
    const double y = kTop + kRow * static_cast<double>(i);
    const double left = x(bar.low.predicted_ns), right = x(bar.high.predicted_ns);
    out += fmt::format("<text x='10' y='{:.1f}'>{}</text>\n", y + 16, sim::name_of(bar.part));
    const auto part = [&](double from, double to, const char* colour) {
      if (to > from)
        out += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='22' fill='{}'/>\n",
                           from, y, to - from, colour);
    };
    part(left, std::min(middle, right), "#009e73");
    part(std::max(middle, left), right, "#d55e00");
    out +=
        fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{:.3g}: {}</text>\n", left - 4,
                    y + 16, bar.low.factor, text::duration_text(ns_of(bar.low.predicted_ns)));
    out += fmt::format("<text x='{:.1f}' y='{:.1f}'>{:.3g}: {}</text>\n", right + 4, y + 16,
                       bar.high.factor, text::duration_text(ns_of(bar.high.predicted_ns)));
  }
  return out + "</svg>\n";
}

}  // namespace refrain::report
