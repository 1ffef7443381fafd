#include "report/matrix_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "report/stood_for.h"
#include "report/window_text.h"
#include "text/display.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/table.h"

namespace refrain::report {
namespace {

constexpr Rank kTableRanks = 8;    // up to here a table of all pairs
constexpr Rank kPictureSide = 64;  // characters; more ranks share one
constexpr size_t kHeaviestPairs = 10;
constexpr std::string_view kShades = " .:-=+*#%@";  // nothing ... most

// What is counted, by the kinds that were asked for.
std::string_view noun_of(const analysis::Matrix& m) {
  switch (m.kind) {
    case analysis::MatrixKind::kP2p: return "message";
    case analysis::MatrixKind::kRma: return "one-sided transfer";
    case analysis::MatrixKind::kAll: break;
  }
  return "transfer";
}

std::string table_text(const analysis::Matrix& m) {
  std::vector<std::string> titles = {"from\\to"};
  for (Rank d = 0; d < m.rank_count; ++d) titles.push_back(std::to_string(d));
  text::Table messages(titles), bytes(titles);
  auto entry = m.entries.begin();
  for (Rank s = 0; s < m.rank_count; ++s) {
    std::vector<std::string> row = {std::to_string(s)}, size_row = row;
    for (Rank d = 0; d < m.rank_count; ++d) {
      const bool is_here = entry != m.entries.end() && entry->source == s && entry->dest == d;
      row.push_back(is_here ? text::count_text(entry->messages) : "-");
      size_row.push_back(is_here ? text::bytes_text(entry->bytes) : "-");
      if (is_here) ++entry;
    }
    messages.add(row);
    bytes.add(size_row);
  }
  std::string title = std::string(noun_of(m)) + "s";
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return "\n" + title + "\n" + messages.text() + "\nBytes\n" + bytes.text();
}

// Shades by the logarithm: one pair with a thousand times the bytes of the rest hides nothing.
std::string picture_text(const analysis::Matrix& m) {
  const Rank per_cell = (m.rank_count + kPictureSide - 1) / kPictureSide;
  const Rank side = (m.rank_count + per_cell - 1) / per_cell;
  std::vector<double> cells(static_cast<size_t>(side * side), 0);
  std::vector<bool> used(cells.size(), false);
  for (const analysis::MatrixEntry& e : m.entries) {
    const auto at = static_cast<size_t>((e.source / per_cell) * side + e.dest / per_cell);
    cells[at] += static_cast<double>(e.bytes);
    used[at] = true;
  }
  const double most = *std::max_element(cells.begin(), cells.end());
  std::string out =
      fmt::format("\nBytes from rank (down) to rank (across){}; '.' least, '@' most, log scale\n",
                  per_cell == 1 ? "" : fmt::format(", {} ranks a character", per_cell));
  for (Rank s = 0; s < side; ++s) {
    std::string line;
    for (Rank d = 0; d < side; ++d) {
      const auto at = static_cast<size_t>(s * side + d);
      const double level = most > 1 ? std::log1p(cells[at]) / std::log1p(most) : 1;
      const auto steps = static_cast<double>(kShades.size() - 2);
      line += used[at] ? kShades[1 + static_cast<size_t>(level * steps)] : kShades[0];
    }
    out += fmt::format("{:>7} |{}|\n", s * per_cell, line);
  }
  return out;
}

std::string heaviest_text(const analysis::Matrix& m) {
  std::vector<analysis::MatrixEntry> sorted = m.entries;
  const size_t shown = std::min(kHeaviestPairs, sorted.size());
  std::partial_sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(shown),
                    sorted.end(), [](const auto& a, const auto& b) {
                      return std::tuple(b.bytes, b.messages, a.source, a.dest) <
                             std::tuple(a.bytes, a.messages, b.source, b.dest);
                    });
  text::Table table({"source", "dest", std::string(noun_of(m)) + "s", "bytes"});
  for (size_t i = 0; i < shown; ++i)
    table.add({std::to_string(sorted[i].source), std::to_string(sorted[i].dest),
               text::count_text(sorted[i].messages), text::bytes_text(sorted[i].bytes)});
  uint64_t messages = 0, bytes = 0;
  for (size_t i = shown; i < sorted.size(); ++i) {
    messages += sorted[i].messages;
    bytes += sorted[i].bytes;
  }
  if (shown < sorted.size())
    table.add({fmt::format("others ({})", sorted.size() - shown), "", text::count_text(messages),
               text::bytes_text(bytes)});
  return "\n" + text::heading("Heaviest pairs") + "\n" + table.text();
}

}  // namespace

std::string matrix_text(const analysis::Matrix& m, const std::string& name,
                        const analysis::Window& window, const Trace* of) {
  std::string out = text::paragraph(
      fmt::format("{}: {}, {}, {} between {}\n", text::printable(name),
                  text::counted_text(static_cast<uint64_t>(m.rank_count), "rank"),
                  text::counted_text(m.messages, noun_of(m)), text::bytes_text(m.bytes),
                  text::counted_text(m.entries.size(), "pair")),
      2);
  if (!window.is_all()) out += "  " + window_text(window) + "\n";
  if (of != nullptr) out += stood_for_line(*of, window.is_all() ? MadeOf::kCalls : MadeOf::kTimes);
  if (!m.entries.empty())
    out += m.rank_count <= kTableRanks ? table_text(m) : picture_text(m) + heaviest_text(m);
  if (m.entries.empty() && m.collective_calls > 0)
    out +=
        fmt::format("\n{} of collectives carry data, and no single pair: see `refrain profile`\n",
                    text::counted_text(m.collective_calls, "call"));
  if (m.other_kind_messages > 0) {
    const bool is_rma = m.kind == analysis::MatrixKind::kRma;
    out += fmt::format(
        "\n{}, not shown: see --kind {}\n",
        text::counted_text(m.other_kind_messages, is_rma ? "message" : "one-sided transfer"),
        is_rma ? "p2p" : "rma");
  }
  if (m.other_world_messages > 0)
    out += fmt::format("\n{} with processes of another world, not shown\n",
                       text::counted_text(m.other_world_messages, noun_of(m)));
  if (m.unsized_messages > 0)
    out += fmt::format("\n{} of unknown size, counted as 0 bytes\n",
                       text::counted_text(m.unsized_messages, noun_of(m)));
  if (m.untimed_calls > 0)
    out += fmt::format("\n{} without a time, in no window\n",
                       text::counted_text(m.untimed_calls, "call"));
  return out;
}

std::string matrix_csv(const analysis::Matrix& m) {
  std::string out = "source,dest,messages,bytes\n";
  for (const analysis::MatrixEntry& e : m.entries)
    out += fmt::format("{},{},{},{}\n", e.source, e.dest, e.messages, e.bytes);
  return out;
}

std::string matrix_json(const analysis::Matrix& m, const analysis::Window& window,
                        const Trace* of) {
  nlohmann::ordered_json out;
  out["ranks"] = m.rank_count;
  if (!window.is_all()) {
    out["window"] = window_json(window);
    out["untimed_calls"] = m.untimed_calls;
  }
  if (of != nullptr) add_stood_for(out, *of, window.is_all() ? MadeOf::kCalls : MadeOf::kTimes);
  out["messages"] = m.messages;
  out["bytes"] = m.bytes;
  out["other_world_messages"] = m.other_world_messages;
  out["unsized_messages"] = m.unsized_messages;
  out["other_kind_messages"] = m.other_kind_messages;
  out["collective_calls"] = m.collective_calls;
  out["pairs"] = nlohmann::ordered_json::array();
  for (const analysis::MatrixEntry& e : m.entries)
    out["pairs"].push_back(
        {{"source", e.source}, {"dest", e.dest}, {"messages", e.messages}, {"bytes", e.bytes}});
  return out.dump(2) + "\n";
}

}  // namespace refrain::report
