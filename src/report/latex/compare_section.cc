// Several runs side by side, each against the first.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"
#include "text/numbers.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostRuns = 60;         // in the table of runs
constexpr size_t kMostComparedRuns = 4;  // runs whose functions stand side by side
constexpr size_t kMostCompared = 25;

std::string change(double now, double first) {
  if (!(first > 0) || now == first) return "";
  return number(fmt::format(" ({} %)", text::signed_text(100 * (now / first - 1), 1)));
}

std::string against(const Json& now, const Json& first, std::string (*how)(const Json&)) {
  return how(now) + (&now == &first ? "" : change(real(now), real(first)));
}

Json efficiency(const Json& run) {
  const Json& e = run["verdict"]["efficiency"];
  return e.is_object() ? e["parallel"] : Json();
}

void put_runs(const std::vector<Json>& runs, std::string& out) {
  TexTable table({{"run", 40},
                  {"ranks", 0},
                  {"calls", 0},
                  {"duration", 0},
                  {"in MPI", 0},
                  {"efficiency", 0},
                  {"messages", 0},
                  {"bytes", 0}});
  const Json& first = runs[0];
  table.first(kMostRuns, runs.size(), "runs", [&](size_t i) {
    const Json& run = runs[i];
    table.row({std::to_string(i + 1) + " " + code(text(run["file"]), 80), count(run["ranks"]),
               count(run["calls"]), against(run["duration_ns"], first["duration_ns"], duration),
               share(run["verdict"]["mpi_share"]), share(efficiency(run)), count(run["messages"]),
               against(run["bytes"], first["bytes"], bytes)});
  });
  out += table.text();
}

void put_functions(const std::vector<Json>& runs, std::string& out) {
  const size_t shown = std::min(runs.size(), kMostComparedRuns);
  std::map<std::string, std::vector<const Json*>> rows;
  std::vector<std::string> order;
  for (size_t i = 0; i < shown; ++i)
    for (const Json& row : runs[i]["functions"]) {
      const auto [known, is_new] = rows.try_emplace(text(row["call"]), shown, nullptr);
      if (is_new) order.push_back(known->first);
      known->second[i] = &row;
    }
  std::vector<TexTable::Column> columns = {{"function", 36}};
  for (size_t i = 1; i <= shown; ++i) {
    columns.push_back({"calls " + std::to_string(i), 0});
    columns.push_back({"time " + std::to_string(i), 0});
  }
  TexTable table(columns);
  table.first(kMostCompared, order.size(), "functions", [&](size_t r) {
    const auto& of = rows[order[r]];
    const double first = of[0] == nullptr ? 0 : real((*of[0])["time_ns"]);
    std::vector<std::string> cells = {code(order[r])};
    for (size_t i = 0; i < shown; ++i) {
      cells.push_back(of[i] == nullptr ? "-" : count((*of[i])["count"]));
      cells.push_back(of[i] == nullptr
                          ? "-"
                          : duration((*of[i])["time_ns"]) +
                                (i > 0 ? change(real((*of[i])["time_ns"]), first) : ""));
    }
    table.row(cells);
  });
  out += table.text();
  if (runs.size() > shown) out += fmt::format("The first {} runs.\n", shown);
}

}  // namespace

void put_comparison(const std::vector<Json>& entries, std::string& out) {
  for (const Json& run : entries) {
    std::string warning;
    put_warning(run, warning);
    if (!warning.empty()) out += code(text(run["file"]), 200) + "\n" + warning;
  }
  out +=
      section("Runs", "Look for numbers that differ from the first run; in brackets by how much.");
  put_runs(entries, out);
  out += section("Functions",
                 "Look for functions that take longer than in the first run, or are called more "
                 "often.");
  put_functions(entries, out);
}

}  // namespace refrain::report::latex
