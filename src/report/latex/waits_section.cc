// Wait states: kinds of waiting, where they happen, what they go back to, and the critical path.

#include <algorithm>
#include <map>
#include <set>

#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

struct Sum {
  double ns = 0, count = 0;
  std::map<int64_t, double> by_rank;
  void add(int64_t rank, double more_ns, double more) {
    ns += more_ns;
    count += more;
    by_rank[rank] += more_ns;
  }
  // "3 (1.2 ms)".
  std::string worst() const {
    const auto most = std::max_element(by_rank.begin(), by_rank.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    return std::to_string(most->first) + " (" + duration(most->second) + ")";
  }
};

class Writer {
 public:
  Writer(const PageData& data, const Detail& detail)
      : data_(data), json_(data.json["waits"]), detail_(detail) {}

  void write(std::string& out) {
    put_kinds(out);
    if (!detail_.has_wait_tables) return;
    put_places(out);
    put_calls(out);
    put_delays(out);
    put_critical_path(out);
    put_doubts(out);
  }

 private:
  const std::vector<int64_t>& column(const std::string& name) const {
    return data_.columns.numbers(name);
  }
  std::string share_of(double ns) const {
    const double all = real(json_["total_ns"]);
    return all > 0 ? share(ns / all) : "-";
  }
  std::string title(int64_t pattern) const {
    return words(text(json_["patterns"][static_cast<size_t>(pattern)]["title"]));
  }
  std::string call(int64_t i) const { return code(text(json_["calls"][static_cast<size_t>(i)])); }
  std::string path(int64_t i) const {
    return code(text(json_["paths"][static_cast<size_t>(i)]), 160);
  }
  std::string place(const Json& p) const {
    const std::string name = call(p["call"].get<int64_t>());
    return p["path"].is_null() ? name : name + " at " + path(p["path"].get<int64_t>());
  }

  // Sums of a kind and of all that it contains.
  void put_kinds(std::string& out) const {
    const auto &pattern = column("waits.pattern"), &ns = column("waits.ns"),
               &n = column("waits.count"), &rank = column("waits.rank");
    const Json& patterns = json_["patterns"];
    std::vector<Sum> sums(patterns.size());
    for (size_t i = 0; i < pattern.size(); ++i)
      for (auto p = static_cast<size_t>(pattern[i]);;) {
        sums[p].add(rank[i], static_cast<double>(ns[i]), static_cast<double>(n[i]));
        const auto outer = static_cast<size_t>(whole(patterns[p]["parent"]));
        if (outer == p) break;
        p = outer;
      }
    TexTable table({{"kind of waiting", 62},
                    {"", 12},
                    {"time", 0},
                    {"of all time", 0},
                    {"waits", 0},
                    {"most on rank", 0}});
    for (size_t p = 0; p < sums.size(); ++p) {
      if (sums[p].count == 0) continue;
      table.row({"\\hspace*{" + std::to_string(3 * whole(patterns[p]["depth"])) + "mm}" +
                     title(static_cast<int64_t>(p)),
                 bar(sums[0].ns > 0 ? sums[p].ns / sums[0].ns : 0), duration(sums[p].ns),
                 share_of(sums[p].ns), count(sums[p].count), sums[p].worst()});
    }
    out += "\\subsection*{Kinds of waiting}\n";
    const std::string rows = table.text();
    out += rows.empty() ? "Nobody waited.\n" : rows;
  }

  void put_places(std::string& out) const {
    const auto &pattern = column("waits.pattern"), &ns = column("waits.ns"),
               &n = column("waits.count"), &rank = column("waits.rank"), &at = column("waits.path"),
               &function = column("waits.call");
    std::map<std::tuple<int64_t, int64_t, int64_t>, Sum> sums;
    for (size_t i = 0; i < pattern.size(); ++i)
      sums[{pattern[i], at[i], function[i]}].add(rank[i], static_cast<double>(ns[i]),
                                                 static_cast<double>(n[i]));
    if (sums.empty()) return;
    std::vector<decltype(sums)::const_iterator> order;
    for (auto it = sums.cbegin(); it != sums.cend(); ++it) order.push_back(it);
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a->second.ns > b->second.ns; });
    TexTable table({{"kind", 34},
                    {"call path", 62},
                    {"time", 0},
                    {"of all time", 0},
                    {"waits", 0},
                    {"most on rank", 0}});
    table.first(detail_.wait_places, order.size(), "call paths", [&](size_t i) {
      const auto& [where, sum] = *order[i];
      table.row({title(std::get<0>(where)),
                 path(std::get<1>(where)) + " $>$ " + call(std::get<2>(where)), duration(sum.ns),
                 share_of(sum.ns), count(sum.count), sum.worst()});
    });
    Sum others;
    for (size_t i = detail_.wait_places; i < order.size(); ++i) {
      for (const auto& [who, rank_ns] : order[i]->second.by_rank) others.add(who, rank_ns, 0);
      others.count += order[i]->second.count;
    }
    if (order.size() > detail_.wait_places)
      table.row({"others", "", duration(others.ns), share_of(others.ns), count(others.count),
                 others.worst()});
    out += "\\subsection*{Where}\n" + table.text();
  }

  // The longest waits, first.
  void put_calls(std::string& out) const {
    const auto &rank = column("explained.rank"), &ns = column("explained.ns"),
               &partner = column("explained.partner"), &pattern = column("explained.pattern"),
               &function = column("explained.call"), &seq = column("explained.seq"),
               &thread = column("explained.thread");
    if (rank.empty()) return;
    TexTable table({{"rank", 0},
                    {"waited", 0},
                    {"for rank", 0},
                    {"kind", 42},
                    {"call", 40},
                    {"number of the call", 0}});
    table.first(detail_.waits, rank.size(), "waits", [&](size_t i) {
      const std::string who = std::to_string(rank[i]);
      table.row({thread[i] > 0 ? who + "." + std::to_string(thread[i]) : who, duration(ns[i]),
                 partner[i] < 0 ? "-" : std::to_string(partner[i]), title(pattern[i]),
                 call(function[i]), count(seq[i])});
    });
    out += "\\subsection*{The calls behind it, the longest waits first}\n" + table.text() +
           "Each is shown by " +
           code("refrain dump --rank RANK --from NUMBER --first 1 " + text(data_.json["trace"])) +
           ".\n";
  }

  void put_delays(std::string& out) const {
    const Json& delays = json_["delays"];
    if (delays.empty()) return;
    TexTable table({{"rank", 0}, {"costs", 0}, {"kind", 34}, {"from", 53}, {"to", 53}});
    table.first(detail_.delays, delays.size(), "causes", [&](size_t i) {
      const Json& d = delays[i];
      const auto rank = d["rank"].get<int64_t>();
      table.row({rank < 0 ? "not known" : std::to_string(rank), duration(d["ns"]),
                 title(d["pattern"].get<int64_t>()), place(d["from"]), place(d["to"])});
    });
    put_others(delays, detail_.delays, json_["delays_rest"], table, "causes",
               [](const std::string& name, const Json& ns) {
                 return std::vector<std::string>{"", duration(ns), name, "", ""};
               });
    out += "\\subsection*{What waits go back to}\n" + table.text();
  }

  void put_critical_path(std::string& out) const {
    const Json& parts = json_["critical_path"];
    if (parts.empty()) return;
    const double all = real(json_["critical_ns"]);
    TexTable table({{"rank", 0}, {"time", 0}, {"of the path", 0}, {"from", 62}, {"to", 62}});
    table.first(detail_.path_parts, parts.size(), "parts", [&](size_t i) {
      const Json& p = parts[i];
      table.row({std::to_string(p["rank"].get<int64_t>()), duration(p["ns"]),
                 all > 0 ? share(real(p["ns"]) / all) : "-", place(p["from"]), place(p["to"])});
    });
    put_others(parts, detail_.path_parts, json_["critical_path_rest"], table, "parts",
               [all](const std::string& name, const Json& ns) {
                 return std::vector<std::string>{"", duration(ns),
                                                 all > 0 ? share(real(ns) / all) : "-", name, ""};
               });
    out += "\\subsection*{Critical path: " + duration(json_["critical_ns"]) + "}\n" + table.text();
  }

  // A row for those that are not among the first `most`, and for what the page's data lack.
  template <class Cells>
  static void put_others(const Json& rows, size_t most, const Json& rest, TexTable& table,
                         const std::string& noun, Cells cells) {
    const size_t shown = std::min<size_t>(most, rows.size());
    const auto count = rows.size() - shown + static_cast<size_t>(whole(rest["count"]));
    if (count == 0) return;
    double ns = real(rest["ns"]);
    for (size_t i = shown; i < rows.size(); ++i) ns += real(rows[i]["ns"]);
    table.row(cells("others", Json(ns)));
    table.more(count, noun);
  }

  // What makes the numbers less sure.
  void put_doubts(std::string& out) const {
    const std::set<std::string> sure = {"calls", "messages", "collective_calls", "waits"};
    std::string doubts;
    for (const auto& [name, n] : json_["counts"].items()) {
      if (sure.contains(name) || whole(n) == 0) continue;
      std::string what = name;
      std::replace(what.begin(), what.end(), '_', ' ');
      doubts += (doubts.empty() ? "" : ", ") + words(what) + " " + count(n);
    }
    if (!doubts.empty()) out += "Less sure: " + doubts + ".\n";
  }

  const PageData& data_;
  const Json& json_;
  const Detail& detail_;
};

}  // namespace

void put_waits(const PageData& data, std::string& out, const Detail& detail) {
  if (data.json["waits"].is_null()) {
    out += section("Wait states", "Who waited for whom, and where.");
    out += code(text(data.json["no_waits"]), 400) + ".\n";
    return;
  }
  out += section("Wait states",
                 "Look first at the kind that takes most, then at where it happens. What waits go "
                 "back to is what to change: the rank named there does something for longer than "
                 "the others.");
  Writer(data, detail).write(out);
}

}  // namespace refrain::report::latex
