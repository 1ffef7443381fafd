// Each rank by itself: a table of all, and of each what it did in which function and with whom.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "report/latex/pairs.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_table.h"
#include "report/latex/tex_text.h"

namespace refrain::report::latex {
namespace {

constexpr size_t kMostRanks = 200;   // of the table
constexpr size_t kMostSingles = 32;  // with tables of their own
constexpr size_t kMostOfRank = 12, kMostPartnersOfRank = 8;

void put_all(const Json& ranks, std::string& out) {
  TexTable table({{"rank", 0},
                  {"", 12},
                  {"calls", 0},
                  {"in MPI", 0},
                  {"outside", 0},
                  {"of its time", 0},
                  {"bytes", 0},
                  {"bytes a call", 0}});
  table.first(kMostRanks, ranks.size(), "ranks", [&](size_t i) {
    const Json& r = ranks[i];
    const double in_mpi = real(r["in_mpi_ns"]), all = in_mpi + real(r["outside_ns"]);
    const double calls = real(r["calls"]);
    table.row({count(r["rank"]), bar(all > 0 ? in_mpi / all : 0), count(r["calls"]),
               duration(r["in_mpi_ns"]), duration(r["outside_ns"]),
               all > 0 ? share(in_mpi / all) : "-", bytes(r["bytes"]),
               bytes(calls > 0 ? Json(real(r["bytes"]) / calls) : Json(0))});
  });
  out += "\\subsection*{All ranks}\n" + table.text();
}

struct RankLoad {
  size_t function = 0;
  double ns = 0, calls = 0, bytes = 0;
};

// What the rank did, most time first.
std::vector<RankLoad> loads_of(const PageData& data, size_t cells, size_t rank) {
  const size_t functions = data.json["density"]["functions"].size();
  const auto &ns = data.columns.numbers("density.ns"),
             &calls = data.columns.numbers("density.calls"),
             &bytes = data.columns.numbers("density.bytes");
  std::vector<RankLoad> out;
  for (size_t f = 0; f < functions; ++f) {
    const size_t at = f * cells + rank;
    if (at >= ns.size() || at >= calls.size() || at >= bytes.size() || calls[at] <= 0) continue;
    out.push_back({f, static_cast<double>(ns[at]), static_cast<double>(calls[at]),
                   static_cast<double>(bytes[at])});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const RankLoad& a, const RankLoad& b) { return a.ns > b.ns; });
  return out;
}

void put_functions(const PageData& data, size_t cells, size_t rank, std::string& out) {
  const std::vector<RankLoad> loads = loads_of(data, cells, rank);
  double all = 0;
  for (const RankLoad& load : loads) all += load.ns;
  TexTable table({{"function", 50},
                  {"", 12},
                  {"calls", 0},
                  {"time", 0},
                  {"of its MPI", 0},
                  {"mean", 0},
                  {"bytes", 0}});
  table.first(kMostOfRank, loads.size(), "functions", [&](size_t i) {
    const RankLoad& load = loads[i];
    const double part = all > 0 ? load.ns / all : 0;
    table.row({code(text(data.json["density"]["functions"][load.function])), bar(part),
               count(load.calls), duration(load.ns), share(part), duration(load.ns / load.calls),
               bytes(load.bytes)});
  });
  out += table.text();
}

// Whom it sent to and received from, most bytes first.
void put_partners(const PairLoads& pairs, size_t rank, std::string& out) {
  struct Partner {
    PairLoad to, from;
    double bytes() const { return to.bytes + from.bytes; }
  };
  std::map<size_t, Partner> partners;
  for (const auto& [ends, pair] : pairs) {
    if (ends.first == rank) partners[ends.second].to = pair;
    if (ends.second == rank) partners[ends.first].from = pair;
  }
  if (partners.empty()) return;
  std::vector<std::pair<size_t, Partner>> order(partners.begin(), partners.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.bytes() > b.second.bytes();
  });
  TexTable table({{"with rank", 0},
                  {"messages to it", 0},
                  {"bytes to it", 0},
                  {"messages from it", 0},
                  {"bytes from it", 0}});
  table.first(kMostPartnersOfRank, order.size(), "partners", [&](size_t i) {
    const auto& [other, partner] = order[i];
    table.row({count(other), count(partner.to.messages), bytes(partner.to.bytes),
               count(partner.from.messages), bytes(partner.from.bytes)});
  });
  out += table.text();
}

}  // namespace

void put_ranks(const PageData& data, std::string& out) {
  const Json& ranks = data.json["profile"]["ranks"];
  out += section("Each rank",
                 "Look for a rank whose functions are others than its neighbours', or that is in "
                 "MPI for less time than they: they wait for it.");
  put_all(ranks, out);
  const Json& density = data.json["density"];
  const auto cells = static_cast<size_t>(whole(density["cells"]));
  // Cells of several ranks are nobody's.
  const size_t singles =
      whole(density["block"]) > 1 ? 0 : std::min({ranks.size(), cells, kMostSingles});
  const bool has_pairs = whole(data.json["matrix"]["block"]) <= 1;
  const PairLoads pairs = pair_loads(data, "matrix", has_pairs ? ranks.size() : 0, 1, false);
  for (size_t i = 0; i < singles; ++i) {
    const Json& r = ranks[i];
    out += "\\subsection*{Rank " + count(r["rank"]) + "}\n" + counted(r["calls"], "call") + ", " +
           duration(r["in_mpi_ns"]) + " in MPI and " + duration(r["outside_ns"]) +
           " outside of it.\n";
    put_functions(data, cells, static_cast<size_t>(whole(r["rank"])), out);
    put_partners(pairs, static_cast<size_t>(whole(r["rank"])), out);
  }
  if (singles < ranks.size())
    out += "\\par\\emph{and " + count(ranks.size() - singles) + " more ranks}\n";
}

}  // namespace refrain::report::latex
