#include "sim/predict/regression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/text.h"

namespace refrain::sim {
namespace {

using Row = std::vector<double>;

struct Form {
  std::string_view name;
  bool is_logarithmic, is_quadratic;
};
constexpr std::array<Form, 4> kForms = {{{"linear", false, false},
                                         {"quadratic", false, true},
                                         {"linear in log2 q", true, false},
                                         {"quadratic in log2 q", true, true}}};
constexpr uint64_t kAll = UINT64_MAX;
constexpr double kMostSeconds = 2e9;  // 64 years
constexpr std::array<uint64_t, 4> kMostRanks = {16, 32, 64, kAll};

Row row_of(const RegressionRun& run, const Form& form) {
  Row out = {1};
  for (const double input : run.inputs) out.push_back(std::log2(input));
  const auto q = static_cast<double>(run.ranks);
  const double g = form.is_logarithmic ? std::log2(q) : q;
  out.push_back(g);
  if (form.is_quadratic) out.push_back(g * g);
  return out;
}

double product(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Least squares by orthogonal columns (modified Gram-Schmidt). Nothing: the columns depend on each
// other.
std::optional<Row> fit(const std::vector<Row>& rows, const Row& results) {
  const size_t n = rows.size(), m = rows.front().size();
  if (n < m) return std::nullopt;
  std::vector<Row> columns(m, Row(n)), upper(m, Row(m));
  for (size_t j = 0; j < m; ++j)
    for (size_t i = 0; i < n; ++i) columns[j][i] = rows[i][j];
  Row rest = results, right(m), out(m);
  for (size_t j = 0; j < m; ++j) {
    const double before = std::sqrt(product(columns[j], columns[j]));
    for (int again = 0; again < 2; ++again)  // once more, for digits that cancelled out
      for (size_t k = 0; k < j; ++k) {
        const double part = product(columns[k], columns[j]);
        upper[k][j] += part;
        for (size_t i = 0; i < n; ++i) columns[j][i] -= part * columns[k][i];
      }
    const double length = std::sqrt(product(columns[j], columns[j]));
    if (length <= 1e-9 * before) return std::nullopt;
    upper[j][j] = length;
    for (double& one : columns[j]) one /= length;
    right[j] = product(columns[j], rest);
    for (size_t i = 0; i < n; ++i) rest[i] -= right[j] * columns[j][i];
  }
  for (size_t j = m; j-- > 0;) {
    double sum = right[j];
    for (size_t k = j + 1; k < m; ++k) sum -= upper[j][k] * out[k];
    out[j] = sum / upper[j][j];
  }
  return out;
}

// Of each run from all others.
double error_of(const std::vector<Row>& rows, const Row& results) {
  double sum = 0;
  for (size_t out = 0; out < rows.size(); ++out) {
    std::vector<Row> others = rows;
    Row other_results = results;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(out));
    other_results.erase(other_results.begin() + static_cast<std::ptrdiff_t>(out));
    const auto coefficients = fit(others, other_results);
    if (!coefficients) return -1;
    sum += std::abs(product(*coefficients, rows[out]) - results[out]);
  }
  return sum / static_cast<double>(rows.size());
}

std::optional<RegressionModel> model_of(const std::vector<RegressionRun>& runs,
                                        const RegressionRun& target, const Form& form,
                                        uint64_t most_ranks) {
  std::vector<Row> rows;
  Row results;
  for (const RegressionRun& run : runs) {
    if (run.ranks > most_ranks) continue;
    rows.push_back(row_of(run, form));
    results.push_back(std::log2(run.seconds));
  }
  if (rows.empty() || (most_ranks != kAll && rows.size() == runs.size())) return std::nullopt;
  auto coefficients = fit(rows, results);
  if (!coefficients) return std::nullopt;
  RegressionModel out;
  out.most_ranks = most_ranks;
  out.form = form.name;
  out.runs = rows.size();
  out.seconds = std::exp2(product(*coefficients, row_of(target, form)));
  out.error = error_of(rows, results);
  out.coefficients = std::move(*coefficients);
  // What grows beyond all that is simulated tells nothing.
  if (!(out.seconds <= kMostSeconds)) return std::nullopt;
  return out;
}

std::optional<double> number(std::string_view text) {
  const std::string word(text);
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != 0 || !std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

// "n=100", "-n 100", "--n 100", "--n=100"
std::optional<double> in_command(const std::string& command, const std::string& name) {
  std::vector<std::string> words = {""};
  for (const char c : command)
    if (c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    word.erase(0, std::min(word.find_first_not_of('-'), word.size()));
    if (word.size() > name.size() && word.substr(0, name.size() + 1) == name + "=")
      if (const auto value = number(word.substr(name.size() + 1))) return value;
    if (word == name && word.size() < words[i].size() && i + 1 < words.size())
      if (const auto value = number(words[i + 1])) return value;
  }
  return std::nullopt;
}

}  // namespace

base::Result<Regression> regress(const std::vector<RegressionRun>& runs,
                                 const RegressionRun& target) {
  Regression out;
  for (const uint64_t most_ranks : kMostRanks)
    for (const Form& form : kForms)
      if (auto model = model_of(runs, target, form, most_ranks))
        out.models.push_back(std::move(*model));
  if (out.models.empty())
    return base::usage("a regression over " + base::counted_text(runs.size(), "run") +
                       " has no result below 64 years: it needs runs on as many numbers of "
                       "ranks as it has coefficients, at least 2 and one for each input");
  std::stable_sort(out.models.begin(), out.models.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const RegressionModel& m) { return m.error < 0 ? 1e300 : m.error; };
    // Exact ones, but for digits, in the order in which they are tried.
    const double least = 1e-9;
    return std::max(rank(a), least) < std::max(rank(b), least);
  });
  return out;
}

base::Result<RegressionInput> parse_input(std::string_view text,
                                          const std::vector<std::string>& commands) {
  const size_t equals = text.find('=');
  RegressionInput out;
  out.name = std::string(text.substr(0, equals));
  const auto bad = [&](const std::string& what) {
    return base::usage("--input " + std::string(text) + ": " + what);
  };
  if (equals == std::string_view::npos || out.name.empty())
    return bad("has to be NAME=VALUE, or NAME=V1,V2,...:VALUE with a value of each run");
  std::string_view values = text.substr(equals + 1);
  const size_t colon = values.find(':');
  const auto target = number(colon == std::string_view::npos ? values : values.substr(colon + 1));
  if (!target) return bad("no number above 0");
  out.of_target = *target;
  if (colon == std::string_view::npos) {
    for (size_t i = 0; i < commands.size(); ++i) {
      const auto value = in_command(commands[i], out.name);
      if (!value)
        return bad("the command of run " + std::to_string(i + 1) + " has no " + out.name +
                   "; say NAME=V1,V2,...:VALUE");
      out.of_runs.push_back(*value);
    }
    return out;
  }
  std::string_view list = values.substr(0, colon);
  while (true) {
    const size_t comma = list.find(',');
    const auto value = number(list.substr(0, comma));
    if (!value) return bad("no number above 0");
    out.of_runs.push_back(*value);
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  if (out.of_runs.size() != commands.size())
    return bad(std::to_string(out.of_runs.size()) + " values for " +
               std::to_string(commands.size()) + " runs");
  return out;
}

}  // namespace refrain::sim
