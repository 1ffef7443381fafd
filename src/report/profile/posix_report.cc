#include "report/profile/posix_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "text/display.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {

using analysis::PosixProfile;
using analysis::PosixRow;
using analysis::PosixSpread;
using format::PosixUse;
using Json = nlohmann::ordered_json;

namespace {

// "12", "12 to 40 (rank 3)"
std::string posix_spread_text(const PosixSpread& s, std::string (*text)(uint64_t)) {
  if (s.least == s.greatest) return text(s.greatest);
  return fmt::format("{} to {} (rank {})", text(s.least), text(s.greatest), s.greatest_rank);
}

std::string mean_of_calls(const PosixUse& use) {
  return text::duration_text(use.calls == 0 ? 0 : use.time_ns / use.calls);
}

Json posix_spread_json(const PosixSpread& s) {
  return {{"min", s.least},
          {"min_rank", s.least_rank},
          {"max", s.greatest},
          {"max_rank", s.greatest_rank}};
}

void put_posix_sums(Json& out, const PosixUse& use) {
  out["calls"] = use.calls;
  out["errors"] = use.errors;
  out["bytes"] = use.bytes;
  out["time_ns"] = use.time_ns;
}

Json posix_row_json(const PosixRow& row) {
  Json out = {{"function", row.function}};
  put_posix_sums(out, row.all);
  out["min_ns"] = row.all.least_ns;
  out["max_ns"] = row.all.greatest_ns;
  out["ranks"] = row.ranks;
  out["calls_of_a_rank"] = posix_spread_json(row.calls);
  out["bytes_of_a_rank"] = posix_spread_json(row.bytes);
  out["time_ns_of_a_rank"] = posix_spread_json(row.time_ns);
  return out;
}

}  // namespace

std::string posix_text(const PosixProfile& profile, size_t top) {
  std::string out = text::paragraph(
      fmt::format("POSIX and stdio calls of the program: {}\n", posix_line(profile)), 2);
  if (profile.rows.empty()) return out;
  text::Table table({"<function", "calls", "errors", "bytes", "time", "mean", "longest", "ranks",
                     "calls of a rank", "time of a rank"});
  table.can_leave_out({"mean", "longest", "ranks", "calls of a rank", "errors"});
  const size_t shown = top == 0 ? profile.rows.size() : std::min(top, profile.rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const PosixRow& row = profile.rows[i];
    table.add({row.function, text::count_text(row.all.calls), text::count_text(row.all.errors),
               text::bytes_text(row.all.bytes), text::duration_text(row.all.time_ns),
               mean_of_calls(row.all), text::duration_text(row.all.greatest_ns),
               text::count_text(row.ranks), posix_spread_text(row.calls, text::count_text),
               posix_spread_text(row.time_ns, text::duration_text)});
  }
  return out + table.text() + text::more_text(profile.rows.size() - shown, " functions");
}

std::string posix_rank_text(const PosixProfile& profile, size_t top) {
  std::vector<std::tuple<Rank, const PosixRow*, const PosixUse*>> rows;
  for (const PosixRow& row : profile.rows)
    for (const auto& [rank, use] : row.by_rank) rows.emplace_back(rank, &row, &use);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  text::Table table({"rank", "<function", "calls", "errors", "bytes", "time", "mean", "longest"});
  const size_t shown = top == 0 ? rows.size() : std::min(top, rows.size());
  for (size_t i = 0; i < shown; ++i) {
    const auto& [rank, row, use] = rows[i];
    table.add({std::to_string(rank), row->function, text::count_text(use->calls),
               text::count_text(use->errors), text::bytes_text(use->bytes),
               text::duration_text(use->time_ns), mean_of_calls(*use),
               text::duration_text(use->greatest_ns)});
  }
  return table.text() + text::more_text(rows.size() - shown, " rows");
}

std::string posix_line(const PosixProfile& profile) {
  if (!profile.is_known) return "";
  if (profile.rows.empty()) return "none";
  std::string out =
      fmt::format("{}, {}, {}, {}", text::counted_text(profile.rows.size(), "function"),
                  text::counted_text(profile.all.calls, "call"),
                  text::bytes_text(profile.all.bytes), text::duration_text(profile.all.time_ns));
  if (profile.all.errors > 0) out += ", " + text::counted_text(profile.all.errors, "error");
  return out;
}

Json posix_rows_json(const PosixProfile& profile) {
  Json rows = Json::array();
  for (const PosixRow& row : profile.rows) rows.push_back(posix_row_json(row));
  return rows;
}

std::string posix_json(const Trace& trace, const PosixProfile& profile) {
  Json functions = Json::array();
  for (const PosixRow& row : profile.rows) {
    Json item = posix_row_json(row), ranks = Json::array();
    for (const auto& [rank, use] : row.by_rank) {
      Json of_rank = {{"rank", rank}};
      put_posix_sums(of_rank, use);
      of_rank["min_ns"] = use.least_ns;
      of_rank["max_ns"] = use.greatest_ns;
      ranks.push_back(std::move(of_rank));
    }
    item["by_rank"] = std::move(ranks);
    functions.push_back(std::move(item));
  }
  Json out = {{"ranks", trace.rank_count()}};
  put_posix_sums(out, profile.all);
  out["functions"] = std::move(functions);
  return out.dump(2) + "\n";
}

std::string posix_csv(const PosixProfile& profile, bool by_rank) {
  std::string out = by_rank ? "rank,function,calls,errors,bytes,time_ns,min_ns,max_ns\n"
                            : "function,calls,errors,bytes,time_ns,min_ns,max_ns,ranks\n";
  const auto sums = [](const PosixUse& use) {
    return fmt::format("{},{},{},{},{},{}", use.calls, use.errors, use.bytes, use.time_ns,
                       use.least_ns, use.greatest_ns);
  };
  for (const PosixRow& row : profile.rows) {
    if (!by_rank) {
      out += fmt::format("{},{},{}\n", row.function, sums(row.all), row.ranks);
      continue;
    }
    for (const auto& [rank, use] : row.by_rank)
      out += fmt::format("{},{},{}\n", rank, row.function, sums(use));
  }
  return out;
}

}  // namespace refrain::report
