// How large messages are, and what collectives took.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>

#include "report/latex/cells.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr double kBarsWidth_mm = 150, kBarsHeight_mm = 45;
constexpr size_t kMostSizes = 16;

struct Kind {
  const char* name;
  const char* title;
  const char* colour;
};
constexpr std::array kKinds = {
    Kind{"p2p", "messages", "rfclass1"}, Kind{"collective", "collectives", "rfclass4"},
    Kind{"rma", "one-sided", "rfclass5"}, Kind{"io", "files", "rfclass6"}};

size_t kind_of(const Json& size) {
  size_t k = 0;
  while (k + 1 < kKinds.size() && text(size["kind"]) != kKinds[k].name) ++k;
  return k;
}

// 0 B, 1 B, 2 to 3 B, 4 to 7 B, ...
int bucket(const Json& size) { return static_cast<int>(std::bit_width(whole(size["from_bytes"]))); }
uint64_t begin_of(int bucket) { return bucket == 0 ? 0 : uint64_t{1} << (bucket - 1); }

std::string axes(int first, int last, int decades) {
  const double column = kBarsWidth_mm / (last - first + 1);
  const int every = std::max(1, static_cast<int>(std::ceil(14 / column)));
  std::string out;
  for (int b = first; b <= last; b += every)
    out += fmt::format("\\node[below] at ({:.2f},0) {{{}}};\n", (b - first + 0.5) * column,
                       bytes(begin_of(b)));
  const int step = decades > 8 ? 3 : 1;
  for (int d = 0; d <= decades; d += step) {
    const double y = kBarsHeight_mm * (d + 0.3) / (decades + 0.3);
    out += fmt::format(
        "\\draw[rfsoft!40] (0,{0:.2f})--({1},{0:.2f}) node[left,black] at (0,{0:.2f}) "
        "{{$10^{{{2}}}$}};\n",
        y, kBarsWidth_mm, d);
  }
  return out;
}

std::string chart(const Json& sizes) {
  int first = 64, last = 0;
  double most = 1;
  std::set<size_t> kinds;
  for (const Json& s : sizes) {
    first = std::min(first, bucket(s));
    last = std::max(last, bucket(s));
    most = std::max(most, real(s["transfers"]));
    kinds.insert(kind_of(s));
  }
  const int decades = std::max(1, static_cast<int>(std::ceil(std::log10(most))));
  const double column = std::min(kBarsWidth_mm / (last - first + 1), 40.0);
  const double place = kBarsWidth_mm / (last - first + 1);
  const double bar = 0.8 * column / static_cast<double>(kinds.size());
  std::string out = "\\begin{tikzpicture}\n" + axes(first, last, decades);
  for (const Json& s : sizes) {
    const size_t kind = kind_of(s);
    const auto nth = static_cast<double>(std::distance(kinds.begin(), kinds.find(kind)));
    const double left = (bucket(s) - first + 0.5) * place - 0.4 * column + nth * bar;
    const double transfers = real(s["transfers"]);
    if (transfers < 1) continue;
    out +=
        fmt::format("\\fill[{}] ({:.2f},0) rectangle ({:.2f},{:.2f});\n", kKinds[kind].colour, left,
                    left + bar, kBarsHeight_mm * (std::log10(transfers) + 0.3) / (decades + 0.3));
  }
  out +=
      fmt::format("\\draw[rfsoft] (0,0)--({},0);\n\\end{{tikzpicture}}\\par\\smallskip{{\\small ",
                  kBarsWidth_mm);
  for (const size_t kind : kinds) out += key(kKinds[kind].colour, kKinds[kind].title) + "\\quad ";
  return out + "}";
}

std::string size_table(const Json& sizes) {
  std::vector<Json> rows(sizes.begin(), sizes.end());
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return real(a["transfers"]) > real(b["transfers"]);
  });
  TexTable table({{"kind", 30}, {"size", 0}, {"transfers", 0}, {"bytes", 0}});
  table.first(kMostSizes, rows.size(), "sizes", [&](size_t i) {
    const Json& r = rows[i];
    const int b = bucket(r);
    const std::string to = b > 1 ? " to " + bytes(begin_of(b) * 2 - 1) : "";
    table.row({kKinds[kind_of(r)].title, bytes(begin_of(b)) + to, count(r["transfers"]),
               bytes(r["bytes"])});
  });
  return table.text();
}

std::set<std::string> collectives(const PageData& data) {
  const Json& timeline = data.json["timeline"];
  const auto& call = data.columns.numbers("signature.call");
  const auto& kind = data.columns.numbers("signature.class");
  std::set<std::string> out;
  for (size_t i = 0; i < call.size() && i < kind.size(); ++i)
    if (text(timeline["classes"][static_cast<size_t>(kind[i])]) == "collective")
      out.insert(text(timeline["functions"][static_cast<size_t>(call[i])]));
  return out;
}

}  // namespace

void put_sizes(const PageData& data, std::string& out) {
  const Json& profile = data.json["profile"];
  out +=
      "\\subsection*{Sizes of messages, and collectives}\n"
      "\\emph{Look for very many small messages, which cost the network's latency each, and for "
      "collectives with a large share of the time.}\n\n";
  const Json& sizes = profile["sizes"];
  if (sizes.empty())
    out += "Nothing was transferred.\n";
  else
    out += figure(chart(sizes), "Number of transfers by size, on logarithmic scales.") +
           size_table(sizes);
  const std::set<std::string> names = collectives(data);
  TexTable table({{"collective", 46},
                  {"", 12},
                  {"calls", 0},
                  {"time", 0},
                  {"of MPI", 0},
                  {"mean", 0},
                  {"max", 0},
                  {"bytes", 0}});
  size_t rows = 0;
  for (const Json& r : profile["functions"]) {
    if (!names.contains(text(r["call"])) || ++rows > kMostSizes) continue;
    table.row({code(text(r["call"])), bar(real(r["mpi_share"])), count(r["count"]),
               duration(r["time_ns"]), share(r["mpi_share"]), duration(r["mean_ns"]),
               duration(r["max_ns"]), bytes(r["bytes"])});
  }
  table.more(rows - std::min(rows, kMostSizes), "collectives");
  out += rows == 0 ? "\nThe program calls no collective function.\n" : table.text();
}

}  // namespace refrain::report::latex
